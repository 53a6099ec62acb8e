/* SPDX-License-Identifier: MIT */
#include "scheduler_case.h"

#include "../unit/unit.h"

#include <ctype.h>
#include <string.h>

static void note(struct scheduler_case *test, char event) {
    if (test->log_length < sizeof(test->log) - 1) {
        test->log[test->log_length++] = event;
        test->log[test->log_length] = '\0';
    }
}

struct htw_scheduler_options scheduler_case_options(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = CASE_START_NS;
    options.shards = 1;
    options.workers = 0;
    return options;
}

void scheduler_case_begin(struct scheduler_case *test,
                          const struct htw_scheduler_options *options) {
    struct htw_scheduler_options own = *options;
    *test = (struct scheduler_case) { .scheduler = NULL };
    failing_allocator_init(&test->memory);
    if (own.allocator == NULL)
        own.allocator = &test->memory.allocator;
    assert_int_equal(htw_scheduler_create(&test->scheduler, &own), 0);
}

void scheduler_case_end(struct scheduler_case *test) {
    assert_adds_up(test->scheduler);
    htw_group_destroy(test->group);
    assert_int_equal(htw_scheduler_destroy(test->scheduler), 0);
    assert_null(test->memory.error);
    assert_int_equal(test->memory.live_blocks, 0);
    failing_allocator_fini(&test->memory);
}

int scheduler_case_setup(void **state) {
    static struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&test, &options);
    *state = &test;
    return 0;
}

int scheduler_case_teardown(void **state) {
    scheduler_case_end(*state);
    return 0;
}

void scheduler_case_advance(struct scheduler_case *test, int64_t delta_ns) {
    assert_int_equal(htw_scheduler_advance(test->scheduler, delta_ns), 0);
}

const char *scheduler_case_log(struct scheduler_case *test) {
    static char copy[sizeof(test->log)];
    memcpy(copy, test->log, sizeof(copy));
    test->log[0] = '\0';
    test->log_length = 0;
    return copy;
}

struct htw_scheduler_stats scheduler_case_stats(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(scheduler, &stats), 0);
    return stats;
}

void assert_adds_up(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = scheduler_case_stats(scheduler);
    assert_int_equal(stats.scheduled,
                     stats.fired + stats.cancelled + stats.handed_back + stats.pending);
    assert_int_equal(stats.pending, htw_pending(scheduler));
    assert_int_equal(stats.running, 0);
    assert_int_equal(stats.lateness.count, stats.runs);
    assert_int_equal(stats.callback.count, stats.runs);
}

struct probe scheduler_case_probe(struct scheduler_case *test, char name) {
    return (struct probe) { .test = test, .name = name };
}

void probe_schedule(struct probe *probe, int64_t delay_ns) {
    assert_int_equal(
        htw_schedule(probe->test->scheduler, delay_ns, case_probe_run, probe, &probe->handle), 0);
}

struct htw_spec case_probe_spec(struct probe *probe, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = case_probe_run;
    spec.arg = probe;
    spec.when_ns = delay_ns;
    spec.latest_ns = delay_ns;
    return spec;
}

struct htw_spec case_probe_spec_hooked(struct probe *probe, int64_t delay_ns) {
    struct htw_spec spec = case_probe_spec(probe, delay_ns);
    spec.release = case_probe_release;
    return spec;
}

void probe_schedule_spec(struct probe *probe, const struct htw_spec *spec) {
    assert_int_equal(htw_schedule_spec(probe->test->scheduler, spec, &probe->handle, NULL), 0);
}

void case_probe_run(void *arg, const struct htw_expiration *expiration) {
    struct probe *probe = arg;
    probe->runs++;
    probe->last = *expiration;
    probe->ran_ns = htw_scheduler_now(expiration->scheduler);
    probe->early |= probe->ran_ns < expiration->deadline_ns || expiration->late_ns < 0;
    note(probe->test, probe->name);
    if (probe->during != NULL)
        probe->answer = probe->during(probe);
}

void case_probe_release(void *arg) {
    struct probe *probe = arg;
    probe->releases++;
    note(probe->test, (char)toupper(probe->name));
    if (probe->on_release != NULL)
        probe->on_release(probe);
}

void case_probe_visit(void *context, const struct htw_unexpired *unexpired) {
    struct probe *probe = unexpired->arg;
    (void)context;
    probe->visits++;
    probe->leftover_ns = unexpired->deadline_ns;
    note(probe->test, '!');
    note(probe->test, probe->name);
}
