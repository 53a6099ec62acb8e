/* SPDX-License-Identifier: MIT */
/*
 * workload_churn.c - timers that are cancelled and armed again long before they are due, as
 * timeouts of requests are. churn takes a random timer: with many timers every object is a cache
 * miss. fifo takes the oldest timer, so the processor can prefetch the next one. The clock stands
 * still.
 */
#include "run.h"

#define DELAY_MIN 1000
#define DELAY_SPAN 59000
#define WARM_UP_MIN 200000
#define WARM_UP_MAX 1000000

static uint64_t draw_delay(uint64_t draw) {
    return DELAY_MIN + random_scale(random_low(draw), DELAY_SPAN);
}

/* `first`: the index of the oldest timer. Each caller passes a constant flag. */
static inline void pairs(struct run *run, uint64_t count, size_t first, bool is_random) {
    size_t oldest = first;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t draw = random_draw(&run->random);
        size_t index = is_random ? random_scale(random_high(draw), run->n) : oldest;
        run_pair(run, run_timer(run, index), draw_delay(draw));
        oldest = oldest + 1 < run->n ? oldest + 1 : 0;
    }
}

static inline void measure(const struct options *options, bool is_random) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    run_open(run, run->n);
    for (size_t i = 0; i < run->n; i++)
        run_schedule(run, run_timer(run, i), draw_delay(random_draw(&run->random)));

    uint64_t warm_up = run->n / 4;
    if (warm_up < WARM_UP_MIN)
        warm_up = WARM_UP_MIN;
    if (warm_up > WARM_UP_MAX)
        warm_up = WARM_UP_MAX;
    pairs(run, warm_up, 0, is_random);
    int64_t start_ns = clock_now_ns();
    pairs(run, run->operations, warm_up % run->n, is_random);
    run_report_ns("pair_ns", clock_now_ns() - start_ns, run->operations);

    run_check_count(run, run->n);
    run_drain(run, DELAY_MIN + DELAY_SPAN, run->n);
}

static void measure_churn(const struct options *options) {
    measure(options, true);
}

static void measure_fifo(const struct options *options) {
    measure(options, false);
}

const struct workload workload_churn = {
    .name = "churn",
    .about = "cancel a random pending timer and arm it again",
    .count = 1000000,
    .run = measure_churn,
};

const struct workload workload_fifo = {
    .name = "fifo",
    .about = "cancel the oldest pending timer and arm it again",
    .count = 1000000,
    .run = measure_fifo,
};
