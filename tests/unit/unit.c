/* SPDX-License-Identifier: MIT */
/* unit.c - the main() of test programs that define their tests with UNIT_TEST(). */
#include "unit.h"

#include <stdlib.h>

enum { TESTS_MAX = 64 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;

void unit_add(struct CMUnitTest test) {
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = test;
}

int main(void) {
    return _cmocka_run_group_tests("tests", tests, test_count, NULL, NULL);
}
