/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void run_open(struct run *run, size_t count) {
    const struct bench_implementation *implementation = run->implementation;
    if (!population_init(&run->population, count, implementation->timer_size))
        run_fail(run, "no memory for %zu objects", count);
    memset(&run->tally, 0, sizeof(run->tally));
    run->self = implementation->create(count, &run->tally);
    if (run->self == NULL)
        run_fail(run, "cannot be created for %zu timers", count);
    for (size_t i = 0; i < count; i++) {
        run_record(run_timer(run, i))->deadline = BENCH_IDLE;
        implementation->init(run->self, run_timer(run, i));
    }
}

void run_close(struct run *run) {
    if (!run->has_end)
        return;
    run->implementation->destroy(run->self);
    population_fini(&run->population);
}

void run_report(struct run *run, const char *phase, const char *quantity, const char *unit,
                double value) {
    struct figure *figure = &run->measurement.figures[run->measurement.figure_count++];
    snprintf(figure->phase, sizeof(figure->phase), "%s", phase);
    snprintf(figure->quantity, sizeof(figure->quantity), "%s", quantity);
    snprintf(figure->unit, sizeof(figure->unit), "%s", unit);
    figure->value = value;
}

void run_report_ns(struct run *run, const char *phase, const char *unit, uint64_t elapsed_ns,
                   uint64_t count) {
    run_report(run, phase, "ns", unit, (double)elapsed_ns / (double)count);
}

_Noreturn void run_deliver(struct run *run) {
    /* Less than PIPE_BUF, so written at once or not at all; the reader notices. */
    ssize_t written = write(run->output, &run->measurement, sizeof(run->measurement));
    _exit(written == (ssize_t)sizeof(run->measurement) ? 0 : 1);
}

_Noreturn void run_fail(struct run *run, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->measurement.failure, sizeof(run->measurement.failure), format, arguments);
    va_end(arguments);
    run_deliver(run);
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
        run_fail(run, "%" PRIu64 " timers fired early, twice, or after a cancel", tally->wrong);
    if (tally->late != 0)
        run_fail(run, "%" PRIu64 " timers fired late", tally->late);
    if (tally->fired != fired)
        run_fail(run, "%" PRIu64 " timers fired, not %" PRIu64, tally->fired, fired);
    run_check_count(run, 0);
}

void run_check_count(struct run *run, size_t count) {
    if (run->implementation->count == NULL)
        return;
    size_t armed = run->implementation->count(run->self);
    if (armed != count)
        run_fail(run, "%zu timers are armed, not %zu", armed, count);
}
