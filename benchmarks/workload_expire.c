/* SPDX-License-Identifier: MIT */
/* Timers that all expire within a minute of milliseconds: what adding one costs, and what
 * the clock's ticks cost until all have fired. With few timers most ticks are empty. */
#include "expiry.h"
#include "workload.h"

/* Fewer timers go through several rounds, or there would be too little to measure. */
#define TIMERS_MIN 20000

static void measure(struct run *run) {
    uint64_t rounds = run->n < TIMERS_MIN ? TIMERS_MIN / run->n : 1;
    if (!run_can_expire(run))
        rounds = 1; /* there is no other way to begin anew */
    uint64_t timers = rounds * run->n;
    uint64_t add_ns = 0, expire_ns = 0, wakeups = 0;
    run_open(run, run->n);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t round_wakeups;
        expiry_draw_even(run);
        add_ns += expiry_arm(run);
        run_check_count(run, run->n);
        if (!run_can_expire(run))
            break;
        expire_ns += expiry_tick(run, EXPIRY_EVEN_MAX, &round_wakeups);
        wakeups += round_wakeups;
    }
    run_report_ns(run, "add", "timer", add_ns, timers);
    if (run_can_expire(run)) {
        run_report_ns(run, "expire", "timer", expire_ns, timers);
        run_report(run, "expire", "wakeups", "timer", (double)wakeups / (double)timers);
        run_check_end(run, timers);
    }
    run_close(run);
}

const struct workload workload_expire = {
    .name = "expire",
    .about = "arm timers for 1 to 60 000 ticks, and advance tick by tick until all have fired",
    .sizes = { 1000, 100000, 1000000, 10000000 },
    .measure = measure,
};
