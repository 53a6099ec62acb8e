/* SPDX-License-Identifier: MIT */
/*
 * test_limits.c - limits of the process are lowered while scheduler, purgatory and journal are in use, as a sandbox does after
 * it has opened what it needs. What was armed or put before runs, a call either works or changes nothing, and the end
 * is clean. (The monitor: tests/unit/monitor/test_limits.c. Commands: tests/cmd/. Limits on the size of files:
 * test_journal_full.c.)
 */
#include "../unit/unit.h"

#ifdef HTW_HAS_JOURNAL
#include <htw/journal.h>
#endif
#include <htw/purgatory.h>
#include <htw/scheduler.h>

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers map terabytes, so that limits of memory would end them and not the library. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

#define TIMERS 2000

#ifdef __GLIBC__
typedef __rlimit_resource_t limit_name;
#else
typedef int limit_name;
#endif

static const struct {
    limit_name limit;
    rlim_t value;
    bool is_of_memory;
} limits[] = {
    { RLIMIT_NOFILE, 0, false },        { RLIMIT_NPROC, 0, false }, { RLIMIT_MEMLOCK, 0, false },
    { RLIMIT_STACK, 256 << 10, false }, { RLIMIT_AS, 0, true },     { RLIMIT_DATA, 0, true },
};

/* Lowers a limit, and returns what it was. Only the soft limit: it can be raised again. */
static struct rlimit lower(size_t i) {
    struct rlimit before, after;
    assert_int_equal(getrlimit(limits[i].limit, &before), 0);
    after = before;
    after.rlim_cur = limits[i].value;
    assert_int_equal(setrlimit(limits[i].limit, &after), 0);
    return before;
}

static void raise_again(size_t i, struct rlimit before) {
    assert_int_equal(setrlimit(limits[i].limit, &before), 0);
}

static bool is_tried(size_t i) {
    return !(HAS_SANITIZER && limits[i].is_of_memory);
}

/* ---- the scheduler */

static _Atomic unsigned fired;

static void count(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    atomic_fetch_add(&fired, 1);
}

static void await_fired(unsigned wanted) {
    while (atomic_load(&fired) < wanted)
        sched_yield();
    assert_int_equal(atomic_load(&fired), wanted);
}

/* Arms some timers, some of them far away, which are cancelled. Returns how many will fire. */
static unsigned arm_some(struct htw_scheduler *scheduler) {
    unsigned armed = 0;
    for (unsigned i = 0; i < TIMERS; i++) {
        htw_handle handle;
        bool is_far = i % 2 == 0;
        int error = htw_schedule(scheduler, is_far ? HTW_HOUR : (i % 50) * HTW_MILLISECOND, count,
                                 NULL, &handle);
        if (error != 0)
            assert_int_equal(error, -ENOMEM);
        else if (!is_far)
            armed++;
        else
            assert_int_equal(htw_cancel(scheduler, handle), HTW_CANCELLED);
    }
    return armed;
}

/* A clock that was not used yet needs a file descriptor. */
static unsigned arm_by_another_clock(struct htw_scheduler *scheduler) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.clock = HTW_CLOCK_REALTIME;
    spec.when_ns = HTW_MILLISECOND;
    spec.callback = count;
    int error = htw_schedule_spec(scheduler, &spec, NULL, NULL);
    assert_true(error == 0 || error == -EMFILE || error == -ENOMEM);
    return error == 0;
}

UNIT_TEST(limits_that_are_lowered_stop_no_scheduler) {
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        if (!is_tried(i))
            continue;
        struct htw_scheduler *scheduler;
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.workers = 2;
        atomic_store(&fired, 0);
        assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
        unsigned armed = arm_some(scheduler);
        assert_int_equal(armed, TIMERS / 2);
        struct rlimit before = lower(i);
        armed += arm_some(scheduler);
        armed += arm_by_another_clock(scheduler);
        await_fired(armed);
        armed += arm_some(scheduler);
        raise_again(i, before);
        armed += arm_by_another_clock(scheduler);
        assert_int_equal(arm_some(scheduler), TIMERS / 2);
        await_fired(armed + TIMERS / 2);
        before = lower(i);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        raise_again(i, before);
    }
}

/* ---- the purgatory */

static _Atomic unsigned ended[HTW_REASON_CLOSED + 1];

static void end(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request;
    atomic_fetch_add(&ended[reason], 1);
}

/* Half of them expire, the others are completed by their key. Returns how many wait, or have ended meanwhile. */
static unsigned watch_some(struct htw_purgatory *purgatory, struct htw_request *requests) {
    unsigned watched = 0;
    for (unsigned i = 0; i < TIMERS; i++) {
        const struct htw_key key = { &i, sizeof(i) };
        bool is_far = i % 2 == 0;
        htw_request_init(&requests[i]);
        int outcome = htw_purgatory_try_complete_else_watch(
            purgatory, &requests[i], &key, 1, is_far ? HTW_HOUR : (i % 50) * HTW_MILLISECOND);
        if (outcome < 0)
            assert_int_equal(outcome, -ENOMEM);
        else
            watched++;
        if (outcome == HTW_WATCHED && is_far)
            assert_true(htw_request_complete(purgatory, &requests[i]));
    }
    return watched;
}

static void await_ended(unsigned wanted) {
    while (atomic_load(&ended[HTW_REASON_COMPLETED]) + atomic_load(&ended[HTW_REASON_EXPIRED]) <
           wanted)
        sched_yield();
}

UNIT_TEST(limits_that_are_lowered_stop_no_purgatory) {
    static struct htw_request requests[4][TIMERS];
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        if (!is_tried(i))
            continue;
        struct htw_scheduler *scheduler;
        struct htw_purgatory *purgatory;
        struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
        struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
        options.on_complete = end;
        for (size_t j = 0; j < COUNT_OF(ended); j++)
            atomic_store(&ended[j], 0);
        assert_int_equal(htw_scheduler_create(&scheduler, NULL), 0);
        assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
        unsigned watched = watch_some(purgatory, requests[0]);
        assert_int_equal(watched, TIMERS);
        struct rlimit before = lower(i);
        watched += watch_some(purgatory, requests[1]);
        await_ended(watched);
        watched += watch_some(purgatory, requests[2]);
        raise_again(i, before);
        unsigned last = watch_some(purgatory, requests[3]);
        assert_int_equal(last, TIMERS);
        await_ended(watched + last);
        htw_purgatory_get_stats(purgatory, &stats);
        assert_int_equal(stats.submitted, watched + last);
        assert_int_equal(stats.pending, 0);
        before = lower(i);
        assert_int_equal(htw_purgatory_destroy(purgatory), 0);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
        raise_again(i, before);
        assert_int_equal(ended[HTW_REASON_CANCELLED] + ended[HTW_REASON_CLOSED], 0);
    }
}

/* ---- the journal */

#ifdef HTW_HAS_JOURNAL

static _Atomic unsigned delivered;

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context, (void)delivery;
    atomic_fetch_add(&delivered, 1);
}

/* Returns how many were put. Each that was refused has changed nothing. */
static unsigned put_some(struct htw_journal *journal, bool *ret_has_stopped) {
    unsigned count = 0;
    for (unsigned i = 0; i < 50; i++) {
        uint64_t id;
        int error = htw_journal_put(journal, 0, "x", 1, &id);
        *ret_has_stopped = error == -EIO;
        count += error == 0;
        if (error != 0 && error != -ENOMEM && error != -ENOSPC && error != -EIO)
            fail_msg("%d: %s", error, htw_journal_error());
    }
    return count;
}

UNIT_TEST(limits_that_are_lowered_lose_no_job_of_a_journal) {
    char folder[] = "/tmp/htw-limits-XXXXXX", path[64], command[96];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        if (!is_tried(i))
            continue;
        struct htw_scheduler *scheduler;
        struct htw_journal *journal;
        struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
        bool has_stopped;
        options.deliver = deliver;
        atomic_store(&delivered, 0);
        snprintf(path, sizeof(path), "%s/%zu.journal", folder, i);
        assert_int_equal(htw_scheduler_create(&scheduler, NULL), 0);
        assert_int_equal(htw_journal_open(&journal, scheduler, path, &options), 0);
        unsigned put = put_some(journal, &has_stopped);
        assert_int_equal(put, 50);
        struct rlimit before = lower(i);
        put += put_some(journal, &has_stopped);
        raise_again(i, before);
        if (!has_stopped)
            put += put_some(journal, &has_stopped);
        htw_journal_close(journal);
        /* None of them was ended: all are delivered by the next one. */
        atomic_store(&delivered, 0);
        assert_int_equal(htw_journal_open(&journal, scheduler, path, &options), 0);
        while (atomic_load(&delivered) < put)
            sched_yield();
        assert_int_equal(htw_journal_close(journal), 0);
        assert_int_equal(atomic_load(&delivered), put);
        assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

#endif
