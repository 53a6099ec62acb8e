/* SPDX-License-Identifier: MIT */
/*
 * flat.c - each operation again and again, a million times unless there are less than 3 s: what the
 * library holds is as much after the last time as after the first tenth.
 *
 * One thread, in manual time. All memory comes from an allocator that counts.
 */
/* holds: scheduler-17 */
#include "stress.h"

#include <stdio.h>
#include <stdlib.h>

#define FEW 50000u
#define MANY 1000000u

static struct htw_scheduler *scheduler;
static struct htw_group *group;
static size_t live_bytes, most_bytes;
static unsigned long runs;

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    live_bytes += size;
    most_bytes = live_bytes > most_bytes ? live_bytes : most_bytes;
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)alignment;
    live_bytes -= size;
    free(memory);
}

static const struct htw_allocator counting = { allocate, release, NULL };

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    runs++;
}

static void visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    (void)unexpired;
}

static void forget(void *arg) {
    (void)arg;
}

static struct htw_scheduler *create(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = 0;
    options.shards = 1;
    options.allocator = &counting;
    return stress_create(&options);
}

static htw_handle schedule(int64_t delay_ns) {
    htw_handle handle;
    CHECK_EQUAL(htw_schedule(scheduler, delay_ns, run, NULL, &handle), 0);
    return handle;
}

static htw_handle schedule_spec(const struct htw_spec *spec) {
    struct htw_unexpired replaced = { 0 };
    htw_handle handle;
    CHECK_EQUAL(htw_schedule_spec(scheduler, spec, &handle, &replaced), 0);
    return handle;
}

static struct htw_spec spec_of(unsigned n) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run;
    spec.when_ns = HTW_SECOND + n % 1000 * HTW_MILLISECOND;
    return spec;
}

/* ---- the operations; `n`: how many times before */

static void cancel(unsigned n) {
    CHECK_EQUAL(htw_cancel(scheduler, schedule(1 + n % 3 * HTW_HOUR)), HTW_CANCELLED);
}

static void cancel_wait(unsigned n) {
    CHECK_EQUAL(htw_cancel_wait(scheduler, schedule(1 + n % 3 * HTW_HOUR)), HTW_CANCELLED);
}

static void cancel_remaining(unsigned n) {
    int64_t left_ns;
    CHECK_EQUAL(htw_cancel_remaining(scheduler, schedule(1 + n % 3 * HTW_HOUR), &left_ns),
                HTW_CANCELLED);
}

static void expire(unsigned n) {
    unsigned long before = runs;
    (void)schedule(n % 5 * HTW_MILLISECOND);
    CHECK_EQUAL(htw_scheduler_advance(scheduler, 5 * HTW_MILLISECOND), 0);
    CHECK_EQUAL(runs, before + 1);
}

static void schedule_at(unsigned n) {
    htw_handle handle;
    int64_t at_ns = htw_scheduler_now(scheduler) + n % 1000 * HTW_SECOND;
    CHECK_EQUAL(htw_schedule_at(scheduler, at_ns, run, NULL, &handle), 0);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
}

static void schedule_within(unsigned n) {
    htw_handle handle;
    CHECK_EQUAL(
        htw_schedule_within(scheduler, n % 10 * HTW_SECOND, 20 * HTW_SECOND, run, NULL, &handle),
        0);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
}

static void repeat(unsigned n) {
    htw_handle handle;
    CHECK_EQUAL(
        htw_schedule_every(scheduler, 0, HTW_SECOND, (enum htw_repeat)(n % 3), run, NULL, &handle),
        0);
    CHECK_EQUAL(htw_scheduler_advance(scheduler, HTW_SECOND), 0);
    CHECK_EQUAL(htw_set_period(scheduler, handle, 2 * HTW_SECOND), HTW_MOVED);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
}

static void reschedule(unsigned n) {
    htw_handle handle = schedule(HTW_SECOND);
    CHECK_EQUAL(htw_reschedule(scheduler, handle, n % 1000 * HTW_MINUTE), HTW_MOVED);
    CHECK_EQUAL(htw_reschedule_at(scheduler, handle, HTW_DAY), HTW_MOVED);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
}

static void hook(unsigned n) {
    struct htw_spec spec = spec_of(n);
    spec.release = forget;
    CHECK_EQUAL(htw_cancel(scheduler, schedule_spec(&spec)), HTW_CANCELLED);
}

static void key(unsigned n) {
    struct htw_spec spec = spec_of(n);
    unsigned name = n % 7;
    spec.key = &name;
    spec.key_size = sizeof(name);
    spec.group = n % 2 ? group : NULL;
    htw_handle handle = schedule_spec(&spec); /* replaces every other time */
    CHECK(htw_find_key(scheduler, spec.group, &name, sizeof(name)) == handle);
    if (n % 3 == 0)
        CHECK_EQUAL(htw_cancel_key(scheduler, spec.group, &name, sizeof(name), NULL),
                    HTW_CANCELLED);
}

static void clock(unsigned n) {
    struct htw_spec spec = spec_of(n);
    spec.clock = n % 2 ? HTW_CLOCK_REALTIME : HTW_CLOCK_MONOTONIC;
    CHECK_EQUAL(htw_cancel(scheduler, schedule_spec(&spec)), HTW_CANCELLED);
    CHECK_EQUAL(htw_scheduler_set_clock(scheduler, HTW_CLOCK_REALTIME, n % 100 * HTW_HOUR), 0);
}

static void span(unsigned n) {
    struct htw_spec spec = spec_of(n);
    spec.span_ns = (1 + n % 500) * HTW_SECOND; /* more than are exact */
    spec.group = group;
    htw_handle handle = schedule_spec(&spec);
    if (n % 100 == 0)
        CHECK_EQUAL(htw_group_set_scale(group, n % 1000 / 1000.0), 0);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
}

static void groups(unsigned n) {
    struct htw_group *other;
    CHECK_EQUAL(htw_group_create(scheduler, &other), 0);
    struct htw_spec spec = spec_of(n);
    spec.group = other;
    (void)schedule_spec(&spec);
    CHECK_EQUAL(htw_group_pause(other), 0);
    CHECK_EQUAL(htw_group_resume(other), 0);
    CHECK_EQUAL(htw_group_cancel(other, visit, NULL), 1);
    htw_group_destroy(other);
}

static void ask(unsigned n) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    int64_t deadline_ns;
    htw_handle handle = schedule((int64_t)n);
    CHECK(htw_is_pending(scheduler, handle));
    CHECK_EQUAL(htw_deadline(scheduler, handle, &deadline_ns), 0);
    CHECK(htw_scheduler_next(scheduler) <= deadline_ns + HTW_MILLISECOND);
    CHECK_EQUAL(htw_cancel(scheduler, handle), HTW_CANCELLED);
    if (n % 100 == 0)
        CHECK_EQUAL(htw_scheduler_get_stats(scheduler, &stats), 0);
}

/* A hundredth as often. */
static void create_and_stop(unsigned n) {
    struct htw_scheduler *before = scheduler;
    if (n % 100 != 0)
        return;
    scheduler = create();
    (void)schedule(HTW_HOUR);
    CHECK_EQUAL(htw_scheduler_stop(scheduler, visit, NULL), 0);
    CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
    scheduler = before;
}

static const struct {
    const char *name;
    void (*run)(unsigned n);
} operations[] = {
    { "cancel", cancel },
    { "cancel_wait", cancel_wait },
    { "cancel_remaining", cancel_remaining },
    { "expire", expire },
    { "schedule_at", schedule_at },
    { "schedule_within", schedule_within },
    { "repeat", repeat },
    { "reschedule", reschedule },
    { "hook", hook },
    { "key", key },
    { "clock", clock },
    { "span", span },
    { "groups", groups },
    { "ask", ask },
    { "create_and_stop", create_and_stop },
};

static void repeat_operation(size_t index, unsigned times) {
    size_t most_at_first = 0;
    most_bytes = live_bytes;
    for (unsigned n = 0; n < times; n++) {
        operations[index].run(n);
        if (n == times / 10)
            most_at_first = most_bytes;
    }
    if (most_bytes > most_at_first)
        stress_fail(__FILE__, __LINE__, "%s: %zu bytes, then %zu", operations[index].name,
                    most_at_first, most_bytes);
}

int main(int argc, char **argv) {
    unsigned times = argc > 1 && atof(argv[1]) >= 3 ? MANY : FEW;
    stress_begin(argc, argv, 1);
    scheduler = create();
    CHECK_EQUAL(htw_group_create(scheduler, &group), 0);
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        repeat_operation(i, times);
    htw_group_destroy(group);
    CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
    CHECK_EQUAL(live_bytes, 0);
    return 0;
}
