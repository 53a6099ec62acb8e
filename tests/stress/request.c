/* SPDX-License-Identifier: MIT */
/* request.c - the hooks of a request, and the calls that check what happened in them. */
#include "request.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define LIVE UINT64_C(0x4c49564552455155)
#define DEAD UINT64_C(0xdeadbeefdeadbeef)

/* A call of the library by this thread, and what has happened in it: not in calls that hooks
   have made in their turn, which have a frame of their own. */
struct frame {
    struct frame *outer;
    const struct stress_request *submitting;
    uint64_t asked, ready, visited, ended[4], last_value;
    uint64_t inside; /* so many more may end for checks that hooks have made meanwhile */
    bool released;   /* the request that is being submitted */
};

static _Thread_local struct frame *frame;
static _Thread_local unsigned depth;

static void enter(struct frame *inner, const struct stress_request *submitting) {
    *inner = (struct frame) { .outer = frame, .submitting = submitting };
    frame = inner;
}

static void leave(struct frame *inner) {
    CHECK(frame == inner);
    frame = inner->outer;
}

unsigned stress_depth(void) {
    return depth;
}

/* ---- hooks */

/* Relaxed, so as not to order anything that the library has to order. */
static void enter_hook(struct stress_request *request) {
    CHECK(atomic_load_explicit(&request->magic, memory_order_relaxed) == LIVE);
    CHECK_EQUAL(atomic_exchange_explicit(&request->inside, 1, memory_order_relaxed), 0);
    CHECK(htw_request_is_pending(&request->request));
    depth++;
}

static void leave_hook(struct stress_request *request) {
    CHECK_EQUAL(atomic_exchange_explicit(&request->inside, 0, memory_order_relaxed), 1);
    depth--;
}

static bool ask(void *context, struct htw_request *base) {
    struct stress_request *request = (struct stress_request *)base;
    enter_hook(request);
    CHECK(request->home == context);
    CHECK(!request->said_yes && !request->visited && !request->ended);
    request->asked++;
    if (frame != NULL)
        frame->asked++;
    request->said_yes = request->home->hooks.ask(request);
    bool answer = request->said_yes;
    if (frame != NULL)
        frame->ready += answer;
    leave_hook(request);
    return answer;
}

static void visit(void *context, struct htw_request *base) {
    struct stress_request *request = (struct stress_request *)base;
    enter_hook(request);
    CHECK(request->home == context);
    CHECK(!request->said_yes && !request->visited && !request->ended);
    request->visited = true;
    frame->visited++;
    leave_hook(request);
}

static void check_reason(const struct stress_request *request, enum htw_reason reason) {
    CHECK(reason <= HTW_REASON_CLOSED);
    CHECK(!request->ended);
    if (request->said_yes)
        CHECK_EQUAL(reason, HTW_REASON_COMPLETED);
    if (request->visited)
        CHECK(reason == HTW_REASON_CANCELLED || reason == HTW_REASON_CLOSED);
    if (reason == HTW_REASON_EXPIRED) {
        int64_t earliest_ns = atomic_load_explicit(&request->earliest_ns, memory_order_relaxed);
        CHECK(earliest_ns != HTW_NEVER_NS);
        CHECK(htw_scheduler_now(request->home->scheduler) >= earliest_ns);
    }
    if (reason == HTW_REASON_CLOSED)
        CHECK(atomic_load_explicit(&request->home->closing, memory_order_relaxed));
}

static void end(void *context, struct htw_request *base, enum htw_reason reason) {
    struct stress_request *request = (struct stress_request *)base;
    enter_hook(request);
    CHECK(request->home == context);
    check_reason(request, reason);
    request->ended = true;
    request->reason = reason;
    if (frame != NULL)
        frame->ended[reason]++;
    atomic_fetch_add_explicit(&request->home->ended[reason], 1, memory_order_relaxed);
    if (request->home->hooks.end != NULL)
        request->home->hooks.end(request, reason);
    leave_hook(request);
}

static void release(void *context, struct htw_request *base) {
    struct stress_request *request = (struct stress_request *)base;
    struct stress_purgatory *home = context;
    CHECK(atomic_load_explicit(&request->magic, memory_order_relaxed) == LIVE);
    CHECK_EQUAL(atomic_load_explicit(&request->inside, memory_order_relaxed), 0);
    CHECK(!htw_request_is_pending(base));
    CHECK(request->home == home);
    CHECK(request->ended);
    if (frame != NULL && frame->submitting == request)
        frame->released = true;
    depth++;
    home->hooks.release(request);
    depth--;
    atomic_fetch_add_explicit(&home->released, 1, memory_order_release);
}

void stress_purgatory_options(struct stress_purgatory *home,
                              struct htw_purgatory_options *options) {
    options->try_complete = ask;
    options->on_complete = end;
    options->release = release;
    options->context = home;
}

/* ---- requests */

void *stress_request_create(struct stress_purgatory *home, size_t size) {
    struct stress_request *request = malloc(size);
    CHECK(request != NULL);
    memset(request, 0, size);
    atomic_init(&request->magic, LIVE);
    request->home = home;
    return request;
}

void stress_request_free(struct stress_request *request) {
    CHECK(!htw_request_is_pending(&request->request));
    CHECK(atomic_exchange_explicit(&request->magic, DEAD, memory_order_relaxed) == LIVE);
    free(request);
}

static int64_t expiry_ns(int64_t now_ns, int64_t timeout_ns) {
    if (timeout_ns >= HTW_NEVER_NS - now_ns)
        return HTW_NEVER_NS;
    return now_ns + (timeout_ns > 0 ? timeout_ns : 0);
}

static void set_earliest(struct stress_request *request, int64_t time_ns) {
    atomic_store_explicit(&request->earliest_ns, time_ns, memory_order_relaxed);
}

static void prepare(struct stress_request *request, int64_t timeout_ns) {
    int64_t now_ns = htw_scheduler_now(request->home->scheduler);
    request->asked = 0;
    request->said_yes = request->visited = request->ended = false;
    set_earliest(request, expiry_ns(now_ns, timeout_ns));
}

/* Unless it was refused, the request may not be touched any more. */
static int submitted(struct stress_purgatory *home, struct stress_request *request,
                     const struct frame *inner, int result) {
    CHECK_EQUAL(inner->released, result == HTW_FINISHED);
    if (result < 0) {
        CHECK(result == -ESHUTDOWN || result == -EAGAIN || result == -ENOMEM);
        CHECK(result != -ENOMEM || atomic_load(&home->may_fail));
        CHECK(!request->said_yes && !request->visited && !request->ended);
        CHECK(!htw_request_is_pending(&request->request));
        atomic_fetch_add_explicit(&home->refused, 1, memory_order_relaxed);
    } else {
        CHECK(result == HTW_WATCHED || result == HTW_FINISHED);
        atomic_fetch_add_explicit(&home->submitted, 1, memory_order_relaxed);
    }
    return result;
}

#define KEYS_MAX 16u

int stress_submit(struct stress_request *request, const uint64_t *keys, size_t key_count,
                  int64_t timeout_ns) {
    struct stress_purgatory *home = request->home;
    struct stress_key bytes[KEYS_MAX];
    struct htw_key places[KEYS_MAX];
    CHECK(key_count <= KEYS_MAX);
    for (size_t i = 0; i < key_count; i++) {
        bytes[i] = stress_key(keys[i]);
        places[i] = (struct htw_key) { bytes[i].bytes, bytes[i].size };
    }
    prepare(request, timeout_ns);
    struct frame inner;
    enter(&inner, request);
    int result = htw_purgatory_try_complete_else_watch(home->purgatory, &request->request, places,
                                                       key_count, timeout_ns);
    leave(&inner);
    return submitted(home, request, &inner, result);
}

int stress_await_value(struct stress_request *request, struct htw_threshold *threshold,
                       uint64_t value, int64_t timeout_ns) {
    struct stress_purgatory *home = request->home;
    prepare(request, timeout_ns);
    struct frame inner;
    enter(&inner, request);
    int result = htw_threshold_await(threshold, &request->request, value, timeout_ns);
    leave(&inner);
    CHECK_EQUAL(inner.asked, 0);
    return submitted(home, request, &inner, result);
}

/* ---- calls */

struct stress_key stress_key(uint64_t number) {
    static const size_t sizes[] = { 8, 16, 17, 40 };
    struct stress_key key = { .size = sizes[number % 4] };
    for (size_t i = 0; i < key.size; i++)
        key.bytes[i] = (unsigned char)(number >> (8 * (i % 8)));
    return key;
}

int64_t stress_check(struct stress_purgatory *home, uint64_t number, uint64_t max) {
    struct stress_key key = stress_key(number);
    struct frame inner;
    for (struct frame *outer = frame; outer != NULL; outer = outer->outer)
        outer->inside = max > STRESS_ALL - outer->inside ? STRESS_ALL : outer->inside + max;
    enter(&inner, NULL);
    int64_t result = max == STRESS_ALL
                         ? htw_purgatory_check(home->purgatory, key.bytes, key.size)
                         : htw_purgatory_check_at_most(home->purgatory, key.bytes, key.size, max);
    leave(&inner);
    CHECK_EQUAL(result, inner.ready);
    CHECK(inner.ended[HTW_REASON_COMPLETED] >= inner.ready); /* the others had a mark */
    CHECK((uint64_t)result <= max || (uint64_t)result - max <= inner.inside);
    CHECK(max > 0 || inner.asked == 0);
    return result;
}

int stress_check_later(struct stress_purgatory *home, uint64_t number) {
    struct stress_key key = stress_key(number);
    struct frame inner;
    enter(&inner, NULL);
    int result = htw_purgatory_check_later(home->purgatory, key.bytes, key.size);
    leave(&inner);
    CHECK_EQUAL(inner.asked + inner.ended[HTW_REASON_COMPLETED], 0);
    if (result != 0) {
        CHECK(result == -ENOMEM || result == -EAGAIN || result == -ESHUTDOWN);
        CHECK(result != -ENOMEM || atomic_load(&home->may_fail));
    }
    return result;
}

/* So many requests end as cancelled, unless their `try_complete` says yes. */
static void promise(struct stress_purgatory *home, int64_t cancelled) {
    atomic_fetch_add_explicit(&home->promised, (uint64_t)cancelled, memory_order_relaxed);
}

int64_t stress_cancel_key(struct stress_purgatory *home, uint64_t number) {
    struct stress_key key = stress_key(number);
    struct frame inner;
    enter(&inner, NULL);
    int64_t result = htw_purgatory_cancel_key(home->purgatory, key.bytes, key.size, visit, home);
    leave(&inner);
    CHECK(result >= 0 && (uint64_t)result >= inner.visited); /* the others are marked */
    CHECK_EQUAL(inner.visited, inner.ended[HTW_REASON_CANCELLED]);
    CHECK_EQUAL(inner.asked, 0);
    promise(home, result);
    return result;
}

int64_t stress_close(struct stress_purgatory *home) {
    struct frame inner;
    atomic_store_explicit(&home->closing, true, memory_order_relaxed);
    enter(&inner, NULL);
    int64_t result = htw_purgatory_close(home->purgatory, visit, home);
    leave(&inner);
    CHECK(result >= 0 && (uint64_t)result >= inner.visited); /* the others are marked */
    CHECK_EQUAL(inner.visited, inner.ended[HTW_REASON_CLOSED]);
    CHECK_EQUAL(inner.asked, 0);
    return result;
}

/* A call about one request has ended that or none, and asked nothing. */
static void check_alone(const struct frame *inner, enum htw_reason reason, bool result) {
    uint64_t ended = 0;
    for (unsigned i = 0; i < 4; i++)
        ended += inner->ended[i];
    CHECK_EQUAL(ended, inner->ended[reason]);
    CHECK(ended <= (result ? 1 : 0));
    CHECK_EQUAL(inner->asked, 0);
}

bool stress_complete(struct stress_request *request) {
    struct frame inner;
    enter(&inner, NULL);
    bool result = htw_request_complete(request->home->purgatory, &request->request);
    leave(&inner);
    check_alone(&inner, HTW_REASON_COMPLETED, result);
    return result;
}

bool stress_cancel(struct stress_request *request) {
    struct frame inner;
    enter(&inner, NULL);
    struct stress_purgatory *home = request->home;
    bool result = htw_request_cancel(home->purgatory, &request->request);
    leave(&inner);
    promise(home, result);
    check_alone(&inner, HTW_REASON_CANCELLED, result);
    return result;
}

/* While the call runs, the earlier of the two may count. */
void stress_set_timeout(struct stress_request *request, int64_t timeout_ns) {
    struct stress_purgatory *home = request->home;
    if (atomic_exchange_explicit(&request->is_moving, true, memory_order_acquire))
        return;
    int64_t before_ns = atomic_load_explicit(&request->earliest_ns, memory_order_relaxed);
    int64_t then_ns = expiry_ns(htw_scheduler_now(home->scheduler), timeout_ns);
    set_earliest(request, before_ns < then_ns ? before_ns : then_ns);
    stress_dawdle();
    int result = htw_request_set_timeout(home->purgatory, &request->request, timeout_ns);
    CHECK(result == 0 || result == -ENOENT || result == -EAGAIN ||
          (result == -ENOMEM && atomic_load(&home->may_fail)));
    stress_dawdle();
    set_earliest(request, result == 0 ? then_ns : before_ns);
    atomic_store_explicit(&request->is_moving, false, memory_order_release);
}

int64_t stress_advance(struct stress_purgatory *home, struct htw_threshold *threshold,
                       uint64_t value) {
    (void)home;
    struct frame inner;
    enter(&inner, NULL);
    int64_t result = htw_threshold_advance(threshold, value);
    leave(&inner);
    CHECK(result >= 0 && (uint64_t)result >= inner.ended[HTW_REASON_COMPLETED]);
    CHECK_EQUAL(inner.asked, 0);
    return result;
}

int64_t stress_end_all(struct stress_purgatory *home, struct htw_threshold *threshold,
                       enum htw_reason reason) {
    struct frame inner;
    enter(&inner, NULL);
    int64_t result = htw_threshold_end_all(threshold, reason,
                                           reason == HTW_REASON_CANCELLED ? visit : NULL, home);
    leave(&inner);
    CHECK(result >= 0 && (uint64_t)result >= inner.ended[reason]);
    CHECK_EQUAL(inner.visited, reason == HTW_REASON_CANCELLED ? inner.ended[reason] : 0);
    CHECK_EQUAL(inner.asked, 0);
    if (reason == HTW_REASON_CANCELLED)
        promise(home, result);
    return result;
}

void stress_in_order(uint64_t value) {
    if (frame == NULL || frame->submitting != NULL)
        return;
    CHECK(value >= frame->last_value);
    frame->last_value = value;
}

/* ---- threads */

struct random_source *stress_own_random(void) {
    static _Atomic uint64_t threads = 1000;
    static _Thread_local struct random_source random;
    static _Thread_local bool is_seeded;
    if (!is_seeded) {
        random = stress_random(atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed));
        is_seeded = true;
    }
    return &random;
}

void stress_dawdle(void) {
    struct random_source *random = stress_own_random();
    switch (random_below(random, 8)) {
    case 0:
        sched_yield();
        break;
    case 1:
    case 2: {
        uint64_t spins = random_below(random, 1000);
        for (volatile uint64_t i = 0; i < spins; i++)
            ;
        break;
    }
    default:
        break;
    }
}
