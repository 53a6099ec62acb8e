/* SPDX-License-Identifier: MIT */
/* unit.h - cmocka, with the headers that it wants before it, and a list of tests to fill. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Whether there is a clock that goes on while the machine is suspended: with the build option
   `portable` there is none. */
#ifdef HTW_PORTABLE
#define HAS_BOOTTIME 0
#else
#define HAS_BOOTTIME 1
#endif

/** The number of elements of an array. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** Adds a test to the list that the main() of unit.c runs, in the order of the file. */
#define UNIT_ADD(name, run, setup, teardown)                                 \
    __attribute__((constructor)) static void add_##name(void) {              \
        unit_add((struct CMUnitTest) { #name, run, setup, teardown, NULL }); \
    }

/** Defines a test and adds it. The body follows, as that of a function of `void **state`. */
#define UNIT_TEST(name) UNIT_TEST_BETWEEN(NULL, NULL, name)

/** The same, between two functions of cmocka's kind. */
#define UNIT_TEST_BETWEEN(setup, teardown, name) \
    static void name(void **state);              \
    UNIT_ADD(name, name, setup, teardown)        \
    static void name(__attribute__((unused)) void **state)

/** Defines what is called once, before all tests. The body follows, as that of a function of
   `void **state`; if it returns anything but 0, no test runs, and the program fails. */
#define UNIT_SETUP(name)                                        \
    static int name(void **state);                              \
    __attribute__((constructor)) static void set_##name(void) { \
        unit_set_up(name);                                      \
    }                                                           \
    static int name(__attribute__((unused)) void **state)

void unit_add(struct CMUnitTest test);
void unit_set_up(int (*function)(void **state));

#endif /* TESTS_UNIT_H */
