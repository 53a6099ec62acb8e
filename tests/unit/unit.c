/* SPDX-License-Identifier: MIT */
/* unit.c - the main() of test programs that define their tests with UNIT_TEST(). */
#include "unit.h"

#include <stdlib.h>

enum { TESTS_MAX = 64 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;
static int (*setup)(void **state);

void unit_add(struct CMUnitTest test) {
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = test;
}

void unit_set_up(int (*function)(void **state)) {
    if (setup != NULL)
        abort();
    setup = function;
}

int main(void) {
    return _cmocka_run_group_tests("tests", tests, test_count, setup, NULL);
}
