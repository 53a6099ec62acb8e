/* SPDX-License-Identifier: MIT */
/*
 * workload_phase.c - a thousand timers occupy 250 buckets on each of the four lowest levels of a
 * wheel of 256. One more timer is armed into an empty bucket and cancelled. Shows what a wheel
 * does when a bucket becomes occupied.
 */
#include "run.h"

#define LEVELS 4
#define BUCKETS 250
#define BUCKETS_EMPTY 5

/* The first occupied bucket of a level. Bucket 0 of the lowest level is the present tick; bucket 0
 * of another level is divided among the levels below. */
static uint64_t first_bucket(unsigned level) {
    return level == 0 ? 1 : 2;
}

static uint64_t bucket_width(unsigned level) {
    return (uint64_t)1 << (8 * level);
}

static void pairs(struct run *run, void *timer, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t draw = random_draw(&run->random);
        unsigned choice = (unsigned)random_scale(random_high(draw), LEVELS * BUCKETS_EMPTY);
        unsigned level = choice % LEVELS;
        uint64_t bucket = first_bucket(level) + BUCKETS + choice / LEVELS;
        if (bucket > 255) /* 251 to 255, or 252 to 255 and 1 */
            bucket = 1;
        uint64_t width = bucket_width(level);
        run_schedule(run, timer, bucket * width + random_scale(random_low(draw), width));
        run->implementation->cancel(run->self, timer);
    }
}

static void measure(const struct options *options) {
    struct run *run = run_begin(options, RUN_NEEDS_NOTHING);
    run_open(run, run->n + 1);
    for (size_t i = 0; i < run->n; i++) {
        unsigned level = (unsigned)(i % LEVELS);
        uint64_t bucket = first_bucket(level) + i / LEVELS;
        run_schedule(run, run_timer(run, i), bucket * bucket_width(level));
    }

    void *timer = run_timer(run, run->n);
    pairs(run, timer, run->operations / 4);
    uint64_t start_ns = run_clock_ns();
    pairs(run, timer, run->operations);
    run_report_ns("pair_ns", run_clock_ns() - start_ns, run->operations);
    run_record(timer)->deadline = BENCH_IDLE;

    run_check_count(run, run->n);
    if (run_can_expire(run) && run->implementation->next != NULL) { /* too far to walk */
        uint64_t next;
        while ((next = run->implementation->next(run->self)) != UINT64_MAX)
            run_advance(run, next);
        run_check_end(run, run->n);
    }
    run_close(run);
}

const struct workload workload_phase = {
    .name = "phase",
    .about = "1000 buckets are occupied; arm one more timer into an empty one and cancel it",
    .count = LEVELS * BUCKETS,
    .run = measure,
};
