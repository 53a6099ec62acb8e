/* SPDX-License-Identifier: MIT */
/* unit.c - runs the tests of a program, one after the other, and says which of them fail. */
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TESTS_MAX = 64 };
enum outcome { PASSED, FAILED, SKIPPED };

static struct unit_test tests[TESTS_MAX];
static size_t test_count;
static void (*setup)(void);

/* Where the function of a test that is running goes back to. */
static jmp_buf end_of_test;
static pthread_t test_thread;
static pid_t test_process;
static bool test_is_running;

void unit_add(struct unit_test test) {
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = test;
}

void unit_set_up(void (*function)(void)) {
    if (setup != NULL)
        abort();
    setup = function;
}

static _Noreturn void end_test(enum outcome outcome) {
    if (!test_is_running || test_process != getpid() ||
        !pthread_equal(test_thread, pthread_self())) {
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

void unit_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s:%d: error: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    end_test(FAILED);
}

void unit_skip(const char *file, int line) {
    print_message("%s:%d: skipped\n", file, line);
    end_test(SKIPPED);
}

void unit_compare(uintmax_t a, uintmax_t b, int equal, const char *file, int line) {
    if ((a == b) != (equal != 0))
        unit_fail(file, line, "%#" PRIxMAX " %s %#" PRIxMAX, a, equal ? "!=" : "==", b);
}

void unit_compare_range(uintmax_t value, uintmax_t from, uintmax_t to, const char *file, int line) {
    if (value < from || value > to)
        unit_fail(file, line, "%" PRIuMAX " is not within %" PRIuMAX " and %" PRIuMAX, value, from,
                  to);
}

void unit_compare_strings(const char *a, const char *b, int equal, const char *file, int line) {
    if ((strcmp(a, b) == 0) != (equal != 0))
        unit_fail(file, line, "\"%s\" %s \"%s\"", a, equal ? "!=" : "==", b);
}

void unit_compare_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                         int line) {
    const unsigned char *x = a, *y = b;
    size_t same = 0;
    while (same < size && x[same] == y[same])
        same++;
    if ((same == size) == (equal != 0))
        return;
    if (equal)
        unit_fail(file, line, "byte %zu: %#x != %#x", same, x[same], y[same]);
    unit_fail(file, line, "%zu equal bytes", size);
}

/* NULL: nothing to run. */
static enum outcome run_function(void (*function)(void)) {
    test_thread = pthread_self();
    test_process = getpid();
    test_is_running = true;
    int outcome = setjmp(end_of_test);
    if (outcome == PASSED && function != NULL)
        function();
    test_is_running = false;
    return (enum outcome)outcome;
}

static enum outcome run_test(const struct unit_test *test) {
    enum outcome outcome = run_function(test->setup);
    if (outcome != PASSED)
        return outcome;
    outcome = run_function(test->run);
    enum outcome end = run_function(test->teardown);
    return outcome == FAILED || end == PASSED ? outcome : FAILED;
}

/* Returns how many tests have failed. */
static int run_tests(void) {
    static const char *const words[] = { "      OK  ", "  FAILED  ", " SKIPPED  " };
    int failed = 0;
    print_message("[==========] Running %zu test(s).\n", test_count);
    if (run_function(setup) != PASSED) {
        print_message("[  FAILED  ] setup\n");
        return 1;
    }
    for (size_t i = 0; i < test_count; i++) {
        print_message("[ RUN      ] %s\n", tests[i].name);
        enum outcome outcome = run_test(&tests[i]);
        print_message("[%s] %s\n", words[outcome], tests[i].name);
        failed += outcome == FAILED;
    }
    print_message("[==========] %zu test(s) run, %d failed.\n", test_count, failed);
    return failed;
}

int main(void) {
    return run_tests() == 0 ? 0 : 1;
}
