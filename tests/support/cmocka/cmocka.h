/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - the part of cmocka's interface that the tests of htw use, for machines and C libraries
 * for which there is no package of cmocka: the build option cmocka=own.
 *
 * As in cmocka, integers are compared as uintmax_t, an assertion that fails ends its test, and the
 * other tests go on. Assertions outside the thread of the test end the program with a message.
 */
#ifndef TESTS_SUPPORT_CMOCKA_H
#define TESTS_SUPPORT_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(function) \
    { #function, function, NULL, NULL, NULL }
#define cmocka_unit_test_setup(function, setup) \
    { #function, function, setup, NULL, NULL }
#define cmocka_unit_test_teardown(function, teardown) \
    { #function, function, NULL, teardown, NULL }
#define cmocka_unit_test_setup_teardown(function, setup, teardown) \
    { #function, function, setup, teardown, NULL }

/* Returns how many tests have failed. */
int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                            int (*setup)(void **state), int (*teardown)(void **state));
#define cmocka_run_group_tests(tests, setup, teardown) \
    _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each ends the test. */
_Noreturn void _fail(const char *file, int line);
_Noreturn void _fail_with(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void _skip(const char *file, int line);

#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...) _fail_with(__FILE__, __LINE__, __VA_ARGS__)
#define skip() _skip(__FILE__, __LINE__)

void _assert_integers(uintmax_t a, uintmax_t b, int equal, const char *file, int line);
void _assert_in_range(uintmax_t value, uintmax_t from, uintmax_t to, const char *file, int line);
void _assert_strings(const char *a, const char *b, int equal, const char *file, int line);
void _assert_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                    int line);

#define assert_true(condition) \
    ((condition) ? (void)0 : _fail_with(__FILE__, __LINE__, "%s", #condition))
#define assert_false(condition) \
    ((condition) ? _fail_with(__FILE__, __LINE__, "not: %s", #condition) : (void)0)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_ptr_equal(a, b) \
    _assert_integers((uintptr_t)(a), (uintptr_t)(b), 1, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) \
    _assert_integers((uintptr_t)(a), (uintptr_t)(b), 0, __FILE__, __LINE__)
#define assert_int_equal(a, b) \
    _assert_integers((uintmax_t)(a), (uintmax_t)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
    _assert_integers((uintmax_t)(a), (uintmax_t)(b), 0, __FILE__, __LINE__)
#define assert_in_range(value, from, to) \
    _assert_in_range((uintmax_t)(value), (uintmax_t)(from), (uintmax_t)(to), __FILE__, __LINE__)
#define assert_string_equal(a, b) _assert_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) _assert_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) _assert_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) _assert_memory(a, b, size, 0, __FILE__, __LINE__)

#endif /* TESTS_SUPPORT_CMOCKA_H */
