/* SPDX-License-Identifier: MIT */
/*
 * workload_expire.c - the workloads in which many timers are armed and all of them expire.
 *
 *   expire  delays of up to a minute of milliseconds, drawn evenly; the clock visits every tick.
 *           With few timers most ticks are empty.
 *   long    delays of up to a day of milliseconds, equally many of each order of magnitude; the
 *           clock jumps to the tick that the implementation names.
 *   slack   both, with the same delays, where each timer may be late by 1 % of its delay.
 */
#include "run.h"

#include <inttypes.h>
#include <math.h>

#define EVEN_MAX 60000
#define DAY 86400000
#define SLACK_PARTS 100

/* Fewer timers go through several rounds: one would be too short to measure. */
#define TIMERS_MIN 20000

/* Each timer's record keeps its delay until the timer is armed. */
static void draw_even(struct run *run) {
    for (size_t i = 0; i < run->n; i++)
        run_record(run_timer(run, i))->deadline =
            1 + random_scale(random_high(random_draw(&run->random)), EVEN_MAX);
}

static void draw_log(struct run *run) {
    const double range = log(DAY);
    for (size_t i = 0; i < run->n; i++) {
        double even = (double)(random_draw(&run->random) >> 11) * 0x1p-53;
        run_record(run_timer(run, i))->deadline = (uint64_t)exp(even * range);
    }
}

/* Arms each timer for the delay drawn; returns the nanoseconds that it took. */
static int64_t arm(struct run *run) {
    uint64_t now = run->tally.now;
    int64_t start_ns = clock_now_ns();
    for (size_t i = 0; i < run->n; i++) {
        void *timer = run_timer(run, i);
        run_schedule(run, timer, now + run_record(timer)->deadline);
    }
    return clock_now_ns() - start_ns;
}

/* The same, for any tick between the delay and 1 % more. */
static int64_t arm_within(struct run *run) {
    const struct bench_implementation *implementation = run->implementation;
    uint64_t now = run->tally.now;
    uint64_t outside = 0;
    int64_t start_ns = clock_now_ns();
    for (size_t i = 0; i < run->n; i++) {
        void *timer = run_timer(run, i);
        struct bench_record *record = run_record(timer);
        uint64_t earliest = now + record->deadline;
        uint64_t slack = record->deadline / SLACK_PARTS;
        record->deadline =
            implementation->schedule_within(run->self, timer, earliest, earliest + slack);
        outside += record->deadline - earliest > slack;
    }
    int64_t elapsed_ns = clock_now_ns() - start_ns;
    if (outside != 0)
        report_failure("%" PRIu64 " deadlines were chosen outside of their ranges", outside);
    return elapsed_ns;
}

/* Advances tick by tick. A wake-up is a tick in which a timer fired. */
static int64_t visit(struct run *run, uint64_t ticks, uint64_t *ret_wakeups) {
    uint64_t wakeups = 0;
    uint64_t last = run->tally.now + ticks;
    int64_t start_ns = clock_now_ns();
    while (run->tally.now < last) {
        uint64_t fired = run->tally.fired;
        run_advance(run, run->tally.now + 1);
        wakeups += run->tally.fired != fired;
    }
    *ret_wakeups = wakeups;
    return clock_now_ns() - start_ns;
}

/* Advances to next() until nothing is armed; reports that, and checks the end. */
static void drain(struct run *run, const char *ns_metric, const char *advances_metric) {
    uint64_t advances = 0;
    int64_t start_ns = clock_now_ns();
    uint64_t next;
    while ((next = run->implementation->next(run->self)) != UINT64_MAX) {
        run_advance(run, next);
        advances++;
    }
    run_report_ns(ns_metric, clock_now_ns() - start_ns, run->n);
    report_number(advances_metric, (double)advances / (double)run->n);
    run_check_end(run, run->n);
}

static void run_expire(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    uint64_t rounds = run->n < TIMERS_MIN ? TIMERS_MIN / run->n : 1;
    if (!run_can_expire(run))
        rounds = 1; /* the timers of a round would stay armed */
    uint64_t timers = rounds * run->n;
    int64_t add_ns = 0, expire_ns = 0;
    uint64_t wakeups = 0;
    run_open(run, run->n);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t round_wakeups;
        draw_even(run);
        add_ns += arm(run);
        run_check_count(run, run->n);
        if (!run_can_expire(run))
            break;
        expire_ns += visit(run, EVEN_MAX, &round_wakeups);
        wakeups += round_wakeups;
    }
    run_report_ns("add_ns", add_ns, timers);
    if (run_can_expire(run)) {
        run_report_ns("expire_ns", expire_ns, timers);
        report_number("expire_wakeups", (double)wakeups / (double)timers);
        run_check_end(run, timers);
    }
}

static void run_long(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    run_open(run, run->n);
    draw_log(run);
    run_report_ns("add_ns", arm(run), run->n);
    run_check_count(run, run->n);
    if (run_can_expire(run) && run->implementation->next != NULL)
        drain(run, "drain_ns", "drain_advances");
}

static void slack_even(struct run *run) {
    uint64_t wakeups;
    run_open(run, run->n);
    draw_even(run);
    run_report_ns("expire_add_ns", arm_within(run), run->n);
    run_check_count(run, run->n);
    run_report_ns("expire_ns", visit(run, EVEN_MAX + EVEN_MAX / SLACK_PARTS, &wakeups), run->n);
    report_number("expire_wakeups", (double)wakeups / (double)run->n);
    run_check_end(run, run->n);
}

static void slack_log(struct run *run) {
    run_open(run, run->n);
    draw_log(run);
    run_report_ns("long_add_ns", arm_within(run), run->n);
    run_check_count(run, run->n);
    drain(run, "long_drain_ns", "long_drain_advances");
}

static void run_slack(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_EXPIRY | RUN_NEEDS_NEXT | RUN_NEEDS_SLACK);
    struct random random = run->random; /* both draw what expire and long draw */
    slack_even(run);
    run->random = random;
    slack_log(run);
}

const struct workload workload_expire = {
    .name = "expire",
    .about = "arm timers for 1 to 60 000 ticks, and advance tick by tick until all have fired",
    .count = 1000000,
    .run = run_expire,
};

const struct workload workload_long = {
    .name = "long",
    .about = "arm timers for 1 tick to a day of ms (log-uniform), and jump from one to the next",
    .count = 1000000,
    .run = run_long,
};

const struct workload workload_slack = {
    .name = "slack",
    .about = "expire and long, where every timer may be late by 1 % of its delay",
    .count = 1000000,
    .run = run_slack,
};
