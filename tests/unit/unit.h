/* SPDX-License-Identifier: MIT */
/*
 * unit.h - tests in C: a list of tests to fill, and what they assert.
 *
 * The main() of unit.c runs them in the order of the file. An assertion that fails ends its test, and the
 * other tests go on; in another thread or in a child process it ends the program.
 *
 * Assertions are named as those of cmocka, of which there is no package for most of the machines and C
 * libraries that ./dev cross and ./dev musl test.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stddef.h>
#include <stdint.h>

/** Whether there is a clock that goes on while the machine is suspended: with the build option
   `portable` there is none. */
#ifdef HTW_PORTABLE
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

void unit_add(struct unit_test test);
void unit_set_up(void (*function)(void));

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each ends the test. */
_Noreturn void unit_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void unit_skip(const char *file, int line);

#define fail() unit_fail(__FILE__, __LINE__, "failed")
#define fail_msg(...) unit_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip() unit_skip(__FILE__, __LINE__)

void unit_compare(uintmax_t a, uintmax_t b, int equal, const char *file, int line);
void unit_compare_range(uintmax_t value, uintmax_t from, uintmax_t to, const char *file, int line);
void unit_compare_strings(const char *a, const char *b, int equal, const char *file, int line);
void unit_compare_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                         int line);

/* Integers are compared as uintmax_t. */
#define assert_true(condition) ((condition) ? (void)0 : fail_msg("%s", #condition))
#define assert_false(condition) ((condition) ? fail_msg("not: %s", #condition) : (void)0)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_ptr_equal(a, b) assert_int_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_ptr_not_equal(a, b) assert_int_not_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_int_equal(a, b) unit_compare((uintmax_t)(a), (uintmax_t)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
    unit_compare((uintmax_t)(a), (uintmax_t)(b), 0, __FILE__, __LINE__)
#define assert_in_range(value, from, to) \
    unit_compare_range((uintmax_t)(value), (uintmax_t)(from), (uintmax_t)(to), __FILE__, __LINE__)
#define assert_string_equal(a, b) unit_compare_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) unit_compare_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) unit_compare_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) unit_compare_memory(a, b, size, 0, __FILE__, __LINE__)

#endif /* TESTS_UNIT_H */
