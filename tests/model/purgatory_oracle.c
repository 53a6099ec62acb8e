/* SPDX-License-Identifier: MIT */
/*
 * purgatory_oracle.c - the expected state of each request, and the comparison with what the hooks
 * saw.
 */
#include "purgatory_oracle.h"

#include <htw/loop.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model model;

void model_fail(const char *what, int line) {
    printf("model_purgatory: line %d: %s, in %s\n", line, what, model.doing);
    printf("model_purgatory: seed %" PRIu64 ", history %" PRIu64 ", step %" PRIu64 "\n", model.seed,
           model.history, model.step);
    printf("again with --seed %" PRIu64 " --first %" PRIu64 " --histories 1\n", model.seed,
           model.history);
    for (size_t i = 0; i < model.seen.count || i < model.expected.count; i++)
        printf("  seen %d %d, expected %d %d\n",
               i < model.seen.count ? (int)model.seen.list[i].number : -1,
               i < model.seen.count ? model.seen.list[i].what : -1,
               i < model.expected.count ? (int)model.expected.list[i].number : -1,
               i < model.expected.count ? model.expected.list[i].what : -1);
    exit(1);
}

/* ---- time: the library is linked to read the kernel's clocks from here (-Wl,--wrap) */

int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void);
uint32_t __wrap_htw__cpu_count(uint32_t max);

/* One processor: which one the thread is on matters to nothing. */
uint32_t __wrap_htw__cpu_count(uint32_t max) {
    (void)max;
    return 1;
}

/* Whether a clock is set now, or the thread is stopped. */
static bool is_to_tear(bool other_was_read) {
    return other_was_read && !model.is_torn && random_one_in(&model.tears, model.may_stop ? 8 : 50);
}

static void set_wall_clock(void) {
    model.wall_ns += random_one_in(&model.tears, 2) ? HTW_HOUR : -HTW_HOUR;
    model.is_torn = true;
}

/* By whole ticks. */
static void stop_thread(void) {
    int64_t stop_ns = (int64_t)random_below(&model.tears, 20) * TICK_NS;
    model.monotonic_ns += stop_ns;
    model.boottime_ns += stop_ns;
    model.wall_ns += stop_ns;
    model.is_torn = true;
}

/* At times the wall clock is set between a reading of it and the next of the monotonic one, or the thread is stopped there. */
int64_t __wrap_htw__clock_monotonic_ns(void) {
    if (is_to_tear(model.wall_was_read))
        model.may_stop ? stop_thread() : set_wall_clock();
    model.wall_was_read = false;
    model.monotonic_was_read = true;
    return model.monotonic_ns;
}

int64_t __wrap_htw__clock_boottime_ns(void);
int64_t __wrap_htw__clock_boottime_ns(void) {
    return model.boottime_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    if (model.may_stop && is_to_tear(model.monotonic_was_read))
        stop_thread();
    model.monotonic_was_read = false;
    model.wall_was_read = true;
    return model.wall_ns;
}

int64_t model_now_ns(void) {
    if (!model.by_kernel)
        return htw_scheduler_now(model.scheduler);
    return model.clock == HTW_CLOCK_BOOTTIME ? model.boottime_ns : model.monotonic_ns;
}

void model_run(void) {
    if (!model.by_kernel) {
        REQUIRE(htw_scheduler_advance(model.scheduler, 0) == 0);
        return;
    }
    do { /* what is due may make something due, and the kernel wakes a thread up when the wall clock was set */
        model.is_torn = false;
        REQUIRE(htw_scheduler_process(model.scheduler, 0, NULL) == HTW_DONE);
    } while (model.is_torn ||
             htw_scheduler_next(model.scheduler) <= htw_scheduler_now(model.scheduler));
}

void model_advance(int64_t delta_ns) {
    if (!model.by_kernel) {
        REQUIRE(htw_scheduler_advance(model.scheduler, delta_ns) == 0);
        return;
    }
    model.monotonic_ns += delta_ns;
    model_suspend(delta_ns);
}

void model_suspend(int64_t delta_ns) {
    model.boottime_ns += delta_ns;
    model.wall_ns += delta_ns;
    model_run();
}

void model_step_clock(int64_t delta_ns) {
    if (!model.by_kernel) {
        int64_t now_ns = htw_scheduler_now(model.scheduler);
        REQUIRE(htw_scheduler_set_clock(model.scheduler, HTW_CLOCK_DEFAULT, now_ns + delta_ns) ==
                0);
        return;
    }
    model.wall_ns += delta_ns;
    model_run(); /* the kernel wakes the scheduler up */
}

void events_add(struct events *events, const struct waiter *waiter, int what) {
    REQUIRE(events->count < EVENTS_MAX);
    events->list[events->count++] = (struct event) { waiter->number, what };
}

/* ---- hooks */

static struct waiter *waiter_of(struct htw_request *request) {
    return (struct waiter *)((char *)request - offsetof(struct waiter, request));
}

/* The second call comes too late: the first one decides. */
static void act(struct waiter *self, enum act_at at) {
    if (self->act_at != at || self->peer == NULL || !model.is_ordered)
        return;
    for (unsigned i = 0; i < 2; i++)
        if (self->act_completes == (i == 0))
            htw_request_complete(model.purgatory, &self->peer->request);
        else
            htw_request_cancel(model.purgatory, &self->peer->request);
}

bool model_try_complete(void *context, struct htw_request *request) {
    (void)context;
    events_add(&model.seen, waiter_of(request), ASKED);
    act(waiter_of(request), ACT_ASKED);
    return waiter_of(request)->ready;
}

static bool may_act(enum htw_reason reason) {
    return reason == HTW_REASON_COMPLETED || reason == HTW_REASON_CANCELLED;
}

void model_on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    struct waiter *self = waiter_of(request);
    (void)context;
    events_add(&model.seen, self, (int)reason);
    self->reason = reason;
    REQUIRE(htw_request_is_pending(request));
    if (reason == HTW_REASON_EXPIRED)
        REQUIRE(model_now_ns() >= self->deadline_ns);
    if (may_act(reason))
        act(self, ACT_ENDED);
}

void model_release(void *context, struct htw_request *request) {
    struct waiter *self = waiter_of(request);
    (void)context;
    events_add(&model.seen, self, RELEASED);
    REQUIRE(!htw_request_is_pending(request));
    if (may_act(self->reason))
        act(self, ACT_RELEASED);
}

void model_visit(void *context, struct htw_request *request) {
    (void)context;
    events_add(&model.seen, waiter_of(request), VISITED);
    act(waiter_of(request), ACT_VISITED);
}

/* ---- the oracle */

/* 16 of those that begin to wait in a millisecond are measured. After that, of those without a timeout only each 16th looks
   at the clock, and sees the next millisecond. What memory refuses may not come that far. */
bool expect_begin(bool is_timed) {
    int64_t now_ms = model.call_ns / HTW_MILLISECOND;
    bool looks = is_timed || model.begun < 16 || model.begun % 16 == 0;
    if (looks && now_ms != model.begun_ms) {
        model.begun_ms = now_ms;
        model.begun = 0;
    }
    return model.begun++ < 16 && looks && !model.refusing;
}

static void expect_wait(const struct waiter *waiter, enum htw_reason reason) {
    int64_t end_ns = model_now_ns();
    if (reason == HTW_REASON_EXPIRED)
        end_ns = model.is_stepped ? model.end_ns : waiter->due_ns;
    if (waiter->since_ns < 0)
        return;
    uint64_t ms = 0; /* if a clock was set back */
    if (end_ns > waiter->since_ns)
        ms = (uint64_t)(end_ns / HTW_MILLISECOND - waiter->since_ns / HTW_MILLISECOND);
    unsigned bucket = 0;
    while (bucket < HTW_PURGATORY_WAIT_BUCKETS - 1 && ms >= UINT64_C(1) << bucket)
        bucket++;
    model.most_waits[bucket]++;
    model.most_waited_ms += ms;
    if (!waiter->is_measured)
        return;
    model.least_waits[bucket]++;
    model.least_waited_ms += ms;
}

static void expect_act(const struct waiter *self, enum act_at at) {
    struct waiter *peer = self->peer;
    enum htw_reason reason = self->act_completes ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED;
    if (self->act_at != at || peer == NULL || !model.is_ordered)
        return;
    if (peer->is_asked)
        peer->marked = peer->marked < 0 ? (int)reason : peer->marked; /* the first one decides */
    else if (peer->pending)
        expect_end(peer, reason, false);
}

void expect_end(struct waiter *waiter, enum htw_reason reason, bool is_visited) {
    uint64_t *counters[] = { &model.counted.completed, &model.counted.expired,
                             &model.counted.cancelled, &model.counted.closed };
    waiter->pending = false;
    expect_wait(waiter, reason);
    ++*counters[reason];
    if (is_visited) {
        events_add(&model.expected, waiter, VISITED);
        expect_act(waiter, ACT_VISITED);
    }
    events_add(&model.expected, waiter, (int)reason);
    if (may_act(reason))
        expect_act(waiter, ACT_ENDED);
    if (!model.releases)
        return;
    events_add(&model.expected, waiter, RELEASED);
    if (may_act(reason))
        expect_act(waiter, ACT_RELEASED);
}

bool expect_ask(struct waiter *waiter) {
    if (!model.asks)
        return false;
    events_add(&model.expected, waiter, ASKED);
    waiter->is_asked = true;
    expect_act(waiter, ACT_ASKED);
    waiter->is_asked = false;
    return waiter->ready;
}

struct waiter *next_on_key(unsigned key, uint64_t arrival) {
    struct waiter *next = NULL;
    for (struct waiter *w = model.waiters; w < model.waiters + WAITERS; w++)
        if (w->pending && w->threshold < 0 && w->on_key[key] && w->arrival > arrival &&
            (next == NULL || w->arrival < next->arrival))
            next = w;
    return next;
}

static bool is_before(const struct waiter *one, const struct waiter *other) {
    return one->value < other->value ||
           (one->value == other->value && one->arrival < other->arrival);
}

struct waiter *next_on_threshold(size_t threshold, const struct waiter *last) {
    struct waiter *next = NULL;
    for (struct waiter *w = model.waiters; w < model.waiters + WAITERS; w++)
        if (w->pending && w->threshold == (int)threshold && (last == NULL || is_before(last, w)) &&
            (next == NULL || is_before(w, next)))
            next = w;
    return next;
}

int64_t expect_check(unsigned key, uint64_t max) {
    int64_t ended = 0;
    uint64_t arrival = 0;
    for (struct waiter *w; (uint64_t)ended < max && (w = next_on_key(key, arrival)) != NULL;) {
        arrival = w->arrival;
        bool is_ready = expect_ask(w);
        ended += is_ready; /* one that its hook has marked is not of the check */
        if (is_ready || w->marked >= 0)
            expect_end(w, is_ready ? HTW_REASON_COMPLETED : (enum htw_reason)w->marked, false);
    }
    return ended;
}

static int compare_numbers(const void *one, const void *other) {
    const struct event *a = one, *b = other;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0;
}

/* Stable, so that the events of one request stay in their order. */
static void sort_events(struct events *events) {
    for (size_t i = 1; i < events->count; i++)
        for (size_t j = i; j > 0 && compare_numbers(&events->list[j - 1], &events->list[j]) > 0;
             j--) {
            struct event event = events->list[j];
            events->list[j] = events->list[j - 1];
            events->list[j - 1] = event;
        }
}

void compare_events(bool ordered) {
    if (!ordered) {
        sort_events(&model.seen);
        sort_events(&model.expected);
    }
    REQUIRE(model.seen.count == model.expected.count);
    REQUIRE(memcmp(model.seen.list, model.expected.list,
                   model.seen.count * sizeof(model.seen.list[0])) == 0);
    model.seen.count = model.expected.count = 0;
}

void compare_stats(void) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    bool keys[KEYS] = { false };
    model.counted.pending = model.counted.delayed = model.counted.watched = model.counted.keys = 0;
    for (const struct waiter *w = model.waiters; w < model.waiters + WAITERS; w++) {
        REQUIRE(htw_request_is_pending(&w->request) == w->pending);
        if (!w->pending)
            continue;
        model.counted.pending++;
        model.counted.delayed += w->deadline_ns != HTW_NEVER_NS;
        for (unsigned key = 0; key < KEYS && w->threshold < 0; key++) {
            model.counted.watched += w->on_key[key];
            model.counted.keys += w->on_key[key] && !keys[key];
            keys[key] |= w->on_key[key];
        }
    }
    REQUIRE(htw_purgatory_get_stats(model.purgatory, &stats) == 0);
    REQUIRE(stats.memory_bytes == model.memory.live_bytes);
    REQUIRE(htw_pending(model.scheduler) == stats.alarms + (model.stranger != 0));
    model.counted.alarms = stats.alarms;
    model.counted.memory_bytes = stats.memory_bytes;
    model.counted.struct_size = stats.struct_size;
    for (unsigned i = 0; i < HTW_PURGATORY_WAIT_BUCKETS; i++) {
        REQUIRE(stats.waits[i] >= model.least_waits[i] && stats.waits[i] <= model.most_waits[i]);
        model.counted.waits[i] = stats.waits[i];
    }
    REQUIRE(stats.waited_ms >= model.least_waited_ms && stats.waited_ms <= model.most_waited_ms);
    model.counted.waited_ms = stats.waited_ms;
    REQUIRE(memcmp(&stats, &model.counted, sizeof(stats)) == 0);
    REQUIRE(model.memory.error == NULL);
}
