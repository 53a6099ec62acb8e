/* SPDX-License-Identifier: MIT */
/*
 * scheduler_case.h - a scheduler on the manual clock over an allocator that counts, with probes
 * for timers. Each probe writes to the log of its case when it is called: its name when it
 * runs, the capital when its hook does, and '!' with its name when a visitor is given it.
 */
#ifndef TESTS_SCHEDULER_CASE_H
#define TESTS_SCHEDULER_CASE_H

#include "failing_allocator.h"

#include <htw/scheduler.h>

/** What the manual clock starts from. */
#define CASE_START_NS (1000 * HTW_SECOND)

struct scheduler_case {
    struct failing_allocator memory;
    struct htw_scheduler *scheduler;
    struct htw_group *group; /* for those tests that want one; destroyed at the end */
    char log[1024];
    size_t log_length;
};

struct probe {
    struct scheduler_case *test;
    char name; /* a lower-case letter */
    htw_handle handle;
    unsigned runs, releases, visits;
    bool early;                              /* it ran before its deadline, ever */
    int64_t ran_ns;                          /* the clock when it last ran */
    struct htw_expiration last;              /* what it was told then */
    int64_t leftover_ns;                     /* the deadline that a visitor was told */
    unsigned (*during)(struct probe *probe); /* called when it runs, after the log */
    unsigned answer;                         /* what that returned */
    void *context;                           /* for `during` */
    void (*on_release)(struct probe *probe);
};

/** Manual clock, one shard, no workers. */
struct htw_scheduler_options scheduler_case_options(void);

/** Creates the scheduler. Without an allocator in `options` it gets the one that counts. */
void scheduler_case_begin(struct scheduler_case *test, const struct htw_scheduler_options *options);

/** Asserts that the counters add up and nothing was early, destroys, and asserts that nothing
    leaked. */
void scheduler_case_end(struct scheduler_case *test);

/** The same as a fixture of cmocka, with scheduler_case_options(). */
int scheduler_case_setup(void **state);
int scheduler_case_teardown(void **state);

/** Lets time go on. */
void scheduler_case_advance(struct scheduler_case *test, int64_t delta_ns);

/** The log so far, which is emptied. Valid until the next call. */
const char *scheduler_case_log(struct scheduler_case *test);

struct htw_scheduler_stats scheduler_case_stats(struct htw_scheduler *scheduler);

/** Asserts that scheduled = fired + cancelled + handed_back + pending, and nothing runs. */
void assert_adds_up(struct htw_scheduler *scheduler);

struct probe scheduler_case_probe(struct scheduler_case *test, char name);

/** A plain timer. */
void probe_schedule(struct probe *probe, int64_t delay_ns);

/** A spec with callback, argument and delay. */
struct htw_spec case_probe_spec(struct probe *probe, int64_t delay_ns);

/** Schedules with a hook. */
struct htw_spec case_probe_spec_hooked(struct probe *probe, int64_t delay_ns);

/** htw_schedule_spec() with the probe's handle; asserts that it returns 0. */
void probe_schedule_spec(struct probe *probe, const struct htw_spec *spec);

void case_probe_run(void *probe, const struct htw_expiration *expiration);
void case_probe_release(void *probe);

/** A visitor; the leftover's argument is a probe. */
void case_probe_visit(void *context, const struct htw_unexpired *unexpired);

#endif /* TESTS_SCHEDULER_CASE_H */
