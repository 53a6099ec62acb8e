/* SPDX-License-Identifier: MIT */
/* test_symbol.c - the names of code. */
#include "../../../src/observe/symbol.h"
#include "../../../src/port/system.h"
#include "../unit.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <sys/mman.h>

#if !defined(HTW_PORTABLE) && defined(__GLIBC__)

static struct htw__safe_copy copy;

static void set_up(void) {
    assert_true(htw__safe_copy_init(&copy));
}

static void tear_down(void) {
    htw__safe_copy_fini(&copy);
}

#define SYMBOL_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

/* The number of an address in this program. */
static uintptr_t number_of(uintptr_t address) {
    char text[HTW__SYMBOL_MAX];
    uintptr_t number = 0;
    const char *plus = strrchr(htw__symbol_text(&copy, address, text), '+');
    assert_non_null(strstr(text, program_invocation_short_name));
    assert_non_null(plus);
    assert_int_equal(sscanf(plus, "+0x%" SCNxPTR, &number), 1);
    return number;
}

SYMBOL_TEST(symbol_of_the_program_is_its_file_and_a_number) {
    uintptr_t a = (uintptr_t)set_up, b = (uintptr_t)tear_down;
    assert_int_equal(number_of(a) - number_of(b), a - b);
    assert_int_equal(number_of(a + 1) - number_of(a), 1);
}

SYMBOL_TEST(symbol_of_no_file_is_the_address) {
    char text[HTW__SYMBOL_MAX], expected[HTW__SYMBOL_MAX];
    void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    snprintf(expected, sizeof(expected), "0x%" PRIxPTR, (uintptr_t)page);
    assert_string_equal(htw__symbol_text(&copy, (uintptr_t)page, text), expected);
    munmap(page, 1);
    assert_string_equal(htw__symbol_text(&copy, 0, text), "0x0");
}

SYMBOL_TEST(symbol_of_a_library_has_its_name) {
    char text[HTW__SYMBOL_MAX];
    uintptr_t address = (uintptr_t)dlsym(RTLD_DEFAULT, "hcreate");
    assert_non_null(htw__symbol_text(&copy, address, text));
    assert_int_equal(strncmp(text, "hcreate (libc.so.6+0x", 21), 0);
    assert_non_null(htw__symbol_text(&copy, address + 1, text));
    assert_int_equal(strncmp(text, "hcreate+0x1 (libc.so.6+0x", 25), 0);
}

static const void *caller;
static const void *frames[5];

static __attribute__((noinline)) uint32_t capture(uint32_t max, uint32_t skip) {
    caller = __builtin_extract_return_addr(__builtin_return_address(0));
    uint32_t depth = htw__system_capture_stack(frames, max, skip);
    return depth + (caller == NULL); /* no call at the end: the frame stays */
}

SYMBOL_TEST(stack_has_the_callers_and_is_no_deeper_than_asked) {
    unsigned found = 0;
    frames[4] = &copy;
    assert_int_equal(capture(4, 0), 4);
    assert_ptr_equal(frames[4], &copy);
    for (unsigned i = 0; i < 4; i++)
        found += frames[i] == caller;
    assert_int_equal(found, 1);
    assert_int_equal(capture(1, 50), 0);
}

#else

UNIT_TEST(stack_is_empty_here) {
    const void *frame;
    assert_int_equal(htw__system_capture_stack(&frame, 1, 0), 0);
}

#endif
