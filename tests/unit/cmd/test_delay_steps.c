/* SPDX-License-Identifier: MIT */
/* test_delay_steps.c - each step of the loop of `htw delay` does a bounded amount of work. */
#include "../../../programs/delay/state.h"

#include "../unit.h"

#include <htw/wheel_inspect.h>

#include <unistd.h>

#define MESSAGES 100000
#define STEPS_MAX 10000

/* Too large for the stack; one test at a time uses it. */
static struct htw__delay run;
static struct htw__delay *const delay = &run;

static void set_up(void) {
    static char name[] = "-";
    static char *const names[] = { name };
    static const struct htw__options options = {
        .tick_ns = 1, .max_pending = SIZE_MAX, .max_line = 1000, .separator = '\n', .simulate = true
    };
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    memset(&run, 0, sizeof(run));
    wheel_options.strict_fifo = true;
    delay->options = &options;
    htw__timeline_init(&delay->timeline, 1, true);
    htw__report_init(&delay->report);
    htw__output_init(&delay->output, STDOUT_FILENO, false, &delay->timeline, &delay->report);
    assert_int_equal(htw_wheel_create(&run.wheel, &wheel_options), 0);
    assert_int_equal(htw__input_init(&delay->input, names, 1, '\n', options.max_line), 0);
}

static void tear_down(void) {
    struct htw__message *message;
    while ((message = htw__output_pop(&delay->output)) != NULL)
        htw__message_destroy(message);
    while ((message = htw__message_of(htw_wheel_drain(run.wheel))) != NULL)
        htw__message_destroy(message);
    htw__input_fini(&delay->input);
    htw_wheel_destroy(run.wheel);
}

static void schedule(uint64_t tick) {
    struct htw__message *message = htw__message_create("x", 1, '\n');
    assert_non_null(message);
    message->due_ns = (int64_t)tick;
    assert_int_equal(htw_wheel_schedule(run.wheel, &message->in.timer, tick), 0);
}

/* Calls until nothing more is due; each call must do a little, and the order must be right. */
static void assert_collects_in_slices(size_t wanted) {
    int64_t last_ns = 0;
    size_t collected = 0;
    bool has_more;
    size_t calls = 0;
    do {
        struct htw_wheel_stats before = HTW_WHEEL_STATS_INIT;
        struct htw_wheel_stats after = HTW_WHEEL_STATS_INIT;
        htw_wheel_get_stats(run.wheel, &before);
        has_more = htw__delay_collect_due(delay);
        htw_wheel_get_stats(run.wheel, &after);
        assert_true(delay->output.count <= STEPS_MAX);
        assert_true(after.demoted - before.demoted <= STEPS_MAX);
        struct htw__message *message;
        while ((message = htw__output_pop(&delay->output)) != NULL) {
            assert_true(message->due_ns >= last_ns);
            last_ns = message->due_ns;
            htw__message_destroy(message);
            collected++;
        }
        calls++;
    } while (has_more);
    assert_int_equal(collected, wanted);
    assert_true(calls >= wanted / STEPS_MAX);
}

/* holds: delay-8 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_with_all_due_at_once_collects_in_slices) {
    for (int i = 0; i < MESSAGES; i++)
        schedule(5);
    htw__timeline_jump(&delay->timeline, 5);
    assert_collects_in_slices(MESSAGES);
}

/* To find the first of them, all have to be sorted into buckets. */
/* holds: delay-8 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_with_all_in_one_far_bucket_collects_in_slices) {
    for (int i = 0; i < MESSAGES; i++)
        schedule((uint64_t)(70000 + i % 200));
    htw__timeline_jump(&delay->timeline, 70100);
    assert_collects_in_slices(MESSAGES / 200 * 101);
}

/* holds: delay-8 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_with_many_lines_at_once_takes_them_in_slices) {
    int ends[2];
    static char lines[40000];
    for (size_t i = 0; i < sizeof(lines); i += 4)
        memcpy(lines + i, "5 x\n", 4);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], lines, sizeof(lines)), sizeof(lines));
    close(ends[1]);
    delay->input.names_left = 0;
    delay->input.fd = ends[0];
    assert_int_equal(htw__input_read(&delay->input), 0);
    htw__delay_accept_lines(delay);
    assert_in_range(delay->report.read, 1, sizeof(lines) / 4 / 2);
}
