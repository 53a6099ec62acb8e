/* SPDX-License-Identifier: MIT */
/* run.c - the objects of a run, and the checks of what its timers did. */
#include "run.h"

#include <inttypes.h>
#include <sys/mman.h>

#define CACHE_LINE 64u

struct run *run_begin(const struct options *options, unsigned needs) {
    static struct run run;
    run.implementation = options->implementation;
    run.n = (size_t)options->timers;
    run.operations = options->operations;
    run.has_end = options->has_end;
    random_init(&run.random, options->seed);
    if ((needs & RUN_NEEDS_EXPIRY) != 0 && run.implementation->counts_only)
        report_left_out("its timers do not fire");
    if ((needs & RUN_NEEDS_EXPIRY) != 0 && run.implementation->advance == NULL)
        report_left_out("its clock cannot be set");
    if ((needs & RUN_NEEDS_NEXT) != 0 && run.implementation->next == NULL)
        report_left_out("it does not report when to wake up");
    if ((needs & RUN_NEEDS_SLACK) != 0 && run.implementation->schedule_within == NULL)
        report_left_out("its deadlines have no slack");
    return &run;
}

/* Zeroed and written to, so that no measurement touches a page for the first time. Not by malloc(),
 * so that its statistics show what the implementation allocates. */
static void make_objects(struct run *run, size_t count) {
    size_t object = sizeof(struct bench_record) + run->implementation->timer_size;
    run->stride = (object + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    if (count > SIZE_MAX / run->stride)
        report_out_of_memory();
    void *objects =
        mmap(NULL, count * run->stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (objects == MAP_FAILED)
        report_out_of_memory();
    memset(objects, 0, count * run->stride);
    run->objects = objects;
}

void run_open(struct run *run, size_t count) {
    const struct bench_implementation *implementation = run->implementation;
    make_objects(run, count);
    memset(&run->tally, 0, sizeof(run->tally));
    run->self = implementation->create(count, &run->tally);
    if (run->self == NULL)
        report_failure("cannot be created for %zu timers", count);
    for (size_t i = 0; i < count; i++) {
        run_record(run_timer(run, i))->deadline = BENCH_IDLE;
        implementation->init(run->self, run_timer(run, i));
    }
}

void run_report_ns(const char *metric, int64_t elapsed_ns, uint64_t count) {
    report_number(metric, (double)elapsed_ns / (double)count);
}

void run_drain(struct run *run, uint64_t last, uint64_t fired) {
    if (!run->has_end || !run_can_expire(run))
        return;
    while (run->tally.now < last)
        run_advance(run, run->tally.now + 1);
    run_check_end(run, fired);
}

void run_check_end(struct run *run, uint64_t fired) {
    const struct bench_tally *tally = &run->tally;
    if (tally->wrong != 0)
        report_failure("%" PRIu64 " timers fired early, twice, or after a cancel", tally->wrong);
    if (tally->late != 0)
        report_failure("%" PRIu64 " timers fired late", tally->late);
    if (tally->fired != fired)
        report_failure("%" PRIu64 " timers fired, not %" PRIu64, tally->fired, fired);
    run_check_count(run, 0);
}

void run_check_count(struct run *run, size_t count) {
    if (run->implementation->count == NULL)
        return;
    size_t armed = run->implementation->count(run->self);
    if (armed != count)
        report_failure("%zu timers are armed, not %zu", armed, count);
}
