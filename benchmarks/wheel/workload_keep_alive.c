/* SPDX-License-Identifier: MIT */
/*
 * workload_keep_alive.c - idle timeouts of connections: a random timer is moved to 30 000 ticks
 * from now. The clock advances; timers that were not moved for so long fire, and are armed again.
 */
#include "run.h"

#define TIMEOUT 30000
#define MOVES_A_TICK 1000

static void pass_tick(struct run *run) {
    struct bench_tally *tally = &run->tally;
    tally->fired_count = 0;
    run_advance(run, tally->now + 1);
    for (size_t i = 0; i < tally->fired_count; i++)
        run_schedule(run, tally->fired_at[i], tally->now + TIMEOUT);
}

/* Each caller passes a constant flag. */
static inline void keep_alive(struct run *run, uint64_t count, bool by_move) {
    for (uint64_t ticks = count / MOVES_A_TICK; ticks > 0; ticks--) {
        pass_tick(run);
        for (int i = 0; i < MOVES_A_TICK; i++) {
            size_t index = random_scale(random_high(random_draw(&run->random)), run->n);
            if (by_move)
                run_move(run, run_timer(run, index), run->tally.now + TIMEOUT);
            else
                run_pair(run, run_timer(run, index), run->tally.now + TIMEOUT);
        }
    }
}

static void keep_alive_best(struct run *run, uint64_t count) {
    if (run->implementation->move != NULL)
        keep_alive(run, count, true);
    else
        keep_alive(run, count, false);
}

static void measure(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    run_open(run, run->n);
    run->tally.fired_at = malloc(run->n * sizeof(void *));
    if (run->tally.fired_at == NULL)
        report_failure("no memory for the timers that fire");
    for (size_t i = 0; i < run->n; i++) { /* as if it had run for a long time */
        uint32_t bits = random_high(random_draw(&run->random));
        run_schedule(run, run_timer(run, i), 1 + random_scale(bits, TIMEOUT));
    }

    keep_alive_best(run, run->operations / 4);
    int64_t start_ns = clock_now_ns();
    keep_alive_best(run, run->operations);
    run_report_ns("move_ns", clock_now_ns() - start_ns, run->operations);

    run_check_count(run, run->n);
    uint64_t renewed = run->tally.fired;
    free(run->tally.fired_at);
    run->tally.fired_at = NULL;
    run_drain(run, run->tally.now + TIMEOUT, renewed + run->n);
}

const struct workload workload_keep_alive = {
    .name = "keep-alive",
    .about = "move a random timer to 30 000 ticks from now; a tick passes every 1000 moves",
    .count = 1000000,
    .run = measure,
};
