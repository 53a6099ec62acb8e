/* SPDX-License-Identifier: MIT */
/* test_log.c - the function of htw_set_log(): its calls from several threads, and the message with which the process ends. */
#include "../../../src/base/lock.h"
#include "../../../src/base/log.h"
#include "../../support/abort_cases.h"
#include "../../support/told.h"

/* ---- setting it */

UNIT_TEST(log_function_that_is_set_returns_the_one_before) {
    assert_null(htw_set_log(keep_told));
    assert_ptr_equal(htw_set_log(NULL), keep_told);
    assert_null(htw_set_log(NULL));
}

/* ---- in several threads, while it is set and removed */

enum { THREADS = 4, CALLS = 20000 };

static _Atomic unsigned right, wrong;

static void compare(enum htw_log_level level, const char *subsystem, const char *message) {
    bool is_right = level == HTW_LOG_WARNING && strcmp(subsystem, "part") == 0 &&
                    strcmp(message, "message 12") == 0;
    right += is_right;
    wrong += !is_right;
}

static void *report_often(void *arg) {
    for (int i = 0; i < CALLS; i++)
        htw__report(HTW_LOG_WARNING, "part", "message %d", 12);
    return arg;
}

UNIT_TEST(log_function_is_set_and_removed_while_threads_call_it) {
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_often, NULL), 0);
    for (int i = 0; i < CALLS; i++)
        htw_set_log(i % 2 == 0 ? compare : NULL);
    htw_set_log(compare);
    report_often(NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    htw_set_log(NULL);
    assert_int_equal(wrong, 0);
    assert_in_range(right, CALLS, (THREADS + 1) * CALLS);
}

/* ---- the end of the process */

static void print(enum htw_log_level level, const char *subsystem, const char *message) {
    dprintf(2, "told %d by %s: %s.", (int)level, subsystem, message);
}

static void fail_again(enum htw_log_level level, const char *subsystem, const char *message) {
    print(level, subsystem, message);
    htw__fatal("in the %s", "function");
}

static void set(void *function) {
    htw_set_log(*(htw_log_function **)function);
}

ABORT_STEP(fail_use) {
    htw__fatal("%s is wrong", "it");
}

ABORT_STEP(report) {
    htw__report(HTW_LOG_ERROR, "part", "%s", "news");
}

static htw_log_function *functions[] = { print, fail_again };

static const struct abort_step steps[] = { { "print", set, &functions[0] },
                                           { "fail again", set, &functions[1] },
                                           { "fail", fail_use, NULL },
                                           { "report", report, NULL },
                                           { NULL, NULL, NULL } };

UNIT_TEST(log_function_receives_the_message_with_which_the_process_ends) {
    static const struct abort_case cases[] = {
        { "fail", "htw: it is wrong\n" },
        { "print, report", NULL },
        { "print, fail", "told 3 by htw: it is wrong." },
        { "fail again, fail", "told 3 by htw: it is wrong.htw: in the function\n" },
    };
    assert_abort_cases(cases, COUNT_OF(cases), steps);
}
