/* SPDX-License-Identifier: MIT */
/* test_safe_copy.c - copies of memory that may be there no more. */
#include "../../../src/observe/safe_copy.h"

#include "../unit.h"

#include <sys/mman.h>
#include <unistd.h>

/* Two pages, of which the second cannot be read. Returns its begin. */
static char *border(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    return memory + page;
}

static void unmap(char *border) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(border - page, 2 * page);
}

UNIT_TEST(safe_copy_of_what_is_there_and_what_is_not) {
    struct htw__safe_copy copy;
    char *end = border();
    char to[HTW__SYSTEM_COPY_MAX] = "";
    assert_true(htw__safe_copy_init(&copy));
    memset(end - 8, 'x', 8);
    assert_true(htw__system_copy(&copy.reader, to, end - 8, 8));
    assert_memory_equal(to, "xxxxxxxx", 8);
    assert_false(htw__system_copy(&copy.reader, to, end - 8, 9)); /* some of it can be read */
    assert_false(htw__system_copy(&copy.reader, to, end, 1));
    memset(end - 8, 'y', 8);
    assert_true(
        htw__system_copy(&copy.reader, to, end - 8, 8)); /* nothing is left of what failed */
    assert_memory_equal(to, "yyyyyyyy", 8);
    htw__safe_copy_fini(&copy);
    unmap(end);
}

UNIT_TEST(safe_copy_of_texts_of_any_place_and_length) {
    struct htw__safe_copy copy;
    char *end = border();
    assert_true(htw__safe_copy_init(&copy));
    for (size_t length = 0; length < 200; length++) {
        char to[100];
        char *from = end - length - 1; /* its last byte is the last of the page */
        memset(from, 'a', length);
        from[length] = 0;
        assert_true(htw__safe_copy_text(&copy, to, sizeof(to), from));
        assert_int_equal(strlen(to), length < sizeof(to) ? length : sizeof(to) - 1);
        from[length] = 'b'; /* it has no end on its page */
        assert_int_equal(htw__safe_copy_text(&copy, to, sizeof(to), from),
                         length + 1 >= sizeof(to) - 1);
    }
    char to[8];
    assert_false(htw__safe_copy_text(&copy, to, sizeof(to), NULL));
    htw__safe_copy_fini(&copy);
    unmap(end);
}

#ifndef _WIN32 /* where it takes none */
UNIT_TEST(safe_copy_without_descriptors_fails) {
    struct htw__safe_copy copy = { .reader = { { -1, -1 } } };
    char from = 'x', to;
    assert_false(htw__system_copy(&copy.reader, &to, &from, 1));
    htw__safe_copy_fini(&copy);
}
#endif
