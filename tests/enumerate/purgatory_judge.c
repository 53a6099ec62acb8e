/* SPDX-License-Identifier: MIT */
/* purgatory_judge.c - the hooks, and the judgement of each call. */
#include "purgatory_judge.h"

#include <htw/purgatory_inspect.h>

#include <errno.h>

struct judge *judge;

/* One processor, and the same order of keys each time: the library is linked to ask here (-Wl,--wrap). */
int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void) {
    return 0;
}

uint32_t __wrap_htw__cpu_count(uint32_t max);
uint32_t __wrap_htw__cpu_count(uint32_t max) {
    (void)max;
    return 1;
}

uint64_t __wrap_htw__random_seed(const void *owner);
uint64_t __wrap_htw__random_seed(const void *owner) {
    (void)owner;
    return 1;
}

void judge_fail(const char *message) {
    if (judge->message == NULL)
        judge->message = message;
}

#define REQUIRE(condition, message) ((condition) ? (void)0 : judge_fail(message))

/* Inside an advance it is that of the tick. */
static int64_t now_ns(void) {
    return htw_scheduler_now(judge->scheduler);
}

/* ---- hooks */

static void pause_here(void) {
    if (judge->present == NULL) {
        judge_fail("a hook outside all calls");
    } else if (judge->present->up_to_hook) {
        judge->present->is_alone = false;
        coroutine_pause();
    }
}

static void pause_in(struct waiter *waiter) {
    REQUIRE(!waiter->is_in_hook, "two threads are in hooks of one request");
    waiter->is_in_hook = true;
    pause_here();
    waiter->is_in_hook = false;
    REQUIRE(htw_request_is_pending(&waiter->request), "a request in a hook is not pending");
}

static bool try_complete(void *context, struct htw_request *request) {
    (void)context;
    struct waiter *waiter = waiter_of(request);
    bool is_ready = waiter->is_ready;
    REQUIRE(waiter->is_submitted, "a request is asked that is not submitted");
    REQUIRE(!waiter->said_yes && !waiter->has_ended, "a request is asked that has ended");
    waiter->asked++;
    waiter->said_yes = is_ready;
    judge->present->said_yes += is_ready;
    pause_in(waiter);
    return is_ready;
}

/* A request whose try_complete has returned true always ends with COMPLETED. */
static bool may_end(const struct waiter *waiter, enum htw_reason reason) {
    if (waiter->said_yes)
        return reason == HTW_REASON_COMPLETED;
    if (waiter->promised >= 0)
        return (int)reason == waiter->promised;
    if (reason == HTW_REASON_EXPIRED)
        return now_ns() >= waiter->not_before_ns;
    return (waiter->causes & 1u << reason) != 0;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    struct waiter *waiter = waiter_of(request);
    struct worker *worker = judge->present;
    REQUIRE(waiter->is_submitted && !waiter->has_ended, "a request ends twice");
    REQUIRE(may_end(waiter, reason), "a request ends for a reason without a cause");
    waiter->has_ended = true;
    judge->ends[reason]++;
    worker->ended++;
    if (waiter == &judge->waiters[worker->call.request] && waiter->lives == worker->life) {
        worker->has_ended_own = true;
        worker->reason = reason;
    }
    pause_in(waiter);
}

/* From here on it may be submitted again, by any thread. */
static void release(void *context, struct htw_request *request) {
    (void)context;
    struct waiter *waiter = waiter_of(request);
    REQUIRE(waiter->is_submitted && waiter->has_ended, "a request is released that has not ended");
    REQUIRE(!htw_request_is_pending(request), "a request that is released is pending");
    waiter->is_submitted = waiter->is_ready = false;
    pause_here();
}

void judge_set_hooks(struct htw_purgatory_options *options) {
    options->try_complete = try_complete;
    options->on_complete = on_complete;
    options->release = release;
}

/* ---- calls */

bool judge_is_making(enum call_kind kind) {
    for (const struct worker *worker = judge->workers; worker < judge->workers + WORKERS; worker++)
        if (coroutine_is_paused(worker->coroutine) && worker->call.kind == kind)
            return true;
    return false;
}

static bool is_on(const struct waiter *waiter, unsigned key) {
    return waiter->is_submitted && !waiter->has_ended && (waiter->keys & 1u << (key - 1)) != 0;
}

/* Before it is, it is asked once. */
static bool is_linked(const struct waiter *waiter) {
    return waiter->waits || waiter->asked > 1;
}

static void begin_submission(struct waiter *waiter, struct worker *worker) {
    const struct call *call = &worker->call;
    *waiter = (struct waiter) { .request = waiter->request,
                                .lives = waiter->lives + 1,
                                .is_submitted = true,
                                .is_ready = waiter->is_ready,
                                .keys = call->keys,
                                .promised = -1,
                                .arrival = ++judge->arrivals,
                                .not_before_ns = call->is_timed ? now_ns() + TICK_NS : HTW_NEVER_NS,
                                .by_ns = HTW_NEVER_NS };
    worker->life = waiter->lives;
    if (judge_is_making(CANCEL_KEY)) /* which may find it */
        waiter->causes |= 1u << HTW_REASON_CANCELLED;
}

/* A call that ends all requests on a key, or all, for a reason. One that is not linked yet may be missed. */
static void begin_end_of_all(struct worker *worker, enum htw_reason reason) {
    for (struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++) {
        if (worker->call.kind == CLOSE ? !waiter->is_submitted : !is_on(waiter, worker->call.keys))
            continue;
        waiter->causes |= 1u << reason;
        waiter->must_end |= is_linked(waiter);
        worker->waiting += is_linked(waiter) && !waiter->has_ended;
    }
}

static void begin_check(unsigned key) {
    for (struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++)
        waiter->must_end |= waiter->is_ready && is_on(waiter, key);
}

static void begin_advance(void) {
    judge->until_ns += TICK_NS;
    for (struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++) {
        waiter->must_end |= waiter->is_submitted && waiter->was_deferred && waiter->is_ready;
        waiter->was_deferred = false;
    }
}

void judge_call(struct worker *worker) {
    struct waiter *waiter = &judge->waiters[worker->call.request];
    worker->said_yes = worker->ended = worker->waiting = 0;
    worker->has_ended_own = false;
    worker->is_alone = true;
    worker->life = waiter->lives;
    for (const struct worker *other = judge->workers; other < judge->workers + WORKERS; other++)
        worker->is_alone &= !coroutine_is_paused(other->coroutine);
    switch (worker->call.kind) {
    case SUBMIT:
        begin_submission(waiter, worker);
        break;
    case CHECK:
        begin_check(worker->call.keys);
        break;
    case CHECK_LATER:
        break;
    case COMPLETE:
        waiter->causes |= 1u << HTW_REASON_COMPLETED;
        break;
    case CANCEL:
        waiter->causes |= 1u << HTW_REASON_CANCELLED;
        break;
    case CANCEL_KEY:
        begin_end_of_all(worker, HTW_REASON_CANCELLED);
        break;
    case ADVANCE:
        begin_advance();
        break;
    case CLOSE:
        judge->is_closed = true;
        begin_end_of_all(worker, HTW_REASON_CLOSED);
        break;
    }
}

static void judge_submission(const struct worker *worker, int64_t result) {
    struct waiter *waiter = &judge->waiters[worker->call.request];
    judge->submitted += result >= 0;
    if (result == HTW_FINISHED) {
        REQUIRE(worker->has_ended_own, "a submission has finished a request that has not ended");
        return;
    }
    REQUIRE(!worker->has_ended_own, "a submission has ended a request, and does not say so");
    if (result == HTW_WATCHED) {
        waiter->waits = true;
        waiter->by_ns = worker->call.is_timed ? now_ns() + TICK_NS : HTW_NEVER_NS;
        return;
    }
    REQUIRE(result == -ESHUTDOWN && judge->is_closed, "a submission is refused without a reason");
    waiter->is_submitted = waiter->is_ready = false;
}

/* One that waits, and no thread uses, is ended by the call; what the call promises comes true. */
static void judge_end(const struct worker *worker, bool result, enum htw_reason reason) {
    struct waiter *waiter = &judge->waiters[worker->call.request];
    REQUIRE(!worker->has_ended_own || (result && worker->reason == reason),
            "a call has ended a request, and does not say so");
    REQUIRE(result || !worker->is_alone, "a call has not ended a request that waits");
    if (!result || worker->has_ended_own || waiter->lives != worker->life)
        return;
    REQUIRE(waiter->is_in_hook && waiter->promised < 0 && !waiter->has_ended,
            "a call says that it ends a request that another one ends");
    waiter->promised = (int)reason;
    waiter->must_end = true;
}

static void judge_end_of_all(const struct worker *worker, int64_t result) {
    REQUIRE(result >= worker->ended && result <= WAITERS, "a call says a wrong number of ends");
    REQUIRE(!worker->is_alone || result == worker->waiting,
            "a call has not ended all requests that wait");
}

/* If time is passing, the check is made before that call returns. */
static void judge_deferred(unsigned key, int64_t result) {
    bool is_made_now = judge_is_making(ADVANCE);
    REQUIRE(result == 0 || (result == -ESHUTDOWN && judge->is_closed),
            "a check is refused without a reason");
    for (struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++) {
        bool concerns = result == 0 && is_on(waiter, key) && is_linked(waiter);
        waiter->was_deferred |= concerns && !is_made_now;
        waiter->must_end |= concerns && is_made_now && waiter->is_ready;
    }
}

void judge_result(const struct worker *worker, int64_t result) {
    switch (worker->call.kind) {
    case SUBMIT:
        judge_submission(worker, result);
        break;
    case CHECK:
        REQUIRE(result == worker->said_yes, "a check says a wrong number of requests");
        break;
    case CHECK_LATER:
        judge_deferred(worker->call.keys, result);
        break;
    case COMPLETE:
        judge_end(worker, result != 0, HTW_REASON_COMPLETED);
        break;
    case CANCEL:
        judge_end(worker, result != 0, HTW_REASON_CANCELLED);
        break;
    case CANCEL_KEY:
    case CLOSE:
        judge_end_of_all(worker, result);
        break;
    case ADVANCE:
        REQUIRE(result == 0, "time cannot advance");
        break;
    }
}

/* ---- when no thread is in a call */

unsigned judge_count_waiting(void) {
    unsigned count = 0;
    for (const struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++)
        count += waiter->is_submitted;
    return count;
}

static void judge_waiter(const struct waiter *waiter) {
    REQUIRE(htw_request_is_pending(&waiter->request) == waiter->is_submitted,
            "a request is pending, or is not");
    if (!waiter->is_submitted)
        return;
    REQUIRE(!waiter->said_yes, "a request has said yes, and waits");
    REQUIRE(!waiter->must_end && waiter->promised < 0, "an event is lost");
    REQUIRE(now_ns() < waiter->by_ns, "a timeout is lost");
    REQUIRE(!judge->is_closed, "a close is lost");
}

static void judge_stats(void) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    unsigned watched[KEYS] = { 0 }, timed = 0;
    for (const struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS;
         waiter++) {
        for (unsigned key = 0; key < KEYS; key++)
            watched[key] += is_on(waiter, key + 1);
        timed += waiter->is_submitted && waiter->by_ns != HTW_NEVER_NS;
    }
    for (unsigned key = 0; key < KEYS; key++)
        REQUIRE(htw_purgatory_count_key(judge->purgatory, &"AB"[key], 1) == watched[key],
                "a key counts other requests than wait on it");
    if (htw_purgatory_get_stats(judge->purgatory, &stats) != 0)
        judge_fail("there are no statistics");
    REQUIRE(stats.pending == judge_count_waiting(), "the wrong number of requests is pending");
    REQUIRE(stats.watched == watched[0] + watched[1], "the wrong number of watches");
    REQUIRE(stats.keys == (watched[0] > 0 ? 1u : 0u) + (watched[1] > 0 ? 1u : 0u),
            "the wrong number of keys");
    REQUIRE(stats.delayed == timed, "the wrong number of timeouts");
    REQUIRE(stats.submitted == judge->submitted, "the wrong number of submissions");
    REQUIRE(stats.completed == judge->ends[HTW_REASON_COMPLETED] &&
                stats.expired == judge->ends[HTW_REASON_EXPIRED] &&
                stats.cancelled == judge->ends[HTW_REASON_CANCELLED] &&
                stats.closed == judge->ends[HTW_REASON_CLOSED],
            "the wrong number of ends");
}

void judge_quiet(void) {
    for (const struct worker *worker = judge->workers; worker < judge->workers + WORKERS; worker++)
        if (coroutine_is_paused(worker->coroutine))
            return;
    for (const struct waiter *waiter = judge->waiters; waiter < judge->waiters + WAITERS; waiter++)
        judge_waiter(waiter);
    judge_stats();
    REQUIRE(now_ns() == judge->until_ns, "the time is wrong");
    REQUIRE(judge->memory.error == NULL, "memory is used wrongly");
}
