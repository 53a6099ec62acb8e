/* SPDX-License-Identifier: MIT */
/*
 * workload_fifo_time.c - one timeout for all timers, as in a server: each pair arms a timer behind
 * all others, and the clock advances. No timer is ever due.
 */
#include "run.h"

#define DELAY 30000
#define PAIRS_A_TICK 1000

/* Renews timers from `oldest` on. Returns the index of the oldest one afterwards. Each caller
 * passes a constant flag. */
static inline size_t renew(struct run *run, uint64_t count, size_t oldest, bool by_move) {
    for (uint64_t ticks = count / PAIRS_A_TICK; ticks > 0; ticks--) {
        run_advance(run, run->tally.now + 1);
        for (int i = 0; i < PAIRS_A_TICK; i++) {
            void *timer = run_timer(run, oldest);
            if (by_move)
                run_move(run, timer, run->tally.now + DELAY);
            else
                run_pair(run, timer, run->tally.now + DELAY);
            oldest = oldest + 1 < run->n ? oldest + 1 : 0;
        }
    }
    return oldest;
}

static void measure(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    run_open(run, run->n);
    for (size_t i = 0; i < run->n; i++)
        run_schedule(run, run_timer(run, i), DELAY);

    size_t oldest = renew(run, 2 * run->n, 0, false);
    int64_t start_ns = clock_now_ns();
    oldest = renew(run, run->operations, oldest, false);
    run_report_ns("pair_ns", clock_now_ns() - start_ns, run->operations);

    if (run->implementation->move != NULL) {
        oldest = renew(run, 2 * run->n, oldest, true);
        start_ns = clock_now_ns();
        renew(run, run->operations, oldest, true);
        run_report_ns("move_ns", clock_now_ns() - start_ns, run->operations);
    }

    run_check_count(run, run->n);
    run_drain(run, run->tally.now + DELAY, run->n);
}

const struct workload workload_fifo_time = {
    .name = "fifo-time",
    .about = "renew the oldest timer for 30 000 ticks; a tick passes every 1000 renewals",
    .count = 100000,
    .run = measure,
};
