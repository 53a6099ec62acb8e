/* SPDX-License-Identifier: MIT */
/*
 * mix.c - eight threads schedule, cancel and reschedule each other's timers while these expire.
 *
 * Every argument comes back to exactly one owner, no callback is early, and in the end the
 * counters agree with the results of the calls.
 */
/* holds: scheduler-1, scheduler-2, scheduler-3, scheduler-4, scheduler-6, scheduler-8, scheduler-9,
   scheduler-10, scheduler-11, scheduler-12, scheduler-14, scheduler-25 */
#include "stress.h"

#define THREADS 8u
#define SLOTS 64u /* timers of a thread that others know */

/* Written by one thread, read by all: a handle and its argument, which is NULL if the timer has a
   hook. As handles are never used again, the argument is the right one if the handle is the same
   before and after. */
struct slot {
    _Atomic htw_handle handle;
    struct stress_item *_Atomic item;
};

struct mix {
    struct htw_scheduler *scheduler;
    struct slot slots[THREADS][SLOTS];
    _Atomic uint64_t scheduled, cancelled, moved;
};

static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    uint64_t tag = stress_item_tag(arg);
    if (!(tag & STRESS_HOOKED)) {
        stress_item_release(arg);
        return;
    }
    /* Some run once or twice more. The hook releases the argument. */
    if ((uint64_t)expiration->deadline_ns % 3 == 0) {
        int result = htw_reschedule(expiration->scheduler, expiration->handle, HTW_MILLISECOND);
        CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == -ESHUTDOWN);
    }
    stress_item_tag(arg);
}

static int64_t some_delay(struct random_source *random) {
    switch (random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return HTW_SECOND * (int64_t)(1 + random_below(random, 3600));
    case 2:
        return HTW_NEVER_NS;
    default:
        return (int64_t)random_below(random, 4 * HTW_MILLISECOND);
    }
}

/* A timer that some thread has scheduled; 0: the slot is being written. */
static htw_handle look(struct slot *slot, struct stress_item **ret_item) {
    htw_handle handle = atomic_load(&slot->handle);
    *ret_item = atomic_load(&slot->item);
    return atomic_load(&slot->handle) == handle ? handle : 0;
}

static struct slot *some_slot(struct mix *mix, struct random_source *random) {
    return &mix->slots[random_below(random, THREADS)][random_below(random, SLOTS)];
}

static void cancel(struct mix *mix, struct random_source *random, struct slot *slot) {
    struct stress_item *item;
    htw_handle handle = look(slot, &item);
    bool waits = random_one_in(random, 4);
    int result =
        waits ? htw_cancel_wait(mix->scheduler, handle) : htw_cancel(mix->scheduler, handle);
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    CHECK(handle != 0 || result == HTW_GONE);
    if (result == HTW_GONE || waits)
        CHECK(!htw_is_pending(mix->scheduler, handle));
    if (result != HTW_CANCELLED)
        return;
    atomic_fetch_add_explicit(&mix->cancelled, 1, memory_order_relaxed);
    CHECK_EQUAL(htw_cancel(mix->scheduler, handle), HTW_GONE);
    if (item != NULL)
        stress_item_release(item);
}

static void schedule(struct mix *mix, struct stress_thread *thread) {
    struct slot *slot = &mix->slots[thread->index][random_below(&thread->random, SLOTS)];
    bool hooked = random_one_in(&thread->random, 4);
    struct stress_item *item = stress_item_create(hooked ? STRESS_HOOKED : 0);
    htw_handle handle = 0;
    int64_t delay_ns = some_delay(&thread->random);
    cancel(mix, &thread->random, slot);
    atomic_store(&slot->handle, 0);
    atomic_store(&slot->item, hooked ? NULL : item);
    int result;
    if (hooked) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = expired;
        spec.arg = item;
        spec.when_ns = delay_ns;
        spec.release = stress_item_hook;
        spec.clock = stress_some_clock(&thread->random);
        result = htw_schedule_spec(mix->scheduler, &spec, &handle, NULL);
    } else {
        result = htw_schedule(mix->scheduler, delay_ns, expired, item, &handle);
    }
    CHECK_EQUAL(result, 0);
    CHECK(handle != 0);
    atomic_store(&slot->handle, handle);
    atomic_fetch_add_explicit(&mix->scheduled, 1, memory_order_relaxed);
}

static void move(struct mix *mix, struct random_source *random) {
    struct stress_item *item;
    htw_handle handle = look(some_slot(mix, random), &item);
    int result = htw_reschedule(mix->scheduler, handle, some_delay(random));
    CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE);
    if (result == HTW_MOVED)
        atomic_fetch_add_explicit(&mix->moved, 1, memory_order_relaxed);
    int64_t deadline_ns;
    result = htw_deadline(mix->scheduler, handle, &deadline_ns);
    CHECK(result == 0 || result == -ENOENT);
}

static void work(struct stress_thread *thread) {
    struct mix *mix = thread->context;
    while (stress_goes_on())
        for (unsigned i = 0; i < 32; i++)
            switch (random_below(&thread->random, 4)) {
            case 0:
            case 1:
                schedule(mix, thread);
                break;
            case 2:
                cancel(mix, &thread->random, some_slot(mix, &thread->random));
                break;
            default:
                move(mix, &thread->random);
            }
}

static void part(uint32_t workers, uint32_t shards, uint32_t expirers) {
    stress_part("mix: %u workers, %u shards, %u expirers", workers, shards, expirers);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = shards;
    options.expirers = expirers;
    options.tick_ns = 100 * HTW_MICROSECOND;
    static struct mix mix;
    mix = (struct mix) { .scheduler = stress_create(&options) };
    stress_run(THREADS, work, &mix);
    struct htw_scheduler_stats stats = stress_finish(mix.scheduler);
    CHECK_EQUAL(stats.scheduled, mix.scheduled);
    CHECK_EQUAL(stats.cancelled, mix.cancelled);
    CHECK(stats.moved >= mix.moved); /* callbacks move themselves, too */
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 6);
    part(0, 1, 1);
    part(1, 2, 1);
    part(4, 8, 2);
    part(4, 1, 1);
    part(0, 8, 3);
    part(1, 8, 8);
    return 0;
}
