/* SPDX-License-Identifier: MIT */
#include "expiry.h"

#include <inttypes.h>
#include <math.h>

#define SLACK_PARTS 100

void expiry_draw_even(struct run *run) {
    for (size_t i = 0; i < run->n; i++)
        run_record(run_timer(run, i))->deadline =
            1 + random_scale(random_high(random_draw(&run->random)), EXPIRY_EVEN_MAX);
}

void expiry_draw_log(struct run *run) {
    const double range = log(EXPIRY_DAY);
    for (size_t i = 0; i < run->n; i++) {
        double even = (double)(random_draw(&run->random) >> 11) * 0x1p-53;
        run_record(run_timer(run, i))->deadline = (uint64_t)exp(even * range);
    }
}

uint64_t expiry_arm(struct run *run) {
    uint64_t now = run->tally.now;
    uint64_t start_ns = run_clock_ns();
    for (size_t i = 0; i < run->n; i++) {
        void *timer = run_timer(run, i);
        run_schedule(run, timer, now + run_record(timer)->deadline);
    }
    return run_clock_ns() - start_ns;
}

uint64_t expiry_arm_within(struct run *run) {
    const struct bench_implementation *implementation = run->implementation;
    uint64_t now = run->tally.now;
    uint64_t outside = 0;
    uint64_t start_ns = run_clock_ns();
    for (size_t i = 0; i < run->n; i++) {
        void *timer = run_timer(run, i);
        struct bench_record *record = run_record(timer);
        uint64_t earliest = now + record->deadline;
        uint64_t slack = record->deadline / SLACK_PARTS;
        record->deadline =
            implementation->schedule_within(run->self, timer, earliest, earliest + slack);
        outside += record->deadline - earliest > slack;
    }
    uint64_t elapsed_ns = run_clock_ns() - start_ns;
    if (outside != 0)
        run_fail(run, "%" PRIu64 " deadlines were chosen outside of their ranges", outside);
    return elapsed_ns;
}

uint64_t expiry_tick(struct run *run, uint64_t ticks, uint64_t *ret_wakeups) {
    uint64_t wakeups = 0;
    uint64_t last = run->tally.now + ticks;
    uint64_t start_ns = run_clock_ns();
    while (run->tally.now < last) {
        uint64_t fired = run->tally.fired;
        run_advance(run, run->tally.now + 1);
        wakeups += run->tally.fired != fired;
    }
    *ret_wakeups = wakeups;
    return run_clock_ns() - start_ns;
}

void expiry_drain(struct run *run, const char *phase) {
    uint64_t advances = 0;
    uint64_t start_ns = run_clock_ns();
    uint64_t next;
    while ((next = run->implementation->next(run->self)) != UINT64_MAX) {
        run_advance(run, next);
        advances++;
    }
    run_report_ns(run, phase, "timer", run_clock_ns() - start_ns, run->n);
    run_report(run, phase, "advances", "timer", (double)advances / (double)run->n);
    run_check_end(run, run->n);
}
