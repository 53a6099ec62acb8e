/* SPDX-License-Identifier: MIT */
/* unit.h - cmocka, with the headers that it wants before it, and a list of tests to fill. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** The number of elements of an array. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/**
 * Defines a test and puts it into the list that the main() of unit.c runs, in the order of the file.
 * The body follows, as that of a function of `void **state`.
 */
#define UNIT_TEST(name)                                                  \
    static void name(void **state);                                      \
    __attribute__((constructor)) static void add_##name(void) {          \
        unit_add((struct CMUnitTest) { #name, name, NULL, NULL, NULL }); \
    }                                                                    \
    static void name(void **state)

void unit_add(struct CMUnitTest test);

#endif /* TESTS_UNIT_H */
