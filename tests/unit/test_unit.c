/* SPDX-License-Identifier: MIT */
/*
 * test_unit.c - tests unit.c, which runs the tests: each assertion fails when it should, a failure ends
 * its test and is counted, setups and teardowns run.
 *
 * It is no test of that kind, since what it tests would hide its own failures: main() has lists of tests
 * run, and compares how many of them fail, and the letters that their functions have written.
 */
int run_all(void);
#define main run_all
#include "unit.c"
#undef main

#include <signal.h>
#include <sys/wait.h>

static char written[80];
static int wrong;

static void write_letter(char letter) {
    size_t length = strlen(written);
    if (length + 1 < sizeof(written))
        written[length] = letter;
}

/* Runs the tests of the list, and empties it. */
static void expect(const char *what, int expected_failed, const char *expected) {
    int failed = run_tests();
    if (failed != expected_failed || strcmp(written, expected) != 0) {
        fprintf(stderr, "WRONG: %s: %d failed and wrote \"%s\", expected %d and \"%s\"\n", what,
                failed, written, expected_failed, expected);
        wrong++;
    }
    memset(written, 0, sizeof(written));
    test_count = 0;
    setup = NULL;
}

static void add(void (*run)(void), void (*before)(void), void (*after)(void)) {
    unit_add((struct unit_test) { "a test", run, before, after });
}

/* ---- assertions: a test for each that must fail; it writes '!' if it goes on */

#define MUST_FAIL(name, assertion)   \
    static void fails_##name(void) { \
        write_letter('.');           \
        assertion;                   \
        write_letter('!');           \
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

static void passes_all(void) {
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
#define ADD(name, assertion) add(fails_##name, NULL, NULL);
    LIST_FAILING(ADD)
    expect("assertions that fail", 17, ".................");
    add(passes_all, NULL, NULL);
    expect("assertions that hold", 0, "p");
}

/* ---- setups and teardowns */

static void set_up(void) {
    write_letter('s');
}

static void tear_down(void) {
    write_letter('t');
}

static void refuse(void) {
    write_letter('r');
    fail();
}

static void use(void) {
    write_letter('u');
}

static void write_first(void) {
    write_letter('1');
}

static void skips(void) {
    write_letter('k');
    skip();
    write_letter('!');
}

static void around(void) {
    add(use, set_up, tear_down);
    add(fails_fail, set_up, tear_down);
    add(use, set_up, NULL);
    add(skips, set_up, tear_down);
    add(passes_all, NULL, NULL);
    expect("a test between a setup and a teardown", 1, "suts.tsusktp");
    add(use, refuse, NULL);
    add(passes_all, NULL, refuse);
    add(passes_all, NULL, NULL);
    expect("a setup and a teardown that fail", 2, "rprp");
    unit_set_up(write_first);
    add(passes_all, NULL, NULL);
    add(passes_all, NULL, NULL);
    expect("tests after the setup of all", 0, "1pp");
    unit_set_up(refuse);
    add(passes_all, NULL, NULL);
    expect("tests without the setup of all", 1, "r");
}

/* ---- an assertion in another thread, which cannot end the test, ends the program */

static void *fail_in_thread(void *arg) {
    assert_true(arg != NULL);
    return NULL;
}

static void starts_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fail_in_thread, NULL);
    pthread_join(thread, NULL);
}

static void threads(void) {
    int status = 0;
    add(starts_thread, NULL, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(run_all());
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
        fprintf(stderr, "WRONG: an assertion in another thread does not end the program\n");
        wrong++;
    }
}

int main(void) {
    printf("tests that fail here are meant to; only lines with WRONG count\n");
    assertions();
    around();
    threads();
    return wrong == 0 ? 0 : 1;
}
