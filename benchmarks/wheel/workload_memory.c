/* SPDX-License-Identifier: MIT */
/*
 * workload_memory.c - bytes a timer: the timer itself, and what is allocated for it. The fixed
 * part is what is allocated for four timers that lie far apart, one on each of the four lowest
 * levels of a wheel of 256.
 */
#include "run.h"

#include <malloc.h>

#define DELAY_MIN 1000
#define DELAY_SPAN 59000
#define FEW 4

/* The timers themselves are not from malloc() (run.c). */
static size_t allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void measure_fixed(struct run *run) {
    size_t before = allocated_bytes();
    run_open(run, FEW);
    for (unsigned i = 0; i < FEW; i++)
        run_schedule(run, run_timer(run, i), (uint64_t)100 << (8 * i));
    size_t growth = allocated_bytes() - before;
    report_number("fixed_bytes", (double)growth);
    for (unsigned i = 0; i < FEW; i++)
        run->implementation->cancel(run->self, run_timer(run, i));
    run_check_count(run, 0);
}

static void measure(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_EXPIRY);
    measure_fixed(run);
    size_t before = allocated_bytes();
    run_open(run, run->n);
    for (size_t i = 0; i < run->n; i++) {
        uint32_t bits = random_high(random_draw(&run->random));
        run_schedule(run, run_timer(run, i), DELAY_MIN + random_scale(bits, DELAY_SPAN));
    }
    size_t growth = allocated_bytes() - before;
    report_number("timer_bytes",
                  (double)run->implementation->timer_size + (double)growth / (double)run->n);
    run_check_count(run, run->n);
    run_drain(run, DELAY_MIN + DELAY_SPAN, run->n);
}

const struct workload workload_memory = {
    .name = "memory",
    .about = "bytes a timer, with its callback and argument, and what is allocated for it",
    .count = 1000000,
    .run = measure,
};
