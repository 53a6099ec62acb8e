/* SPDX-License-Identifier: MIT */
/*
 * workload_sparse.c - one timer an hour for ten years, in milliseconds. Shows the cost of walking
 * through empty time, and of wake-ups in which a timer is only demoted.
 */
#include "run.h"

#define HOUR 3600000
#define HOURS 87600

static void measure(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_EXPIRY | RUN_NEEDS_NEXT);
    uint64_t advances = 0;
    run_open(run, 1);
    void *timer = run_timer(run, 0);
    int64_t start_ns = clock_now_ns();
    for (uint64_t fired = 0; fired < run->n; fired++) {
        run_schedule(run, timer, run->tally.now + HOUR);
        while (run->tally.fired == fired) {
            uint64_t next = run->implementation->next(run->self);
            if (next == UINT64_MAX)
                report_failure("a timer was lost");
            run_advance(run, next);
            advances++;
        }
    }
    run_report_ns("timer_ns", clock_now_ns() - start_ns, run->n);
    report_number("timer_advances", (double)advances / (double)run->n);
    run_check_end(run, run->n);
}

const struct workload workload_sparse = {
    .name = "sparse",
    .about = "one timer an hour of ms for ten years, each armed when the one before has fired",
    .count = HOURS,
    .run = measure,
};
