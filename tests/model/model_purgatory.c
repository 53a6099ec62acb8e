/* SPDX-License-Identifier: MIT */
/*
 * model_purgatory.c - random histories of a purgatory, compared after each step with an oracle that
 * keeps no lists but checks all requests every time. For its arguments see arguments.h.
 *
 * Some hooks end other requests, or their own. Some histories have no hook `try_complete` or `release`, use one key, refuse
 * memory (to what ends requests, always), or have a scheduler that holds one timer, or that is stopped before the end.
 *
 * There is one thread, and a manual clock, or the clocks of the kernel, which the model replaces; at times a clock is
 * set, forward or back, or the machine sleeps. Which hooks are called, for which request,
 * with which reason, and in which order, is known before each step, except for the order of those
 * that expire or are closed in one step.
 */
/* holds: purgatory-1, purgatory-5, purgatory-7, purgatory-8, purgatory-9, purgatory-9a, purgatory-10, purgatory-11, purgatory-12,
   purgatory-13, purgatory-15, purgatory-16, purgatory-17, purgatory-18, purgatory-19, purgatory-20, purgatory-21 */
#include "arguments.h"
#include "purgatory_oracle.h"

enum { STEPS_A_HISTORY = 1500, KEYS_MAX = 300, KEY_BYTES_MAX = 241 };

static struct model_arguments arguments = { 20260101, 300000, 0, UINT64_MAX, false };

/* ---- steps */

static void refuse_all_memory(void) {
    failing_allocator_fail(&model.memory, 1, true);
    failing_allocator_fail(&model.scheduler_memory, 1, true);
}

static void give_memory(void) {
    failing_allocator_relent(&model.memory);
    failing_allocator_relent(&model.scheduler_memory);
}

static uint64_t below(uint64_t bound) {
    return random_below(&model.source, bound);
}

static struct waiter *any_waiter(bool pending) {
    size_t from = (size_t)below(WAITERS);
    for (size_t i = 0; i < WAITERS; i++)
        if (model.waiters[(from + i) % WAITERS].pending == pending)
            return &model.waiters[(from + i) % WAITERS];
    return NULL;
}

static unsigned any_key(void) {
    return (unsigned)below(model.key_count);
}

static int64_t any_timeout(void) {
    switch (below(5)) {
    case 0:
        return HTW_NEVER_NS;
    case 1:
        return (int64_t)below(2) - 1;
    case 2:
        return (int64_t)below(300) * HTW_SECOND;
    default:
        return (int64_t)below(50 * (uint64_t)TICK_NS);
    }
}

/* One that is taken away later counts as one that runs, and can be set again. */
static void set_deadline(struct waiter *w, int64_t timeout_ns) {
    int64_t now_ns = model.call_ns;
    w->deadline_ns = timeout_ns == HTW_NEVER_NS ? HTW_NEVER_NS - 1
                     : timeout_ns > 0           ? now_ns + timeout_ns
                                                : now_ns;
    w->due_ns = timeout_ns == HTW_NEVER_NS ? HTW_NEVER_NS
                : timeout_ns > 0           ? (w->deadline_ns + TICK_NS - 1) / TICK_NS * TICK_NS
                                           : now_ns;
}

/* What both kinds of submission begin with. */
static struct waiter *prepare(int64_t *ret_timeout_ns) {
    struct waiter *w = any_waiter(false);
    if (w == NULL)
        return NULL;
    *ret_timeout_ns = any_timeout();
    w->ready = below(6) == 0;
    w->marked = -1;
    w->peer = below(4) == 0 ? w : &model.waiters[below(WAITERS)];
    w->act_at = below(4) == 0 ? (enum act_at)(1 + below(4)) : ACT_NEVER;
    w->act_completes = below(2) == 0;
    set_deadline(w, *ret_timeout_ns);
    if (*ret_timeout_ns == HTW_NEVER_NS)
        w->deadline_ns = HTW_NEVER_NS;
    if (model.refusing && below(3) == 0)
        failing_allocator_fail(below(4) == 0 ? &model.scheduler_memory : &model.memory,
                               1 + (size_t)below(8), below(2) == 0);
    return w;
}

/* Why a submission may be refused. One to a threshold without a timeout needs no memory. */
static bool may_refuse(const struct waiter *w, int result) {
    bool needs_none = w->threshold >= 0 && w->deadline_ns == HTW_NEVER_NS;
    return (result == -ENOMEM && model.refusing && !needs_none) ||
           (result == -ESHUTDOWN && model.is_stopped) ||
           (result == -EAGAIN && model.stranger != 0 && w->deadline_ns != HTW_NEVER_NS);
}

/* Twice, unless it says yes, or is refused. */
static unsigned asks_of(const struct waiter *w) {
    unsigned asks = 0;
    if (!model.refusing && !model.is_stopped)
        return w->threshold < 0 ? 2 : 0;
    for (size_t i = 0; i < model.seen.count; i++)
        asks += model.seen.list[i].what == ASKED && model.seen.list[i].number == w->number;
    return asks;
}

/* With what both kinds of submission end. */
static void conclude(struct waiter *w, int result, bool is_done) {
    give_memory();
    for (unsigned asks = asks_of(w); asks > 0 && !is_done; asks--)
        is_done = expect_ask(w);
    bool is_finished = is_done || w->marked >= 0;
    bool is_measured = !is_done && expect_begin(w->deadline_ns != HTW_NEVER_NS);
    if (!is_finished && may_refuse(w, result))
        return;
    REQUIRE(result == (is_finished ? HTW_FINISHED : HTW_WATCHED));
    model.counted.submitted++;
    w->pending = true;
    w->arrival = ++model.arrivals;
    w->is_measured = is_measured && !is_finished;
    w->since_ns = is_done ? -1 : model.call_ns;
    if (is_finished)
        expect_end(w, is_done ? HTW_REASON_COMPLETED : (enum htw_reason)w->marked, false);
}

static void step_submit(void) {
    static struct htw_key keys[KEYS_MAX];
    static unsigned char bytes[KEYS_MAX][KEY_BYTES_MAX];
    int64_t timeout_ns;
    struct waiter *w = prepare(&timeout_ns);
    if (w == NULL)
        return;
    size_t count = 1 + (size_t)below(below(4) == 0 ? 8 : 3);
    if (below(100) == 0)
        count = KEYS_MAX;
    memset(w->on_key, 0, sizeof(w->on_key));
    w->threshold = -1;
    for (size_t i = 0; i < count; i++) {
        unsigned key = any_key();
        w->on_key[key] = true;
        keys[i] = (struct htw_key) { bytes[i], model.keys[key].size };
        if (keys[i].size > 0)
            memcpy(bytes[i], model.keys[key].bytes, keys[i].size);
    }
    int result = htw_purgatory_try_complete_else_watch(model.purgatory, &w->request, keys, count,
                                                       timeout_ns);
    memset(keys, 0xff, sizeof(keys[0]) * count); /* they were copied */
    memset(bytes, 0xff, sizeof(bytes[0]) * count);
    conclude(w, result, false);
}

static void step_await(void) {
    int64_t timeout_ns;
    struct waiter *w = prepare(&timeout_ns);
    if (w == NULL)
        return;
    w->threshold = (int)below(THRESHOLDS);
    uint64_t value = model.values[w->threshold];
    uint64_t ahead = below(2) == 0 ? below(20) : random_magnitude(&model.source);
    w->value = ahead > UINT64_MAX - value ? UINT64_MAX : value + ahead;
    int result =
        htw_threshold_await(model.thresholds[w->threshold], &w->request, w->value, timeout_ns);
    conclude(w, result, w->value <= value);
}

/* Expects that those on a threshold that wait for `value` or less end, in order; how many. */
static int64_t expect_ends(size_t which, uint64_t value, enum htw_reason reason, bool visited) {
    const struct waiter *last = NULL;
    int64_t ended = 0;
    for (struct waiter *w; (w = next_on_threshold(which, last)) != NULL && w->value <= value;
         ended++) {
        last = w;
        expect_end(w, reason, visited);
    }
    return ended;
}

/* One that waits cannot be submitted, on a key or a threshold. */
static void step_busy(void) {
    struct waiter *w = any_waiter(true);
    if (w == NULL)
        return;
    REQUIRE(htw_purgatory_try_complete_else_watch(model.purgatory, &w->request, model.keys, 1,
                                                  any_timeout()) == -EBUSY);
    REQUIRE(htw_threshold_await(model.thresholds[0], &w->request, 0, any_timeout()) == -EBUSY);
}

static void step_advance_threshold(void) {
    size_t which = (size_t)below(THRESHOLDS);
    uint64_t ahead = below(30) == 0 ? random_magnitude(&model.source) : below(15);
    uint64_t value =
        ahead > UINT64_MAX - model.values[which] ? UINT64_MAX : model.values[which] + ahead;
    if (below(8) == 0) {
        REQUIRE(htw_threshold_advance(model.thresholds[which], model.values[which] / 2) == 0);
        return;
    }
    int64_t ended = expect_ends(which, value, HTW_REASON_COMPLETED, false);
    model.values[which] = value;
    REQUIRE(htw_threshold_advance(model.thresholds[which], value) == ended);
    REQUIRE(htw_threshold_value(model.thresholds[which]) == value);
}

static void step_lower(void) {
    size_t which = (size_t)below(THRESHOLDS);
    uint64_t value = model.values[which], to = below(4) == 0
                                                   ? random_magnitude(&model.source)
                                                   : value - below(value < 15 ? value + 1 : 15);
    model.values[which] = to < value ? to : value;
    REQUIRE(htw_threshold_lower(model.thresholds[which], to) == 0);
    REQUIRE(htw_threshold_value(model.thresholds[which]) == model.values[which]);
}

static void step_end_all(void) {
    static const enum htw_reason reasons[] = { HTW_REASON_COMPLETED, HTW_REASON_CANCELLED,
                                               HTW_REASON_CLOSED };
    size_t which = (size_t)below(THRESHOLDS);
    enum htw_reason reason = reasons[below(3)];
    bool visited = below(2) == 0;
    int64_t ended = expect_ends(which, UINT64_MAX, reason, visited);
    REQUIRE(htw_threshold_end_all(model.thresholds[which], reason, visited ? model_visit : NULL,
                                  NULL) == ended);
}

static void step_check(void) {
    unsigned key = any_key();
    const struct htw_key *name = &model.keys[key];
    uint64_t max = below(5);
    if (below(2) == 0) {
        int64_t ended = expect_check(key, UINT64_MAX);
        REQUIRE(htw_purgatory_check(model.purgatory, name->bytes, name->size) == ended);
    } else {
        int64_t ended = expect_check(key, max);
        REQUIRE(htw_purgatory_check_at_most(model.purgatory, name->bytes, name->size, max) ==
                ended);
    }
}

static void step_count_key(void) {
    unsigned key = any_key();
    int64_t count = 0;
    for (const struct waiter *w = NULL; (w = next_on_key(key, w != NULL ? w->arrival : 0)) != NULL;)
        count++;
    REQUIRE(htw_purgatory_count_key(model.purgatory, model.keys[key].bytes, model.keys[key].size) ==
            count);
}

/* Some become ready, for checks to find. */
static void step_ready(void) {
    for (unsigned i = 0; i < 5; i++)
        model.waiters[below(WAITERS)].ready = below(3) != 0;
}

static void step_cancel_key(void) {
    unsigned key = any_key();
    const struct htw_key *name = &model.keys[key];
    bool visited = below(2) == 0;
    int64_t ended = 0;
    uint64_t arrival = 0;
    for (struct waiter *w; (w = next_on_key(key, arrival)) != NULL; ended++) {
        arrival = w->arrival;
        expect_end(w, HTW_REASON_CANCELLED, visited);
    }
    REQUIRE(htw_purgatory_cancel_key(model.purgatory, name->bytes, name->size,
                                     visited ? model_visit : NULL, NULL) == ended);
}

static void step_end_one(void) {
    struct waiter *w = any_waiter(true);
    if (w == NULL)
        return;
    bool completed = below(2) == 0;
    expect_end(w, completed ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED, false);
    REQUIRE(completed ? htw_request_complete(model.purgatory, &w->request)
                      : htw_request_cancel(model.purgatory, &w->request));
}

static void step_set_timeout(void) {
    struct waiter *w = &model.waiters[below(WAITERS)];
    int64_t timeout_ns = any_timeout();
    if (model.by_kernel && timeout_ns == HTW_NEVER_NS)
        timeout_ns = 0; /* the wheel would grow, and end() compares bytes */
    bool runs = w->pending && w->deadline_ns != HTW_NEVER_NS;
    if (model.refusing && below(3) == 0)
        failing_allocator_fail(below(2) == 0 ? &model.scheduler_memory : &model.memory,
                               1 + (size_t)below(4), below(2) == 0);
    int result = htw_request_set_timeout(model.purgatory, &w->request, timeout_ns);
    give_memory();
    if (result == -ENOMEM && model.refusing && runs)
        return;
    REQUIRE(result == (!runs ? -ENOENT : model.is_stopped ? -ESHUTDOWN : 0));
    if (result == 0)
        set_deadline(w, timeout_ns);
}

static void expect_expired_at(int64_t now_ns, bool is_stepped) {
    model.end_ns = now_ns;
    model.is_stepped = is_stepped;
    model.is_ordered = false;
    for (struct waiter *w = model.waiters; w < model.waiters + WAITERS; w++)
        if (w->pending && w->due_ns <= now_ns)
            expect_end(w, HTW_REASON_EXPIRED, false);
}

static void compare_expired(void) {
    compare_events(false);
    model.is_ordered = true;
}

/* A manual clock goes on from one timer to the next. */
static void advance(int64_t delta_ns) {
    if (model.is_stopped)
        return;
    expect_expired_at(model_now_ns() + delta_ns, model.by_kernel);
    model_advance(delta_ns);
    compare_expired();
}

/* By whole ticks: between two it is open whether what is due by the clock has been found yet. */
static void step_advance(void) {
    int64_t ticks = (int64_t)below(4);
    if (below(20) == 0)
        ticks = (int64_t)below(100000);
    if (!model.by_kernel &&
        below(100) == 0) /* the wheel of any other clock would grow, and end() compares bytes */
        ticks = (int64_t)(random_magnitude(&model.source) >> 28); /* up to two years */
    advance(ticks * TICK_NS);
}

/* Timeouts follow a manual clock, and no other. Where memory is refused, a wheel may be late to
   follow back. */
static void step_clock(void) {
    if (model.is_stopped)
        return;
    int64_t size_ns =
        below(2) == 0 ? (int64_t)below(20) * TICK_NS : (int64_t)below(400) * HTW_SECOND;
    bool back = below(2) == 0 && (model.by_kernel || !model.refusing);
    int64_t step_ns = back ? -size_ns : size_ns;
    if (!model.by_kernel && model_now_ns() + step_ns < 0)
        step_ns = -model_now_ns();
    expect_expired_at(model.by_kernel ? model_now_ns() : model_now_ns() + step_ns, true);
    model_step_clock(step_ns);
    compare_expired();
}

/* The kernel wakes the scheduler up when the wall clock is set. */
static void wake_up(void) {
    expect_expired_at(model_now_ns(), true);
    model_run();
    compare_expired();
}

/* Only the clock that goes on while the machine sleeps makes requests expire. */
static void step_suspend(void) {
    int64_t delta_ns = (int64_t)below(400) * HTW_SECOND;
    if (model.is_stopped || !model.by_kernel)
        return;
    expect_expired_at(model_now_ns() + (model.clock == HTW_CLOCK_BOOTTIME ? delta_ns : 0), true);
    model_suspend(delta_ns);
    compare_expired();
}

static void do_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

/* Another timer takes the only place of the scheduler, or gives it back. */
static void step_stranger(void) {
    if (!model.is_limited || model.is_stopped)
        return;
    if (model.stranger != 0) {
        REQUIRE(htw_cancel(model.scheduler, model.stranger) == HTW_CANCELLED);
        model.stranger = 0;
        return;
    }
    int result = htw_schedule(model.scheduler, HTW_NEVER_NS, do_nothing, NULL, &model.stranger);
    REQUIRE(result == (htw_pending(model.scheduler) == 1 && model.stranger == 0 ? -EAGAIN : 0));
}

static void step_check_later(void) {
    unsigned key = any_key();
    const struct htw_key *name = &model.keys[key];
    if (model.is_stopped) {
        REQUIRE(htw_purgatory_check_later(model.purgatory, name->bytes, name->size) ==
                (next_on_key(key, 0) == NULL ? 0 : -ESHUTDOWN));
        return;
    }
    advance(0); /* so that nothing else is due */
    if (model.refusing && below(3) == 0)
        failing_allocator_fail(&model.memory, 1, true);
    int result = 0;
    for (uint64_t times = 1 + below(3); times > 0; times--)
        result = htw_purgatory_check_later(model.purgatory, name->bytes, name->size);
    failing_allocator_relent(&model.memory);
    REQUIRE(result == 0 || (result == -ENOMEM && model.refusing) ||
            (result == -EAGAIN && model.is_limited && htw_pending(model.scheduler) == 1));
    REQUIRE(model.seen.count == 0);
    if (result == 0)
        expect_check(key, UINT64_MAX);
    model_run();
}

static const struct {
    const char *name;
    void (*run)(void);
    unsigned weight;
    bool needs_none; /* of memory */
    bool may_stop;   /* it sets a timeout, and calls no hook before */
} steps[] = { { "submit", step_submit, 36, false, false },
              { "await", step_await, 11, false, true },
              { "threshold_advance", step_advance_threshold, 6, true, false },
              { "threshold_lower", step_lower, 2, true, false },
              { "threshold_end_all", step_end_all, 1, true, false },
              { "busy", step_busy, 1, true, false },
              { "check", step_check, 10, true, false },
              { "count_key", step_count_key, 1, true, false },
              { "ready", step_ready, 6, true, false },
              { "cancel_key", step_cancel_key, 2, true, false },
              { "complete or cancel", step_end_one, 7, true, false },
              { "set_timeout", step_set_timeout, 2, false, true },
              { "advance", step_advance, 7, false, false },
              { "suspend", step_suspend, 1, false, false },
              { "set the clock", step_clock, 2, false, false },
              { "stranger", step_stranger, 1, false, false },
              { "check_later", step_check_later, 4, false, false } };

/* Then requests still end, and none begins to wait. */
static void stop_scheduler(void) {
    REQUIRE(htw_scheduler_stop(model.scheduler, NULL, NULL) == 0);
    model.is_stopped = true;
    model.stranger = 0;
}

/* ---- histories */

static const enum htw_clock clocks[] = {
    HTW_CLOCK_MANUAL,   HTW_CLOCK_MANUAL, HTW_CLOCK_REALTIME, HTW_CLOCK_MONOTONIC,
#if !defined(HTW_PORTABLE) || defined(_WIN32)
    HTW_CLOCK_BOOTTIME,
#endif
};

/* Keys that differ in nothing but their size or their last byte. The first one is empty. */
static void name_keys(void) {
    static const size_t sizes[KEYS / 2] = { 1, 2, 7, 8, 15, 16, 17, 32, 240, KEY_BYTES_MAX };
    static unsigned char bytes[KEYS][KEY_BYTES_MAX];
    for (unsigned i = 0; i < KEYS; i++) {
        size_t size = sizes[i / 2];
        bytes[i][size - 1] = i % 2;
        model.keys[i] = (struct htw_key) { bytes[i], size };
    }
    model.keys[0] = (struct htw_key) { NULL, 0 };
}

static void begin(void) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    failing_allocator_init(&model.memory);
    failing_allocator_init(&model.scheduler_memory);
    model.clock = clocks[below(sizeof(clocks) / sizeof(clocks[0]))];
    model.by_kernel = model.clock != HTW_CLOCK_MANUAL;
    model.monotonic_ns = model.boottime_ns = 1000 * HTW_SECOND;
    model.wall_ns = INT64_C(1700000000) * HTW_SECOND;
    scheduler_options.clock = model.clock;
    scheduler_options.embedded = model.by_kernel;
    scheduler_options.workers = HTW_NO_WORKERS;
    scheduler_options.shards = 1 + (uint32_t)below(3);
    model.is_limited = below(8) == 0;
    scheduler_options.max_pending = model.is_limited ? 1 : 0;
    scheduler_options.allocator = &model.scheduler_memory.allocator;
    model.asks = below(8) != 0;
    model.releases = below(8) != 0;
    options.try_complete = model.asks ? model_try_complete : NULL;
    options.on_complete = model_on_complete;
    options.release = model.releases ? model_release : NULL;
    options.shards = UINT32_C(1) << below(5);
    options.allocator = &model.memory.allocator;
    REQUIRE(htw_scheduler_create(&model.scheduler, &scheduler_options) == 0);
    REQUIRE(htw_purgatory_create(&model.purgatory, model.scheduler, &options) == 0);
    model.initial_bytes = model.memory.live_bytes;
    for (unsigned i = 0; i < THRESHOLDS; i++) {
        model.values[i] = below(2) == 0 ? below(100) : random_magnitude(&model.source);
        REQUIRE(htw_threshold_create(model.purgatory, model.values[i], &model.thresholds[i]) == 0);
    }
    name_keys();
    model.key_count = below(4) == 0 ? 1 : KEYS;
    memset(model.waiters, 0, sizeof(model.waiters));
    for (unsigned i = 0; i < WAITERS; i++)
        model.waiters[i].number = i;
    model.counted = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    model.least_waited_ms = model.most_waited_ms = 0;
    memset(model.least_waits, 0, sizeof(model.least_waits));
    memset(model.most_waits, 0, sizeof(model.most_waits));
    model.begun = 0;
    model.stranger = 0;
    model.is_stopped = false;
    model.is_ordered = true;
    model.refusing = below(4) == 0;
}

/* Nothing begins any more. */
static void expect_shut(void) {
    struct waiter *w = any_waiter(false);
    struct htw_key key = { "k", 1 };
    struct htw_threshold *threshold = NULL;
    if (w != NULL) {
        REQUIRE(htw_purgatory_try_complete_else_watch(model.purgatory, &w->request, &key, 1,
                                                      any_timeout()) == -ESHUTDOWN);
        REQUIRE(htw_threshold_await(model.thresholds[0], &w->request, 0, any_timeout()) ==
                -ESHUTDOWN);
    }
    REQUIRE(htw_threshold_create(model.purgatory, 0, &threshold) == -ESHUTDOWN);
    REQUIRE(htw_purgatory_close(model.purgatory, model_visit, NULL) == 0);
    for (unsigned i = 0; i < KEYS; i++)
        REQUIRE(htw_purgatory_check(model.purgatory, model.keys[i].bytes, model.keys[i].size) == 0);
    compare_events(true);
}

static int64_t expect_all_closed(bool is_visited) {
    int64_t ended = 0;
    model.is_ordered = false;
    for (struct waiter *w = model.waiters; w < model.waiters + WAITERS; w++)
        if (w->pending) {
            expect_end(w, HTW_REASON_CLOSED, is_visited);
            ended++;
        }
    return ended;
}

/* By a close, or as the thresholds and the purgatory are destroyed. */
static void end(void) {
    bool closes = below(2) == 0;
    model.doing = closes ? "close" : "destroy";
    int64_t ended = expect_all_closed(closes);
    if (model.refusing)
        refuse_all_memory();
    if (closes) {
        REQUIRE(htw_purgatory_close(model.purgatory, model_visit, NULL) == ended);
        give_memory();
        compare_events(false);
        compare_stats();
        expect_shut();
    }
    if (below(4) == 0)
        REQUIRE(htw_purgatory_destroy(model.purgatory) == -EBUSY);
    for (unsigned i = 0; i < THRESHOLDS; i++)
        REQUIRE(htw_threshold_destroy(model.thresholds[i]) == 0);
    if (closes)
        REQUIRE(model.memory.live_bytes == model.initial_bytes);
    REQUIRE(htw_purgatory_destroy(model.purgatory) == 0);
    compare_events(false);
    if (model.stranger != 0)
        REQUIRE(htw_cancel(model.scheduler, model.stranger) == HTW_CANCELLED);
    REQUIRE(htw_pending(model.scheduler) == 0);
    REQUIRE(htw_scheduler_destroy(model.scheduler) == 0);
    REQUIRE(model.memory.live_blocks == 0 && model.scheduler_memory.live_blocks == 0);
    REQUIRE(model.memory.error == NULL && model.scheduler_memory.error == NULL);
}

static uint64_t run_history(uint64_t number) {
    const uint64_t count = STEPS_A_HISTORY;
    model.seed = arguments.seed;
    model.history = number;
    model.source =
        (struct random_source) { model.seed ^ model.history * UINT64_C(0x9fb21c651e98df25) };
    model.tears = model.source;
    model.doing = "begin";
    begin();
    model.is_torn = false;
    uint64_t stop_at = below(4) == 0 ? count - count / 8 : count;
    for (model.step = 0; model.step < count; model.step++) {
        if (model.step == stop_at)
            stop_scheduler();
        uint64_t choice = below(100);
        size_t which = 0;
        while (choice >= steps[which].weight)
            choice -= steps[which++].weight;
        model.doing = steps[which].name;
        if (arguments.trace)
            printf("%" PRIu64 ": %s\n", model.step, model.doing);
        if (model.refusing && steps[which].needs_none)
            refuse_all_memory();
        model.call_ns = model_now_ns();
        model.wall_was_read = model.monotonic_was_read = false;
        model.may_stop = steps[which].may_stop;
        steps[which].run();
        model.may_stop = false;
        give_memory();
        compare_events(true);
        if (model.is_torn && !model.is_stopped)
            wake_up();
        compare_stats();
    }
    end();
    return count;
}

int main(int argc, char *argv[]) {
    return model_play(&arguments, argc, argv, run_history);
}
