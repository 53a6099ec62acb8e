/* SPDX-License-Identifier: MIT */
/*
 * unit.h - cmocka, with the headers that it wants before it, those that most tests use, and a list of tests to fill.
 *
 * The main() of unit.c runs them in the order of the file. An assertion may fail only in the thread and
 * the process that run the test.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Whether there is a clock that goes on while the machine is suspended: with the build option
   `portable` there is none. */
#if defined(HTW_PORTABLE) && !defined(_WIN32)
#define HAS_BOOTTIME 0
#else
#define HAS_BOOTTIME 1
#endif

/** The number of elements of an array. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** A test, and what runs before and after it, or NULL: it fails if one of them does. */
struct unit_test {
    const char *name;
    void (*run)(void), (*setup)(void), (*teardown)(void);
};

/** Adds a test to the list that the main() of unit.c runs, in the order of the file. */
#define UNIT_ADD(name, run, setup, teardown)                          \
    __attribute__((constructor)) static void add_##name(void) {       \
        unit_add((struct unit_test) { #name, run, setup, teardown }); \
    }

/** Defines a test and adds it. The body follows. */
#define UNIT_TEST(name) UNIT_TEST_BETWEEN(NULL, NULL, name)

/** The same, between two functions, each of which may be NULL. */
#define UNIT_TEST_BETWEEN(setup, teardown, name) \
    static void name(void);                      \
    UNIT_ADD(name, name, setup, teardown)        \
    static void name(void)

/** The same of a test with a parameter, which is `object`. */
#define UNIT_TEST_ON(parameter, object, setup, teardown, name) \
    static void name(parameter);                               \
    static void run_##name(void) {                             \
        name(object);                                          \
    }                                                          \
    UNIT_ADD(name, run_##name, setup, teardown)                \
    static void name(__attribute__((unused)) parameter)

/** Defines what is called once, before all tests. The body follows; if it fails, no test runs. */
#define UNIT_SETUP(name)                                        \
    static void name(void);                                     \
    __attribute__((constructor)) static void set_##name(void) { \
        unit_set_up(name);                                      \
    }                                                           \
    static void name(void)

/** Both are the same text, or NULL. */
#define assert_why(why, wanted) \
    assert_string_equal((why) == NULL ? "(none)" : (why), (wanted) == NULL ? "(none)" : (wanted))

void unit_add(struct unit_test test);
void unit_set_up(void (*function)(void));

/** Ends the test, as fail_msg() does for a caller's file and line. */
_Noreturn void unit_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* TESTS_UNIT_H */
