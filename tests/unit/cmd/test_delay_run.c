/* SPDX-License-Identifier: MIT */
/*
 * test_delay_run.c - the loop of `htw delay`: how long it sleeps, what wakes it, and what it
 * reports.
 */
#include "delay_runs.h"

/* The first sleep is for the input: it is readable, and then it has ended. */
/* holds: delay-1 */
UNIT_TEST(delay_run_sleeps_until_each_deadline) {
    struct run run = run_with("30ms c\n10ms a\n20ms b\n10ms d\n");
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\nd\nb\nc\n", NULL);
    SLEEPS(result, -1, 10 * MS, 10 * MS, 10 * MS, 10 * MS);
    assert_non_null(strstr(result->err,
                           "read 4, bad 0, released 4, unreleased 0\n"
                           "early 0, lateness min 0 ns, p50 0 ns, p99 0 ns, max 0 ns\n"));
    assert_non_null(strstr(result->err, "\nwake-ups 3 (empty 0), "));
    assert_non_null(strstr(result->err, "\npeak pending 4\n"));
}

UNIT_TEST(delay_run_of_no_input_does_not_sleep_again) {
    struct run run = run_with("");
    const struct result *result = assert_run(&run, 0, "", "");
    SLEEPS(result, -1);
}

/* A wake-up is a sleep that a deadline has ended: not one that the input, a signal or an error
 * ended. */
UNIT_TEST(delay_run_counts_as_wake_ups_what_a_deadline_ended) {
    static const struct event events[] = {
        { .kind = PASSES },                 /* the input is there at once */
        { READS, 0, "5ms b\n", 2 * MS },    /* in the sleep for a */
        { .kind = FAILS, .number = EINTR }, /* in that for b, as all up to the next comment */
        { .kind = SIGNAL, .number = SIGUSR1 },
        { .kind = PASSES, .more_ns = 1 },
        { .kind = INPUT_ENDS }, /* in the second one for a */
        { .kind = ENDS },
    };
    struct run run = run_with("10ms a\n");
    run.is_open = true;
    run.events = events;
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "b\na\n", NULL);
    SLEEPS(result, -1, 10 * MS, 5 * MS, 5 * MS, 5 * MS, 3 * MS - 1, 3 * MS - 1);
    assert_non_null(
        strstr(result->err, "early 0, lateness min 0 ns, p50 0 ns, p99 1 ns, max 1 ns\n"));
    assert_non_null(strstr(result->err, "\nwake-ups 2 (empty 0), "));
}

/* The clock moves on between the steps of the loop: the deadline has passed when the sleep would
 * begin, which then is none. */
UNIT_TEST(delay_run_that_is_late_looks_for_events_without_a_wake_up) {
    char wanted[64];
    int looks = 0;
    for (int64_t read_ns = MS / 2; read_ns <= 10 * MS; read_ns += MS / 2) {
        struct run run = run_with("10ms a\n25ms b\n70ms c\n");
        run.read_ns = read_ns;
        run.options.stats = true;
        const struct result *result = assert_run(&run, 0, "a\nb\nc\n", NULL);
        snprintf(wanted, sizeof(wanted), "\nwake-ups %d (empty 0), ", result->wakes);
        assert_non_null(strstr(result->err, wanted));
        looks += result->looks;
    }
    assert_true(looks > 0);
}

UNIT_TEST(delay_run_that_wakes_early_counts_an_empty_wake_up) {
    struct run run = run_with("10ms a\n");
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { .kind = PASSES, .more_ns = -1 });
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\n", NULL);
    SLEEPS(result, -1, 10 * MS, 10 * MS, 1);
    assert_non_null(strstr(result->err, "\nwake-ups 2 (empty 1), "));
}

UNIT_TEST(delay_run_simulated_never_sleeps) {
    struct run run = run_with("30d c\n10ms a\n");
    run.options.simulate = true;
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\nc\n", NULL);
    assert_non_null(strstr(result->err, "\nwake-ups 0 (empty 0), "));
    for (int i = 0; i < result->sleeps; i++)
        assert_true(result->sleep_ns[i] <= 0);
}

/* Nothing can be waited for longer at once; beyond the last tick, for ever. */
UNIT_TEST(delay_run_of_centuries_sleeps_in_pieces) {
    static const struct event events[] = { { .kind = PASSES },
                                           { .kind = SIGNAL, .number = SIGTERM },
                                           { .kind = ENDS } };
    static const struct {
        const char *input;
        int64_t sleep_s;
    } cases[] = { { "1000000000s a\n", 1000000000 },
                  { "1000000001s a\n", 1000000000 },
                  { "999999999s a\n", 999999999 } };
    for (size_t i = 0; i < 3; i++) {
        struct run run = run_with(cases[i].input);
        run.is_open = true;
        run.events = events;
        const struct result *result = assert_run(&run, HTW__EXIT_SIGNAL + SIGTERM, "", NULL);
        SLEEPS(result, -1, cases[i].sleep_s * HTW_SECOND);
        assert_string_equal(result->err,
                            "htw delay: stopped by a signal after -:1: 1 not released\n");
    }
}

UNIT_TEST(delay_run_asked_for_a_dump_draws_the_wheel_once) {
    struct run run = run_with("50ms a\n");
    run.events = EVENTS({ .kind = PASSES }, { .kind = SIGNAL, .number = SIGUSR1 });
    const struct result *result = assert_run(&run, 0, "a\n", NULL);
    const char *picture = strstr(result->err, "wheel");
    assert_non_null(picture);
    assert_non_null(strstr(picture, "1 timer"));
}

UNIT_TEST(delay_run_with_bad_lines_reports_them_and_fails) {
    struct run run = run_with("x\n1ms a\n\n\x01\x7f~ b\n");
    const struct result *result = assert_run(&run, HTW__EXIT_FAILED, "a\n",
                                             "htw delay: -:1: number expected: x\n"
                                             "htw delay: -:3: empty line\n"
                                             "htw delay: -:4: number expected: \\x01\\x7f~\n");
    run.options.strict = true;
    result = result_of(&run);
    assert_int_equal(result->status, HTW__EXIT_FAILED);
    assert_string_equal(result->out, "");
    assert_non_null(strstr(result->err, "htw delay: -:1: number expected: x\n"));
}

UNIT_TEST(delay_run_with_a_limit_reads_no_further) {
    struct run run = run_with("10ms a\n10ms b\n10ms c\n");
    run.options.max_pending = 2;
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\nb\nc\n", NULL);
    assert_non_null(strstr(result->err, "\npeak pending 2\n"));
}

UNIT_TEST(delay_run_from_start_counts_from_there) {
    struct run run = run_with("10ms a\n50ms c\n");
    run.is_open = true;
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { READS, 0, "15ms b\n", 1 * MS },
                        { .kind = INPUT_ENDS });
    run.options.from_start = true;
    const struct result *result = assert_run(&run, 0, "a\nb\nc\n", NULL);
    SLEEPS(result, -1, 10 * MS, 40 * MS, 4 * MS, 4 * MS, 35 * MS);
}
