/* SPDX-License-Identifier: MIT */
/* test_delay_input.c - the records of the named files. read() is replaced (-Wl,--wrap). */
#include "../../../programs/kit/input.h"

#include "capture.h"

#define FILES_MAX 4

static struct htw__input input;
static char *names[FILES_MAX];
static int files[FILES_MAX];
static int read_error;   /* of the next read */
static size_t read_most; /* bytes of one read; 0: as many as wanted */

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size) {
    if (read_error != 0) {
        errno = read_error;
        read_error = 0;
        return -1;
    }
    return __real_read(fd, bytes, read_most != 0 && size > read_most ? read_most : size);
}

/* A file of that content, by a name that opens it from its beginning. */
static char *name_of_file(int index, const char *content, size_t size) {
    static char texts[FILES_MAX][32];
    files[index] = memfd_create("input", MFD_CLOEXEC);
    assert_true(files[index] >= 0);
    assert_true(write(files[index], content, size) == (ssize_t)size);
    snprintf(texts[index], sizeof(texts[index]), "/proc/self/fd/%d", files[index]);
    return texts[index];
}

static void start(int count, size_t max_record) {
    assert_int_equal(htw__input_init(&input, names, count, '\n', max_record), 0);
    htw__input_advance(&input);
}

static void start_with(const char *content, size_t max_record) {
    names[0] = name_of_file(0, content, strlen(content));
    start(1, max_record);
}

/* Reads until a record is here or no more can be. */
static bool next(const char **bytes, size_t *size) {
    while (!htw__input_peek(&input, bytes, size)) {
        if (input.fd >= 0)
            assert_int_equal(htw__input_read(&input), 0);
        else
            htw__input_advance(&input);
        if (htw__input_is_over(&input))
            return false;
    }
    return true;
}

static void assert_record(const char *wanted, uint64_t line) {
    const char *bytes;
    size_t size;
    assert_true(next(&bytes, &size));
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(bytes, wanted, size);
    assert_true(htw__input_line(&input) == line);
    htw__input_consume(&input, size);
}

static void assert_over(void) {
    const char *bytes;
    size_t size;
    assert_false(next(&bytes, &size));
    assert_true(htw__input_is_over(&input));
    assert_int_equal(input.begin, input.end);
}

static void set_up(void) {
    for (int i = 0; i < FILES_MAX; i++)
        files[i] = -1;
    read_error = 0;
    read_most = 0;
}

static void tear_down(void) {
    htw__input_fini(&input);
    for (int i = 0; i < FILES_MAX; i++)
        if (files[i] >= 0)
            close(files[i]);
}

UNIT_TEST_BETWEEN(set_up, tear_down, input_of_files_is_read_one_after_the_other) {
    names[0] = name_of_file(0, "a\n\nb", 4);
    names[1] = name_of_file(1, "", 0);
    names[2] = name_of_file(2, "c\n", 2);
    start(3, 100);
    assert_false(htw__input_is_over(&input));
    assert_record("a", 1);
    assert_record("", 2);
    assert_record("b", 3);
    assert_ptr_equal(input.name, names[0]);
    assert_false(htw__input_is_over(&input));
    assert_record("c", 1);
    assert_ptr_equal(input.name, names[2]);
    assert_over();
    assert_false(input.has_failed);
    assert_int_equal(input.fd, -1);
}

UNIT_TEST_BETWEEN(set_up, tear_down, input_that_cannot_be_opened_or_read_is_named_and_passed_over) {
    static char missing[] = "/nowhere/at all";
    static char directory[] = "/";
    names[0] = missing;
    names[1] = directory;
    names[2] = name_of_file(2, "a\n", 2);
    capture_begin();
    start(3, 100);
    const char *bytes;
    size_t size;
    bool has_next = next(&bytes, &size);
    assert_string_equal(capture_end(), "htw delay: /nowhere/at all: No such file or directory\n"
                                       "htw delay: /: Is a directory\n");
    assert_true(has_next);
    assert_true(input.has_failed);
    assert_record("a", 1);
    assert_over();
}

UNIT_TEST_BETWEEN(set_up, tear_down, input_that_fails_inside_a_record_skips_it) {
    read_most = 3;
    start_with("a\nb\n", 100);
    assert_record("a", 1);
    assert_true(input.begin < input.end);
    read_error = EIO;
    capture_begin();
    int error = htw__input_read(&input);
    char wanted[256];
    snprintf(wanted, sizeof(wanted),
             "htw delay: %s: Input/output error\n"
             "htw delay: %s:2: incomplete because of that, and skipped\n",
             names[0], names[0]);
    assert_string_equal(capture_end(), wanted);
    assert_int_equal(error, 0);
    assert_true(input.has_failed);
    assert_over();
}

UNIT_TEST_BETWEEN(set_up, tear_down, input_record_is_too_long_from_one_byte_more) {
    const char *bytes;
    size_t size;
    static const size_t pieces[] = { 0, 1, 2, 5 };
    for (size_t i = 0; i < 4; i++) {
        read_most = pieces[i];
        start_with("1234\n12345\nok\n123456789", 4);
        assert_record("1234", 1);
        assert_true(next(&bytes, &size));
        assert_true(htw__input_is_too_long(&input, size));
        assert_false(htw__input_is_too_long(&input, 4));
        assert_memory_equal(bytes, "12345", 5);
        htw__input_consume(&input, size);
        assert_record("ok", 3);
        assert_true(next(&bytes, &size));
        assert_true(htw__input_is_too_long(&input, size));
        htw__input_consume(&input, size);
        assert_over();
        assert_true(htw__input_line(&input) == 5);
        htw__input_fini(&input);
        close(files[0]);
    }
    files[0] = -1;
    start_with("", 4);
}

UNIT_TEST_BETWEEN(set_up, tear_down, input_record_without_its_end_is_a_fragment) {
    const char *bytes;
    size_t size;
    read_most = 3;
    start_with("a\nbc\n", 100);
    assert_record("a", 1);
    assert_false(htw__input_peek(&input, &bytes, &size));
    assert_false(htw__input_is_whole(&input, size));
    assert_true(input.begin < input.end);
    read_most = 0;
    htw__input_read(&input);
    assert_true(htw__input_peek(&input, &bytes, &size));
    assert_int_equal(size, 2);
    assert_true(htw__input_is_whole(&input, size));
    htw__input_consume(&input, size);
    assert_int_equal(input.begin, input.end);
    assert_over();
}
