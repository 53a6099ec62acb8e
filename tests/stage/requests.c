/* SPDX-License-Identifier: MIT */
/*
 * requests.c - threads submit requests, put items into the queues that the requests wait for, and end requests, also in
 * hooks: each request ends once, for a reason that there is, and no request waits where an item is.
 *
 * The life of a request is: asked any number of times, by one thread at a time; ended once; released. What the hooks write
 * is not atomic, so that a sanitizer sees where the library does not order them.
 *
 * A thread that completes or cancels a request which it has not submitted pins it, and its release waits for other threads'
 * pins: the call is allowed until then. That is not for long: a call that does not end the request, because another has,
 * returns at once.
 */
/* holds: purgatory-1, purgatory-3, purgatory-4, purgatory-9, purgatory-10, purgatory-12, purgatory-15, purgatory-19, purgatory-21,
   purgatory-24, purgatory-25 */
#include "scenes.h"

#include <htw/purgatory_inspect.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { REQUESTS = 256, KEYS = 24, KEYS_MAX = 4, DEPTH_MAX = 3, TRIES = 30000 };
enum {
    CLAIMED = 1,
    OPEN = 2,
    LEFT = 4,
    PIN = 8
}; /* LEFT: released, but for a pin of the thread that has released it */

struct request {
    struct htw_request request;
    _Atomic unsigned word; /* 0: free */
    _Atomic bool is_inside, is_moving;
    _Atomic int64_t earliest_ns;        /* it may not expire before */
    unsigned keys[KEYS_MAX], key_count; /* 0: it waits for a value of the threshold */
    bool said_yes, has_ended;
};

struct requests requests;
static struct request all[REQUESTS];
static struct htw_threshold *threshold;
static _Atomic unsigned items[KEYS];
static _Atomic uint64_t completing,
    cancelling;               /* how many requests the calls have promised to end so */
static bool is_gone;          /* the purgatory is */
static uint64_t memory_bytes; /* of a new purgatory */
static _Thread_local struct request *pinned;
static _Thread_local unsigned depth; /* hooks that this thread is in */

static uint64_t number_of(const struct request *request) {
    return (uint64_t)(request - all);
}

static void add(_Atomic uint64_t *counter, uint64_t count) {
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

static void dawdle(void) {
    if (random_one_in(stage_random(), 32))
        stage_sleep_ns((int64_t)random_below(stage_random(), 100 * HTW_MICROSECOND));
}

/* Some keys are short, some long. */
struct name {
    unsigned char bytes[40];
    size_t size;
};

static struct name name_of(unsigned key) {
    static const size_t sizes[] = { 8, 16, 17, 40 };
    struct name name = { .size = sizes[key % 4] };
    memset(name.bytes, (int)key, name.size);
    return name;
}

/* ---- pins */

/* NULL: none was found. One at a time. */
static struct request *pin(struct random_source *random) {
    uint64_t from = random_below(random, REQUESTS);
    for (unsigned i = 0; i < 64 && pinned == NULL; i++) {
        struct request *request = &all[(from + i) % REQUESTS];
        unsigned word = atomic_load(&request->word);
        if ((word & OPEN) && atomic_compare_exchange_strong(&request->word, &word, word + PIN))
            return pinned = request;
    }
    return NULL;
}

static void unpin(void) {
    struct request *request = pinned;
    pinned = NULL;
    if (atomic_fetch_sub(&request->word, PIN) & LEFT)
        atomic_store(&request->word, 0);
}

/* Allows no new pins, and waits for those of other threads. */
static void shut(struct request *request) {
    unsigned own = pinned == request ? PIN : 0;
    atomic_fetch_and(&request->word, ~(unsigned)OPEN);
    for (unsigned tries = 0; atomic_load(&request->word) / PIN * PIN != own; tries++) {
        REQUIRE(tries < TRIES);
        stage_sleep_ns(HTW_MILLISECOND);
    }
}

static struct request *claim(struct random_source *random) {
    uint64_t from = random_below(random, REQUESTS);
    for (unsigned i = 0; i < 16; i++) {
        struct request *request = &all[(from + i) % REQUESTS];
        unsigned free = 0;
        if (atomic_compare_exchange_strong(&request->word, &free, CLAIMED))
            return request;
    }
    return NULL;
}

static void leave(struct request *request) {
    if (pinned == request)
        atomic_fetch_or(&request->word, LEFT);
    else
        atomic_store(&request->word, 0);
}

/* ---- hooks */

static void enter_hook(struct request *request) {
    REQUIRE(!is_gone && htw_request_is_pending(&request->request));
    REQUIRE(!atomic_exchange_explicit(&request->is_inside, true, memory_order_relaxed));
    depth++;
    dawdle();
}

static void leave_hook(struct request *request) {
    dawdle();
    depth--;
    REQUIRE(!is_gone && atomic_exchange_explicit(&request->is_inside, false, memory_order_relaxed));
}

static void act(struct random_source *random);

static void play(void) {
    struct random_source *random = stage_random();
    bool is_open = !atomic_load_explicit(&requests.is_closing, memory_order_relaxed);
    if (depth >= DEPTH_MAX || !random_one_in(random, 32))
        return;
    if (random_one_in(random, 8))
        REQUIRE(htw_purgatory_destroy(requests.purgatory) == -EDEADLK);
    else if (is_open)
        act(random);
}

static bool take_item(unsigned key) {
    unsigned count = atomic_load_explicit(&items[key], memory_order_relaxed);
    while (count > 0)
        if (atomic_compare_exchange_weak_explicit(&items[key], &count, count - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

static bool try_complete(void *context, struct htw_request *base) {
    struct request *request = (struct request *)(void *)base;
    (void)context;
    enter_hook(request);
    REQUIRE(!request->said_yes && !request->has_ended && request->key_count > 0);
    atomic_fetch_or(&request->word, OPEN);
    play();
    for (unsigned i = 0; i < request->key_count && !request->said_yes; i++)
        request->said_yes = take_item(request->keys[i]);
    bool answer = request->said_yes;
    add(&completing, answer);
    leave_hook(request);
    return answer;
}

static void on_complete(void *context, struct htw_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)(void *)base;
    int64_t earliest_ns = atomic_load_explicit(&request->earliest_ns, memory_order_relaxed);
    (void)context;
    stage_note("ends", number_of(request), reason);
    enter_hook(request);
    REQUIRE(!request->has_ended && reason <= HTW_REASON_CLOSED);
    REQUIRE(!request->said_yes || reason == HTW_REASON_COMPLETED);
    REQUIRE(reason != HTW_REASON_CLOSED ||
            atomic_load_explicit(&requests.is_closing, memory_order_relaxed));
    if (reason == HTW_REASON_EXPIRED) {
        REQUIRE(htw_scheduler_now(requests.scheduler) >= earliest_ns);
        stage_require_in_time(HTW_CLOCK_MONOTONIC, earliest_ns);
    }
    request->has_ended = true;
    add(&completing, reason == HTW_REASON_COMPLETED && request->key_count == 0); /* by its value */
    add(&requests.ended[reason], 1);
    play();
    leave_hook(request);
}

static void submit(struct request *request);

static void release(void *context, struct htw_request *base) {
    struct request *request = (struct request *)(void *)base;
    (void)context;
    REQUIRE(!is_gone && request->has_ended && !htw_request_is_pending(base));
    shut(request);
    bool again = pinned != request && depth < DEPTH_MAX && random_one_in(stage_random(), 4) &&
                 !atomic_load_explicit(&requests.is_closing, memory_order_relaxed);
    depth++;
    if (again)
        submit(request);
    else
        leave(request);
    depth--;
    atomic_fetch_add_explicit(&requests.released, 1, memory_order_release);
}

/* ---- submissions */

static int64_t some_timeout(struct random_source *random) {
    if (random_one_in(random, 8))
        return HTW_NEVER_NS;
    return random_one_in(random, 16) ? -(int64_t)random_below(random, 2)
                                     : (int64_t)(random_magnitude(random) >> 35);
}

static int64_t expiry_ns(int64_t timeout_ns) {
    return timeout_ns == HTW_NEVER_NS
               ? HTW_NEVER_NS
               : htw_scheduler_now(requests.scheduler) + (timeout_ns > 0 ? timeout_ns : 0);
}

static int submit_to_keys(struct request *request, int64_t timeout_ns) {
    struct name names[KEYS_MAX];
    struct htw_key keys[KEYS_MAX];
    for (unsigned i = 0; i < request->key_count; i++) {
        names[i] = name_of(request->keys[i]);
        keys[i] = (struct htw_key) { names[i].bytes, names[i].size };
    }
    return htw_purgatory_try_complete_else_watch(requests.purgatory, &request->request, keys,
                                                 request->key_count, timeout_ns);
}

/* Hooks use no threshold, nor ask whether there is one: it may be destroyed while they run. */
static int submit_somewhere(struct random_source *random, struct request *request,
                            int64_t timeout_ns) {
    if (depth == 0 && threshold != NULL && random_one_in(random, 4))
        return htw_threshold_await(threshold, &request->request,
                                   htw_threshold_value(threshold) + random_below(random, 20),
                                   timeout_ns);
    request->key_count = 1 + (unsigned)random_below(random, KEYS_MAX);
    for (unsigned i = 0; i < request->key_count; i++)
        request->keys[i] = (unsigned)random_below(random, KEYS);
    return submit_to_keys(request, timeout_ns);
}

/* One that is claimed. Unless it was refused, it may not be touched any more. */
static void submit(struct request *request) {
    struct random_source *random = stage_random();
    int64_t timeout_ns = some_timeout(random);
    request->key_count = 0;
    request->said_yes = request->has_ended = false;
    atomic_store_explicit(&request->earliest_ns, expiry_ns(timeout_ns), memory_order_relaxed);
    int result = submit_somewhere(random, request, timeout_ns);
    stage_note("submits", number_of(request), result);
    if (result >= 0) {
        REQUIRE(result == HTW_WATCHED || result == HTW_FINISHED);
        add(&requests.submitted, 1);
        return;
    }
    REQUIRE((result == -ESHUTDOWN && atomic_load(&requests.is_closing)) || stage_excuses(result));
    REQUIRE(!request->said_yes && !request->has_ended &&
            !htw_request_is_pending(&request->request));
    add(&requests.refused, 1);
    shut(request);
    leave(request);
}

/* ---- calls that end requests */

static void produce(struct random_source *random) {
    unsigned key = (unsigned)random_below(random, KEYS);
    struct name name = name_of(key);
    atomic_fetch_add_explicit(&items[key], 1, memory_order_relaxed);
    dawdle();
    if (random_one_in(random, 3) &&
        htw_purgatory_check_later(requests.purgatory, name.bytes, name.size) == 0)
        return;
    /* The request that ends may have taken an item of another key. */
    while (htw_purgatory_check_at_most(requests.purgatory, name.bytes, name.size, 1) > 0 &&
           atomic_load_explicit(&items[key], memory_order_relaxed) > 0)
        ;
}

/* There is no item that is the reason. */
static void disturb(struct random_source *random) {
    struct name name = name_of((unsigned)random_below(random, KEYS));
    if (random_one_in(random, 8)) {
        int64_t result =
            htw_purgatory_cancel_key(requests.purgatory, name.bytes, name.size, NULL, NULL);
        stage_note("cancels a key", name.bytes[0], result);
        REQUIRE(result >= 0);
        add(&cancelling, (uint64_t)result);
    } else {
        REQUIRE(htw_purgatory_check(requests.purgatory, name.bytes, name.size) >= 0);
    }
}

static void end_one(struct random_source *random) {
    struct request *request = pin(random);
    if (request == NULL)
        return;
    if (random_one_in(random, 2))
        add(&completing, htw_request_complete(requests.purgatory, &request->request));
    else
        add(&cancelling, htw_request_cancel(requests.purgatory, &request->request));
    unpin();
}

/* While the call runs, the earlier of the two may count. */
static void move(struct random_source *random, struct request *request) {
    int64_t timeout_ns = some_timeout(random), before_ns = atomic_load(&request->earliest_ns),
            then_ns = expiry_ns(timeout_ns);
    atomic_store_explicit(&request->earliest_ns, before_ns < then_ns ? before_ns : then_ns,
                          memory_order_relaxed);
    dawdle();
    int result = htw_request_set_timeout(requests.purgatory, &request->request, timeout_ns);
    stage_note("moves a timeout", number_of(request), result);
    REQUIRE(result == 0 || result == -ENOENT || (result == -ESHUTDOWN && requests.is_closing) ||
            stage_excuses(result));
    dawdle();
    atomic_store_explicit(&request->earliest_ns, result == 0 ? then_ns : before_ns,
                          memory_order_relaxed);
}

static void set_timeout(struct random_source *random) {
    struct request *request = pin(random);
    if (request == NULL)
        return;
    if (!atomic_exchange_explicit(&request->is_moving, true, memory_order_acquire)) {
        move(random, request);
        atomic_store_explicit(&request->is_moving, false, memory_order_release);
    }
    unpin();
}

/* Mostly forward. */
static void change_threshold(struct random_source *random) {
    uint64_t value = htw_threshold_value(threshold);
    int64_t result;
    if (random_one_in(random, 8)) {
        result = htw_threshold_lower(threshold, value - random_below(random, value));
    } else if (random_one_in(random, 16)) {
        result = htw_threshold_end_all(threshold, HTW_REASON_CANCELLED, NULL, NULL);
        add(&cancelling, (uint64_t)result);
    } else {
        result = htw_threshold_advance(threshold, value + random_below(random, 5));
    }
    REQUIRE(result >= 0);
}

/* ---- what the threads do */

static struct htw_purgatory_stats stats_now(void) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    REQUIRE(htw_purgatory_get_stats(requests.purgatory, &stats) == 0);
    return stats;
}

static void look(struct random_source *random) {
    struct name name = name_of((unsigned)random_below(random, KEYS));
    int64_t count = htw_purgatory_count_key(requests.purgatory, name.bytes, name.size);
    REQUIRE(count >= 0 && count <= REQUESTS);
    if (!random_one_in(random, 8))
        return;
    struct htw_purgatory_stats stats = stats_now();
    REQUIRE(stats.pending < UINT32_MAX && stats.watched < UINT32_MAX);
    REQUIRE(stats.delayed < UINT32_MAX && stats.keys <= KEYS);
}

static void act(struct random_source *random) {
    struct request *request;
    switch (random_below(random, 16)) {
    case 0:
    case 1:
        disturb(random);
        break;
    case 2:
    case 3:
    case 4:
        produce(random);
        break;
    case 5:
    case 6:
        end_one(random);
        break;
    case 7:
        set_timeout(random);
        break;
    case 8:
        look(random);
        break;
    case 9:
        if (depth == 0 && threshold != NULL)
            change_threshold(random);
        break;
    default:
        request = claim(random);
        if (request != NULL)
            submit(request);
    }
}

void requests_act(void) {
    act(stage_random());
}

/* ---- opening, judging, closing */

static void await_memory(int result) {
    REQUIRE(stage_excuses(result));
    stage_sleep_ns(10 * HTW_MILLISECOND);
}

void requests_open(struct htw_scheduler *scheduler, uint32_t shards, bool has_threshold) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    int result;
    memset(&requests, 0, sizeof(requests));
    memset(items, 0, sizeof(items));
    requests.scheduler = scheduler;
    completing = cancelling = 0;
    is_gone = false;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = shards;
    options.allocator = &stage_allocator;
    while ((result = htw_purgatory_create(&requests.purgatory, scheduler, &options)) != 0)
        await_memory(result);
    while (has_threshold && (result = htw_threshold_create(requests.purgatory, 1, &threshold)) != 0)
        await_memory(result);
    memory_bytes = stats_now().memory_bytes;
}

void requests_judge(void) {
    for (unsigned i = 0; i < REQUESTS; i++)
        if (all[i].word != 0 && htw_request_is_pending(&all[i].request))
            stage_require_in_time(HTW_CLOCK_MONOTONIC, all[i].earliest_ns);
}

void requests_judge_items(void) {
    for (unsigned i = 0; i < REQUESTS; i++)
        for (unsigned k = 0; htw_request_is_pending(&all[i].request) && k < all[i].key_count; k++)
            if (all[i].earliest_ns == HTW_NEVER_NS) /* another one may have just expired */
                REQUIRE(items[all[i].keys[k]] == 0);
}

void requests_close(void) {
    atomic_store(&requests.is_closing, true);
    REQUIRE(htw_purgatory_close(requests.purgatory, NULL, NULL) >= 0);
}

static void await_releases(void) {
    for (unsigned tries = 0;
         atomic_load_explicit(&requests.released, memory_order_acquire) < requests.submitted;
         tries++) {
        REQUIRE(tries < TRIES);
        stage_sleep_ns(HTW_MILLISECOND);
    }
}

/* All requests have ended, and no thread is in a call. */
static void check_stats(void) {
    struct htw_purgatory_stats stats = stats_now();
    REQUIRE(stats.submitted == requests.submitted &&
            stats.completed == requests.ended[HTW_REASON_COMPLETED]);
    REQUIRE(stats.expired == requests.ended[HTW_REASON_EXPIRED] &&
            stats.closed == requests.ended[HTW_REASON_CLOSED]);
    REQUIRE(stats.cancelled == requests.ended[HTW_REASON_CANCELLED]);
    REQUIRE(stats.pending == 0 && stats.watched == 0 && stats.delayed == 0);
}

void requests_end(void) {
    uint64_t ended = 0;
    atomic_store(&requests.is_closing, true); /* those of the threshold may end so from now on */
    REQUIRE(htw_threshold_destroy(threshold) == 0);
    threshold = NULL;
    if (random_one_in(stage_random(), 2)) {
        requests_close();
        await_releases();
        check_stats();
    }
    REQUIRE(htw_purgatory_destroy(requests.purgatory) == 0);
    is_gone = true;
    for (unsigned i = 0; i < 4; i++)
        ended += requests.ended[i];
    REQUIRE(requests.submitted == ended && requests.submitted == requests.released);
    REQUIRE(requests.ended[HTW_REASON_COMPLETED] <= completing &&
            requests.ended[HTW_REASON_CANCELLED] <= cancelling);
    for (unsigned i = 0; i < REQUESTS; i++)
        REQUIRE(all[i].word == 0);
}
