/* SPDX-License-Identifier: MIT */
/* unit.c - the main() of test programs: it has cmocka run the tests that they define. */
#include "unit.h"

#include "../support/memcheck.h"

#include <pthread.h>

enum { TESTS_MAX = 64 };

static struct unit_test tests[TESTS_MAX];
static struct CMUnitTest cmocka_tests[TESTS_MAX];
static size_t test_count;
static void (*setup)(void);

void unit_set_up(void (*function)(void)) {
    if (setup != NULL)
        abort();
    setup = function;
}

static int set_up_all(void **state) {
    (void)state;
    setup();
    return 0;
}

/* What cmocka calls a state is the test. */

static void run(void **state) {
    const struct unit_test *test = *state;
    test->run();
}

static int set_up(void **state) {
    const struct unit_test *test = *state;
    test->setup();
    return 0;
}

static int tear_down(void **state) {
    const struct unit_test *test = *state;
    test->teardown();
    return 0;
}

void unit_add(struct unit_test test) {
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count] = test;
    cmocka_tests[test_count] = (struct CMUnitTest) {
        test.name,
        run,
        test.setup == NULL ? NULL : set_up,
        test.teardown == NULL ? NULL : tear_down,
        &tests[test_count],
    };
    test_count++;
}

void unit_fail(const char *file, int line, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    print_error("%s\n", text);
    _fail(file, line);
    abort(); /* it has not returned */
}

/* A child ends with what the test held: memcheck searches it for no leaks. */
static void ask_for_no_leaks(void) {
    VALGRIND_CLO_CHANGE("--leak-check=no");
}

int main(void) {
    pthread_atfork(NULL, NULL, ask_for_no_leaks);
    return _cmocka_run_group_tests("tests", cmocka_tests, test_count,
                                   setup == NULL ? NULL : set_up_all, NULL);
}
