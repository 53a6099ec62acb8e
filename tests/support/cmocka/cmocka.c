/* SPDX-License-Identifier: MIT */
/* cmocka.c - runs the tests of a program, one after the other, and says which of them fail. */
#include "cmocka.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum outcome { PASSED, FAILED, SKIPPED };

/* Where the function of a test that is running goes back to. */
static jmp_buf end_of_test;
static pthread_t test_thread;
static bool test_is_running;

static _Noreturn void end_test(enum outcome outcome) {
    if (!test_is_running || !pthread_equal(test_thread, pthread_self())) {
        fprintf(stderr, "an assertion outside the thread of the test\n");
        abort();
    }
    longjmp(end_of_test, (int)outcome);
}

void print_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

void print_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void _fail_with(const char *file, int line, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s:%d: error: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    end_test(FAILED);
}

void _fail(const char *file, int line) {
    _fail_with(file, line, "failed");
}

void _skip(const char *file, int line) {
    print_message("%s:%d: skipped\n", file, line);
    end_test(SKIPPED);
}

void _assert_integers(uintmax_t a, uintmax_t b, int equal, const char *file, int line) {
    if ((a == b) != (equal != 0))
        _fail_with(file, line, "%#" PRIxMAX " %s %#" PRIxMAX, a, equal ? "!=" : "==", b);
}

void _assert_in_range(uintmax_t value, uintmax_t from, uintmax_t to, const char *file, int line) {
    if (value < from || value > to)
        _fail_with(file, line, "%" PRIuMAX " is not within %" PRIuMAX " and %" PRIuMAX, value, from,
                   to);
}

void _assert_strings(const char *a, const char *b, int equal, const char *file, int line) {
    if ((strcmp(a, b) == 0) != (equal != 0))
        _fail_with(file, line, "\"%s\" %s \"%s\"", a, equal ? "!=" : "==", b);
}

void _assert_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                    int line) {
    const unsigned char *x = a, *y = b;
    size_t same = 0;
    while (same < size && x[same] == y[same])
        same++;
    if ((same == size) == (equal != 0))
        return;
    if (equal)
        _fail_with(file, line, "byte %zu: %#x != %#x", same, x[same], y[same]);
    _fail_with(file, line, "%zu equal bytes", size);
}

/* The functions of a test, in order; those of the caller's frame that longjmp() would lose are
   volatile. */
static enum outcome run_function(void (*test)(void **), int (*other)(void **), void **state) {
    test_thread = pthread_self();
    test_is_running = true;
    enum outcome outcome = PASSED;
    int jump = setjmp(end_of_test);
    if (jump != 0)
        outcome = (enum outcome)jump;
    else if (test != NULL)
        test(state);
    else if (other != NULL && other(state) != 0)
        outcome = FAILED;
    test_is_running = false;
    return outcome;
}

static enum outcome run_test(const struct CMUnitTest *test, void *group_state) {
    void *state = test->initial_state != NULL ? test->initial_state : group_state;
    enum outcome outcome = run_function(NULL, test->setup_func, &state);
    if (outcome != PASSED)
        return outcome;
    outcome = run_function(test->test_func, NULL, &state);
    enum outcome end = run_function(NULL, test->teardown_func, &state);
    return outcome == FAILED || end == PASSED ? outcome : FAILED;
}

int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                            int (*setup)(void **state), int (*teardown)(void **state)) {
    int failed = 0;
    void *state = NULL;
    print_message("[==========] %s: Running %zu test(s).\n", name, count);
    if (run_function(NULL, setup, &state) != PASSED) {
        print_message("[  FAILED  ] group setup\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        static const char *const words[] = { "      OK  ", " FAILED   ", " SKIPPED  " };
        print_message("[ RUN      ] %s\n", tests[i].name);
        enum outcome outcome = run_test(&tests[i], state);
        print_message("[%s] %s\n", words[outcome], tests[i].name);
        failed += outcome == FAILED;
    }
    if (run_function(NULL, teardown, &state) != PASSED) {
        print_message("[  FAILED  ] group teardown\n");
        failed++;
    }
    print_message("[==========] %s: %zu test(s) run, %d failed.\n", name, count, failed);
    return failed;
}
