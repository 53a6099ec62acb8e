/* SPDX-License-Identifier: MIT */
/*
 * test_cmocka.c - tests the part of cmocka that tests/support/cmocka has: each assertion fails when it
 * should, a failure ends its test and is counted, setups and teardowns run.
 *
 * It is no test of cmocka's kind, since what it tests would hide its own failures: main() runs groups of
 * tests, and looks at what they return and at the letters that their functions have written. Built with
 * cmocka itself, it tells whether both behave alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifdef OWN_CMOCKA
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static char written[80];
static int wrong;

static void write_letter(char letter) {
    size_t length = strlen(written);
    if (length + 1 < sizeof(written))
        written[length] = letter;
}

static void expect(const char *what, int failed, int expected_failed, const char *expected) {
    if (failed != expected_failed || strcmp(written, expected) != 0) {
        fprintf(stderr, "WRONG: %s: %d failed and wrote \"%s\", expected %d and \"%s\"\n", what,
                failed, written, expected_failed, expected);
        wrong++;
    }
    memset(written, 0, sizeof(written));
}

/* ---- assertions: a test for each that must fail; it writes '!' if it goes on */

#define MUST_FAIL(name, assertion)           \
    static void fails_##name(void **state) { \
        (void)state;                         \
        write_letter('.');                   \
        assertion;                           \
        write_letter('!');                   \
    }
#define LIST_FAILING(X)                                     \
    X(true, assert_true(written[0] == '#'))                 \
    X(false, assert_false(written[0] != '#'))               \
    X(null, assert_null(written))                           \
    X(non_null, assert_non_null(strchr(written, '#')))      \
    X(int, assert_int_equal(-1, 1))                         \
    X(int_high, assert_int_equal(UINT64_C(1) << 32, 0))     \
    X(int_not, assert_int_not_equal(-1, -1))                \
    X(ptr, assert_ptr_equal(written, written + 1))          \
    X(ptr_not, assert_ptr_not_equal(written, written))      \
    X(below, assert_in_range(4, 5, 7))                      \
    X(above, assert_in_range(8, 5, 7))                      \
    X(string, assert_string_equal("ab", "abc"))             \
    X(string_not, assert_string_not_equal("ab", "ab"))      \
    X(memory, assert_memory_equal("abc", "abd", 3))         \
    X(memory_not, assert_memory_not_equal("abc", "abd", 2)) \
    X(fail, fail())                                         \
    X(fail_msg, fail_msg("%d is the reason", 7))

LIST_FAILING(MUST_FAIL)

static void passes_all(void **state) {
    (void)state;
    assert_true(written[0] != '#');
    assert_false(written[0] == '#');
    assert_null(NULL);
    assert_non_null(written);
    assert_int_equal(-1, -1);
    assert_int_not_equal(UINT64_C(1) << 32, 0);
    assert_ptr_equal(written, written);
    assert_ptr_not_equal(written, written + 1);
    assert_in_range(5, 5, 7);
    assert_in_range(7, 5, 7);
    assert_string_equal("ab", "ab");
    assert_string_not_equal("ab", "abc");
    assert_memory_equal("abc", "abd", 2);
    assert_memory_not_equal("abc", "abd", 3);
    write_letter('p');
}

static void assertions(void) {
#define ENTRY(name, assertion) cmocka_unit_test(fails_##name),
    const struct CMUnitTest failing[] = { LIST_FAILING(ENTRY) };
    const struct CMUnitTest passing[] = { cmocka_unit_test(passes_all) };
    expect("assertions that fail", cmocka_run_group_tests(failing, NULL, NULL), 17,
           ".................");
    expect("assertions that hold", cmocka_run_group_tests(passing, NULL, NULL), 0, "p");
}

/* ---- setups, teardowns and the state that they pass on */

static int value;

static int set_up(void **state) {
    write_letter('s');
    *state = &value;
    return 0;
}

static int tear_down(void **state) {
    write_letter(*state == &value ? 't' : '?');
    return 0;
}

static int refuse(void **state) {
    (void)state;
    write_letter('r');
    return -1;
}

static void use(void **state) {
    write_letter(*state == &value ? 'u' : '?');
}

static void skips(void **state) {
    (void)state;
    write_letter('k');
    skip();
    write_letter('!');
}

static void around(void) {
    const struct CMUnitTest each[] = {
        cmocka_unit_test_setup_teardown(use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fails_fail, set_up, tear_down),
        cmocka_unit_test_setup(use, set_up),
        { "initial state", use, NULL, tear_down, &value },
        cmocka_unit_test_setup_teardown(skips, set_up, tear_down),
        cmocka_unit_test(passes_all),
    };
    expect("a test between a setup and a teardown", cmocka_run_group_tests(each, NULL, NULL), 1,
           "suts.tsuutsktp");
    const struct CMUnitTest refused[] = {
        cmocka_unit_test_setup(use, refuse),
        cmocka_unit_test_teardown(passes_all, refuse),
        cmocka_unit_test(passes_all),
    };
    expect("a setup and a teardown that fail", cmocka_run_group_tests(refused, NULL, NULL), 2,
           "rprp");
    const struct CMUnitTest two[] = { cmocka_unit_test(use), cmocka_unit_test(use) };
    expect("a group between both", cmocka_run_group_tests(two, set_up, tear_down), 0, "suut");
    expect("a group without its setup", cmocka_run_group_tests(two, refuse, NULL), 1, "r");
}

/* ---- an assertion in another thread, which cannot end the test, ends the program */

#ifdef OWN_CMOCKA
static void *fail_in_thread(void *arg) {
    assert_true(arg != NULL);
    return NULL;
}

static void starts_thread(void **state) {
    pthread_t thread;
    (void)state;
    pthread_create(&thread, NULL, fail_in_thread, NULL);
    pthread_join(thread, NULL);
}

static void threads(void) {
    const struct CMUnitTest one[] = { cmocka_unit_test(starts_thread) };
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(cmocka_run_group_tests(one, NULL, NULL));
    waitpid(child, &status, 0);
    expect("an assertion in another thread", WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT,
           "");
}
#endif

int main(void) {
    printf("tests that fail here are meant to; only lines with WRONG count\n");
    assertions();
    around();
#ifdef OWN_CMOCKA
    threads();
#endif
    return wrong == 0 ? 0 : 1;
}
