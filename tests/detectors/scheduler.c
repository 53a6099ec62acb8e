/* SPDX-License-Identifier: MIT */
/* scheduler.c - parcels pass through a scheduler in all ways; a race detector must be silent. */
#define _GNU_SOURCE
#include "parcel.h"

#define PARCELS 200

static void run_in_two_threads(void *(*main)(void *), void *arg) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, main, arg) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
}

/* ---- to a callback */

static void free_parcel(void *arg, const struct htw_expiration *expiration) {
    REQUIRE(expiration->late_ns >= 0);
    parcel_free(arg);
}

static void *schedule_parcels(void *scheduler) {
    for (long i = 0; i < PARCELS; i++)
        REQUIRE(htw_schedule(scheduler, i % 7 * HTW_MILLISECOND, free_parcel,
                             parcel_create(scheduler, i), NULL) == 0);
    return NULL;
}

static void to_a_callback(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    run_in_two_threads(schedule_parcels, scheduler);
    wait_until_none_is_pending(scheduler);
    destroy_scheduler(scheduler);
}

/* ---- back by a cancel, or by a callback that is over */

static void open_parcel(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    parcel_open(arg);
}

static void *cancel_parcels(void *scheduler) {
    struct parcel *parcels[PARCELS];
    for (long i = 0; i < PARCELS; i++) {
        parcels[i] = parcel_create(scheduler, i);
        REQUIRE(htw_schedule(scheduler, i % 3 * HTW_MILLISECOND, open_parcel, parcels[i],
                             &parcels[i]->handle) == 0);
    }
    sleep_ms(1);
    for (long i = 0; i < PARCELS; i++) {
        int outcome = i % 2 == 0 ? htw_cancel(scheduler, parcels[i]->handle)
                                 : htw_cancel_wait(scheduler, parcels[i]->handle);
        while (outcome == HTW_RUNNING && i % 2 == 0)
            outcome = htw_cancel(scheduler, parcels[i]->handle);
        REQUIRE(outcome >= 0);
        REQUIRE(outcome != HTW_CANCELLED || parcels[i]->opened == 0);
        parcel_free(parcels[i]);
    }
    return NULL;
}

static void back_by_a_cancel(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    run_in_two_threads(cancel_parcels, scheduler);
    destroy_scheduler(scheduler);
}

/* ---- back by a cancel after the memory of the timer was given back: only if asked for, since helgrind
   and DRD take minutes */

#define MANY 9000 /* more than two pages of records, of which one is kept */

static uint64_t memory_of(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    REQUIRE(htw_scheduler_get_stats(scheduler, &stats) == 0);
    return stats.memory_bytes;
}

static void back_from_released_memory(void) {
    static struct parcel *parcels[MANY];
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.workers = 3;
    options.shards = 1;
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    for (long i = 0; i < MANY; i++) {
        parcels[i] = parcel_create(scheduler, i);
        REQUIRE(htw_schedule(scheduler, HTW_SECOND / 2, open_parcel, parcels[i],
                             &parcels[i]->handle) == 0);
    }
    uint64_t most = memory_of(scheduler);
    wait_until_none_is_pending(scheduler);
    for (int i = 0; i < 500 && memory_of(scheduler) == most; i++)
        sleep_ms(1);
    for (long i = 0; i < MANY; i++) {
        int outcome;
        while ((outcome = htw_cancel(scheduler, parcels[i]->handle)) == HTW_RUNNING)
            sleep_ms(1); /* none is pending, but the last ones may run */
        REQUIRE(outcome == HTW_GONE);
        parcel_free(parcels[i]);
    }
    destroy_scheduler(scheduler);
}

/* ---- by key, to a thread that shares nothing else with the one that scheduled it */

static void *schedule_keyed(void *scheduler) {
    for (long i = 0; i < PARCELS; i++) {
        char key[40];
        struct htw_spec spec = HTW_SPEC_INIT;
        struct htw_unexpired replaced;
        spec.callback = free_parcel;
        spec.arg = parcel_create(scheduler, i);
        spec.when_ns = spec.latest_ns = HTW_SECOND;
        spec.key = key;
        spec.key_size = (size_t)snprintf(key, sizeof(key), "%0*ld", i % 2 == 0 ? 5 : 35, i / 2);
        REQUIRE(htw_schedule_spec(scheduler, &spec, NULL, &replaced) == 0);
        if (replaced.handle != 0)
            parcel_free(replaced.arg);
    }
    return NULL;
}

static void *cancel_keyed(void *scheduler) {
    for (long i = 0; i < PARCELS; i++) {
        char key[40];
        size_t size = (size_t)snprintf(key, sizeof(key), "%0*ld", i % 2 == 0 ? 5 : 35, i / 2);
        void *arg;
        if (htw_cancel_key(scheduler, NULL, key, size, &arg) == HTW_CANCELLED)
            parcel_free(arg);
    }
    return NULL;
}

static void *schedule_or_cancel_keyed(void *scheduler) {
    schedule_keyed(scheduler);
    return cancel_keyed(scheduler);
}

static void by_key(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    pthread_t scheduling, cancelling;
    REQUIRE(pthread_create(&scheduling, NULL, schedule_keyed, scheduler) == 0);
    REQUIRE(pthread_create(&cancelling, NULL, cancel_keyed, scheduler) == 0);
    pthread_join(scheduling, NULL);
    pthread_join(cancelling, NULL);
    run_in_two_threads(schedule_or_cancel_keyed, scheduler);
    wait_until_none_is_pending(scheduler);
    destroy_scheduler(scheduler);
}

/* ---- from run to run, and on after a move */

static void repeat(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    parcel_open(arg);
    sleep_ms(1);
}

static void open_three_times(void *arg, const struct htw_expiration *expiration) {
    struct parcel *parcel = arg;
    parcel_open(parcel);
    if (parcel->opened == 3)
        parcel_free(parcel);
    else
        REQUIRE(htw_reschedule(expiration->scheduler, parcel->handle, HTW_MILLISECOND) ==
                HTW_MOVED);
}

static void from_run_to_run(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    struct parcel *parcels[8];
    for (int i = 0; i < 8; i++) {
        parcels[i] = parcel_create(scheduler, i);
        REQUIRE(htw_schedule_every(scheduler, 0, HTW_MILLISECOND, HTW_REPEAT_SKIP, repeat,
                                   parcels[i], &parcels[i]->handle) == 0);
        struct parcel *parcel = parcel_create(scheduler, i);
        REQUIRE(htw_schedule(scheduler, 10 * HTW_SECOND, open_three_times, parcel,
                             &parcel->handle) == 0);
        parcel->number = 100; /* it is still this thread's */
        REQUIRE(htw_reschedule(scheduler, parcel->handle, HTW_MILLISECOND) == HTW_MOVED);
    }
    sleep_ms(30);
    for (int i = 0; i < 8; i++) {
        REQUIRE(htw_cancel_wait(scheduler, parcels[i]->handle) >= 0);
        parcel_free(parcels[i]);
    }
    wait_until_none_is_pending(scheduler);
    destroy_scheduler(scheduler);
}

/* ---- groups, visitors and release hooks */

static void visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    parcel_open(unexpired->arg);
}

static void *schedule_in_group(void *arg) {
    struct htw_group *group = ((void **)arg)[1];
    struct htw_scheduler *scheduler = ((void **)arg)[0];
    for (long i = 0; i < PARCELS; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = open_parcel;
        spec.arg = parcel_create(scheduler, i);
        spec.when_ns = spec.latest_ns = i % 2 == 0 ? HTW_MILLISECOND : HTW_SECOND;
        spec.group = group;
        spec.release = parcel_free;
        REQUIRE(htw_schedule_spec(scheduler, &spec, NULL, NULL) == 0);
    }
    return NULL;
}

static void *sweep_group(void *arg) {
    struct htw_group *group = ((void **)arg)[1];
    for (int i = 0; i < 40; i++) {
        REQUIRE(htw_group_pause(group) == 0);
        REQUIRE(htw_group_resume(group) == 0);
        REQUIRE(htw_group_cancel(group, visit, NULL) >= 0);
        sleep_ms(1);
    }
    return NULL;
}

static void groups(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    struct htw_group *group;
    REQUIRE(htw_group_create(scheduler, &group) == 0);
    void *pair[2] = { scheduler, group };
    pthread_t sweeping[2], scheduling;
    REQUIRE(pthread_create(&sweeping[0], NULL, sweep_group, pair) == 0);
    REQUIRE(pthread_create(&sweeping[1], NULL, sweep_group, pair) == 0);
    REQUIRE(pthread_create(&scheduling, NULL, schedule_in_group, pair) == 0);
    pthread_join(sweeping[0], NULL);
    pthread_join(sweeping[1], NULL);
    pthread_join(scheduling, NULL);
    htw_group_destroy(group);
    wait_until_none_is_pending(scheduler);
    destroy_scheduler(scheduler);
}

/* ---- back by stop */

static void visit_and_free(void *context, const struct htw_unexpired *unexpired) {
    (*(long *)context)++;
    parcel_free(unexpired->arg);
}

static void *schedule_far(void *scheduler) {
    for (long i = 0; i < PARCELS; i++)
        REQUIRE(htw_schedule(scheduler, (1 + i * 100) * HTW_SECOND, free_parcel,
                             parcel_create(scheduler, i), NULL) == 0);
    return NULL;
}

static void back_by_stop(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    long visited = 0;
    run_in_two_threads(schedule_far, scheduler);
    REQUIRE(htw_scheduler_stop(scheduler, visit_and_free, &visited) == 0);
    REQUIRE(visited > 0);
    destroy_scheduler(scheduler);
}

/* ---- an allocator of the user, and statistics meanwhile */

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    memset(memory, 0x5a, size);
    free(memory);
}

static void *read_stats(void *scheduler) {
    for (int i = 0; i < 20; i++) {
        struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
        REQUIRE(htw_scheduler_get_stats(scheduler, &stats) == 0);
        sleep_ms(1);
    }
    return NULL;
}

static void users_allocator(void) {
    struct htw_allocator allocator = { allocate, release, NULL };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    pthread_t reading;
    options.allocator = &allocator;
    options.workers = 3;
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    REQUIRE(pthread_create(&reading, NULL, read_stats, scheduler) == 0);
    run_in_two_threads(schedule_parcels, scheduler);
    run_in_two_threads(schedule_or_cancel_keyed, scheduler);
    long visited = 0;
    run_in_two_threads(schedule_far, scheduler);
    pthread_join(reading, NULL);
    REQUIRE(htw_scheduler_stop(scheduler, visit_and_free, &visited) == 0);
    destroy_scheduler(scheduler);
}

/* usage: scheduler [callback | released]: that alone, or all but the latter */
int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "released") == 0) {
        back_from_released_memory();
        return 0;
    }
    to_a_callback();
    if (count == 2)
        return 0;
    back_by_a_cancel();
    by_key();
    from_run_to_run();
    groups();
    back_by_stop();
    users_allocator();
    return 0;
}
