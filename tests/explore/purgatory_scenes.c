/* SPDX-License-Identifier: MIT */
/* purgatory_scenes.c - what the purgatory promises to threads that use it at the same time. */
/* holds: purgatory-2, purgatory-11, purgatory-16, purgatory-17, purgatory-21 */
#include "scenes.h"

#include <htw/threshold.h>

static const struct htw_key key = { "k", 1 };

/* The memory of the request is released in `release`, so that a later access is seen. */
struct item {
    struct htw_request request;
    unsigned ends;
    enum htw_reason reason;
};

static struct {
    struct htw_purgatory *purgatory;
    struct htw_threshold *threshold;
    struct item *item;
    unsigned ends, releases;
    enum htw_reason reason;
    bool has_ended;
    bool is_kept; /* the request may be looked at when it has ended */
    _Atomic bool is_ready;
    int64_t result;
} at;

static bool try_complete(void *context, struct htw_request *request) {
    (void)context, (void)request;
    return atomic_load_explicit(&at.is_ready, memory_order_relaxed);
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    struct item *item = (struct item *)(void *)request;
    REQUIRE(item->ends++ == 0);
    item->reason = reason;
}

static void release(void *context, struct htw_request *request) {
    (void)context;
    struct item *item = (struct item *)(void *)request;
    at.reason = item->reason;
    at.ends += item->ends;
    at.releases++;
    at.has_ended = true;
    if (!at.is_kept)
        explore_allocator.release(NULL, item, sizeof(*item), 8);
}

static void create_item(void) {
    at.item = explore_allocator.allocate(NULL, sizeof(*at.item), 8);
    memset(at.item, 0, sizeof(*at.item));
}

static void open_purgatory(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    scene_open(2, 0, NULL);
    memset(&at, 0, sizeof(at));
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = 1;
    options.allocator = &explore_allocator;
    REQUIRE(htw_purgatory_create(&at.purgatory, scene.scheduler, &options) == 0);
    create_item();
}

static void close_purgatory(void) {
    REQUIRE(at.ends == 1 && at.releases == 1);
    if (at.is_kept)
        explore_allocator.release(NULL, at.item, sizeof(*at.item), 8);
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
}

static int submit(int64_t timeout_ns) {
    return htw_purgatory_try_complete_else_watch(at.purgatory, &at.item->request, &key, 1,
                                                 timeout_ns);
}

/* ---- an event and a submission */

static void make_ready(void) {
    atomic_store_explicit(&at.is_ready, true, memory_order_relaxed);
    at.result = htw_purgatory_check(at.purgatory, key.bytes, key.size);
}

static void play_check(void) {
    open_purgatory();
    scene_start(1, make_ready);
    REQUIRE(submit(HTW_NEVER_NS) >= 0);
    scene_join();
    REQUIRE(at.has_ended && at.reason == HTW_REASON_COMPLETED);
    close_purgatory();
}

static void make_ready_later(void) {
    atomic_store_explicit(&at.is_ready, true, memory_order_relaxed);
    REQUIRE(htw_purgatory_check_later(at.purgatory, key.bytes, key.size) == 0);
}

static void play_deferred(void) {
    open_purgatory();
    scene_start(1, make_ready_later);
    REQUIRE(submit(HTW_NEVER_NS) >= 0);
    scene_join();
    explore_expect(&at.has_ended, explore_now_ns() + MS);
    explore_sleep_ns(100 * MS);
    REQUIRE(at.has_ended && at.reason == HTW_REASON_COMPLETED);
    close_purgatory();
}

/* Two checks and a request that waits already: one of them completes it. */
static void play_two_checks(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) >= 0);
    scene_start(1, make_ready);
    int64_t completed = htw_purgatory_check(at.purgatory, key.bytes, key.size);
    scene_join();
    REQUIRE(completed + at.result == 1 && at.reason == HTW_REASON_COMPLETED);
    close_purgatory();
}

/* ---- the ends of one request */

static void play_timeout(void) {
    open_purgatory();
    REQUIRE(submit(5 * MS) >= 0);
    scene_start(1, make_ready);
    explore_sleep_ns(20 * MS);
    scene_join();
    REQUIRE(at.has_ended);
    REQUIRE(at.reason == (at.result == 1 ? HTW_REASON_COMPLETED : HTW_REASON_EXPIRED));
    close_purgatory();
}

/* A timeout that is due ends in the thread of the expirer, or where the submission ends. */
static void play_timeout_at_once(void) {
    open_purgatory();
    scene_start(1, make_ready);
    REQUIRE(submit(0) >= 0);
    explore_expect(&at.has_ended, explore_now_ns() + MS);
    scene_join();
    explore_sleep_ns(20 * MS);
    REQUIRE(at.has_ended && at.reason <= HTW_REASON_EXPIRED);
    close_purgatory();
}

static void cancel_key(void) {
    at.result = htw_purgatory_cancel_key(at.purgatory, key.bytes, key.size, NULL, NULL);
}

static void play_cancel_key(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) >= 0);
    scene_start(1, cancel_key);
    atomic_store_explicit(&at.is_ready, true, memory_order_relaxed);
    int64_t completed = htw_purgatory_check(at.purgatory, key.bytes, key.size);
    scene_join();
    /* A cancel also counts a request that it marks while its hook runs, and that is completed. */
    REQUIRE(at.has_ended && (completed == 1 || at.result == 1));
    REQUIRE(at.reason == (completed == 1 ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED));
    close_purgatory();
}

/* The hook may be running, and returns false, when the request is cancelled. */
static void play_cancel_busy(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) == HTW_WATCHED);
    scene_start(1, cancel_key);
    REQUIRE(htw_purgatory_check(at.purgatory, key.bytes, key.size) == 0);
    scene_join();
    REQUIRE(at.has_ended && at.result == 1 && at.reason == HTW_REASON_CANCELLED);
    close_purgatory();
}

/* ---- close */

static void close_it(void) {
    at.result = htw_purgatory_close(at.purgatory, NULL, NULL);
}

static void play_close(void) {
    open_purgatory();
    scene_start(1, close_it);
    int result = submit(HTW_NEVER_NS);
    scene_join();
    REQUIRE(result >= 0 || result == -ESHUTDOWN);
    if (result < 0) { /* it is still the caller's */
        REQUIRE(at.ends == 0);
        at.ends = at.releases = 1;
    } else {
        REQUIRE(at.has_ended && at.reason == HTW_REASON_CLOSED);
    }
    close_purgatory();
}

/* ---- thresholds */

static void advance_threshold(void) {
    at.result = htw_threshold_advance(at.threshold, 10);
}

static void play_threshold(void) {
    open_purgatory();
    REQUIRE(htw_threshold_create(at.purgatory, 0, &at.threshold) == 0);
    scene_start(1, advance_threshold);
    REQUIRE(htw_threshold_await(at.threshold, &at.item->request, 10, HTW_NEVER_NS) >= 0);
    scene_join();
    REQUIRE(at.has_ended && at.reason == HTW_REASON_COMPLETED);
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    close_purgatory();
}

static void play_threshold_timeout(void) {
    open_purgatory();
    REQUIRE(htw_threshold_create(at.purgatory, 0, &at.threshold) == 0);
    REQUIRE(htw_threshold_await(at.threshold, &at.item->request, 10, 2 * MS) >= 0);
    scene_start(1, advance_threshold);
    explore_sleep_ns(20 * MS);
    scene_join();
    REQUIRE(at.has_ended);
    REQUIRE(at.reason == (at.result == 1 ? HTW_REASON_COMPLETED : HTW_REASON_EXPIRED));
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    close_purgatory();
}

/* What is reached once completes the request, though the value is lowered again at the same time. */
static void play_threshold_lower(void) {
    open_purgatory();
    REQUIRE(htw_threshold_create(at.purgatory, 5, &at.threshold) == 0);
    REQUIRE(htw_threshold_await(at.threshold, &at.item->request, 10, HTW_NEVER_NS) == HTW_WATCHED);
    scene_start(1, advance_threshold);
    REQUIRE(htw_threshold_lower(at.threshold, 3) == 0);
    scene_join();
    REQUIRE(at.has_ended && at.reason == HTW_REASON_COMPLETED && at.result == 1);
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    close_purgatory();
}

/* A request that comes meanwhile is ended, or waits and can be ended as before. */
static void end_all_of_threshold(void) {
    at.result = htw_threshold_end_all(at.threshold, HTW_REASON_CANCELLED, NULL, NULL);
}

static void play_threshold_end_all(void) {
    open_purgatory();
    REQUIRE(htw_threshold_create(at.purgatory, 0, &at.threshold) == 0);
    scene_start(1, end_all_of_threshold);
    REQUIRE(htw_threshold_await(at.threshold, &at.item->request, 10, HTW_NEVER_NS) >= 0);
    scene_join();
    REQUIRE(at.has_ended == (at.result == 1));
    if (!at.has_ended)
        REQUIRE(htw_threshold_advance(at.threshold, 10) == 1);
    REQUIRE(at.has_ended);
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    close_purgatory();
}

/* ---- a timeout that is changed while it expires, or the request ends */

static void move_timeout(void) {
    at.result = htw_request_set_timeout(at.purgatory, &at.item->request, 40 * MS);
}

static void play_move_timeout(void) {
    open_purgatory();
    at.is_kept = true;
    REQUIRE(htw_threshold_create(at.purgatory, 0, &at.threshold) == 0);
    REQUIRE(htw_threshold_await(at.threshold, &at.item->request, 10, 2 * MS) >= 0);
    explore_sleep_ns(2 * MS);
    scene_start(1, move_timeout);
    explore_sleep_ns(20 * MS);
    scene_join();
    REQUIRE(at.result == 0 || at.result == -ENOENT);
    explore_sleep_ns(40 * MS);
    REQUIRE(at.has_ended && at.reason == HTW_REASON_EXPIRED);
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    close_purgatory();
}

const struct scene purgatory_scenes[] = {
    { "check", "an event before or after a submission completes the request", play_check, 4, 5, 0 },
    { "deferred", "the same for a check that is made later", play_deferred, 1, 2, 0 },
    { "two-checks", "one of two checks completes a request", play_two_checks, 4, 5, 0 },
    { "timeout", "a request completes or expires, and its memory is not touched again",
      play_timeout, 2, 2, 0 },
    { "timeout-at-once", "a timeout that is due already ends the request", play_timeout_at_once, 1,
      2, 0 },
    { "cancel-key", "a cancel and a check agree who ends a request", play_cancel_key, 4, 5, 0 },
    { "cancel-busy", "a cancel is not lost while a hook runs", play_cancel_busy, 4, 5, 0 },
    { "close", "a request is closed or refused", play_close, 4, 5, 0 },
    { "threshold", "a value that is reached during the submission completes the request",
      play_threshold, 4, 5, 0 },
    { "threshold-timeout", "a threshold and a timeout agree who ends a request",
      play_threshold_timeout, 2, 2, 0 },
    { "threshold-lower", "what was reached completes the request, though the value is lowered",
      play_threshold_lower, 3, 4, 0 },
    { "threshold-end-all", "a request of a threshold is ended with all others, or waits",
      play_threshold_end_all, 3, 4, 0 },
    { "move-timeout", "a request expires by the earlier timeout, or by the later one",
      play_move_timeout, 1, 2, 0 },
    { .name = NULL },
};
