/* SPDX-License-Identifier: MIT */
/*
 * model_purgatory - random histories of a purgatory, compared after each step with an oracle that
 * keeps no lists but looks at all requests every time.
 *
 *     model_purgatory [--seed N] [--steps N] [--first N] [--histories N]
 *
 * Histories are numbered from 0; each has its own seed, made from the seed and its number, so that
 * a failing one can be run alone with --first and --histories 1. HTW_SEED is a default for --seed.
 *
 * One thread, and a manual clock: which hooks are called, for whom, why, and in which order, is all
 * known before each step, but for the order among those that expire, or are closed, or reach the
 * same value in one step.
 */
#include "../support/failing_allocator.h"
#include "../support/random.h"

#include <htw/purgatory.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS HTW_MILLISECOND

enum { WAITERS = 120, KEYS = 20, THRESHOLDS = 2, EVENTS_MAX = 4096, STEPS_A_HISTORY = 1500 };
enum { ASKED = 100, RELEASED, VISITED }; /* besides the reasons */

/* A request, and what the oracle knows of it. */
struct waiter {
    struct htw_request request;
    bool pending, ready;
    unsigned number;
    uint64_t arrival;
    bool on_key[KEYS];
    int threshold; /* on which it waits; -1: on keys */
    uint64_t value;
    int64_t deadline_ns, due_ns; /* the latter is rounded up to a tick */
    struct waiter *peer;         /* cancelled in its on_complete when it has been completed */
};

struct event {
    unsigned number;
    int what;
};

struct events {
    struct event list[EVENTS_MAX];
    size_t count;
};

static struct model {
    uint64_t seed, history, step;
    struct random_source source;
    struct failing_allocator memory, scheduler_memory;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_threshold *thresholds[THRESHOLDS];
    uint64_t values[THRESHOLDS];
    struct waiter waiters[WAITERS];
    char names[KEYS][40];
    struct events seen, expected;
    uint64_t arrivals;
    uint64_t initial_bytes;
    bool refusing; /* allocations fail at times */
    const char *doing;
    struct htw_purgatory_stats counted;
} m;

static void fail(const char *what, int line) {
    printf("model_purgatory: line %d: %s, in %s\n", line, what, m.doing);
    printf("model_purgatory: seed %" PRIu64 ", history %" PRIu64 ", step %" PRIu64 "\n", m.seed,
           m.history, m.step);
    printf("again with --seed %" PRIu64 " --first %" PRIu64 " --histories 1\n", m.seed, m.history);
    for (size_t i = 0; i < m.seen.count || i < m.expected.count; i++)
        printf("  seen %d %d, expected %d %d\n", i < m.seen.count ? (int)m.seen.list[i].number : -1,
               i < m.seen.count ? m.seen.list[i].what : -1,
               i < m.expected.count ? (int)m.expected.list[i].number : -1,
               i < m.expected.count ? m.expected.list[i].what : -1);
    exit(1);
}

#define REQUIRE(condition)              \
    do {                                \
        if (!(condition))               \
            fail(#condition, __LINE__); \
    } while (0)

static void add(struct events *events, const struct waiter *waiter, int what) {
    REQUIRE(events->count < EVENTS_MAX);
    events->list[events->count++] = (struct event) { waiter->number, what };
}

/* ---- hooks */

static struct waiter *waiter_of(struct htw_request *request) {
    return (struct waiter *)((char *)request - offsetof(struct waiter, request));
}

static bool try_complete(void *context, struct htw_request *request) {
    (void)context;
    add(&m.seen, waiter_of(request), ASKED);
    return waiter_of(request)->ready;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    struct waiter *self = waiter_of(request);
    (void)context;
    add(&m.seen, self, (int)reason);
    if (reason == HTW_REASON_EXPIRED)
        REQUIRE(htw_scheduler_now(m.scheduler) >= self->deadline_ns);
    if (self->peer != NULL && reason == HTW_REASON_COMPLETED && self->peer != self &&
        htw_request_is_pending(&self->peer->request))
        REQUIRE(htw_request_cancel(m.purgatory, &self->peer->request));
}

static void release(void *context, struct htw_request *request) {
    (void)context;
    add(&m.seen, waiter_of(request), RELEASED);
    REQUIRE(!htw_request_is_pending(request));
}

static void visit(void *context, struct htw_request *request) {
    (void)context;
    add(&m.seen, waiter_of(request), VISITED);
}

/* ---- the oracle */

static void expect_end(struct waiter *waiter, enum htw_reason reason) {
    uint64_t *counters[] = { &m.counted.completed, &m.counted.expired, &m.counted.cancelled,
                             &m.counted.closed };
    waiter->pending = false;
    ++*counters[reason];
    add(&m.expected, waiter, (int)reason);
    struct waiter *peer = waiter->peer;
    if (reason == HTW_REASON_COMPLETED && peer != NULL && peer->pending)
        expect_end(peer, HTW_REASON_CANCELLED);
    add(&m.expected, waiter, RELEASED);
}

/* The one that came first of those on the key that came after `arrival`; NULL: none. */
static struct waiter *next_on_key(unsigned key, uint64_t arrival) {
    struct waiter *next = NULL;
    for (struct waiter *w = m.waiters; w < m.waiters + WAITERS; w++)
        if (w->pending && w->threshold < 0 && w->on_key[key] && w->arrival > arrival &&
            (next == NULL || w->arrival < next->arrival))
            next = w;
    return next;
}

static int64_t expect_check(unsigned key, uint64_t max) {
    int64_t ended = 0;
    uint64_t arrival = 0;
    for (struct waiter *w; (uint64_t)ended < max && (w = next_on_key(key, arrival)) != NULL;) {
        arrival = w->arrival;
        add(&m.expected, w, ASKED);
        if (w->ready) {
            expect_end(w, HTW_REASON_COMPLETED);
            ended++;
        }
    }
    return ended;
}

static int compare_events(const void *one, const void *other) {
    const struct event *a = one, *b = other;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0;
}

/* Stable, so that the events of one request stay in their order. */
static void sort_events(struct events *events) {
    for (size_t i = 1; i < events->count; i++)
        for (size_t j = i; j > 0 && compare_events(&events->list[j - 1], &events->list[j]) > 0;
             j--) {
            struct event event = events->list[j];
            events->list[j] = events->list[j - 1];
            events->list[j - 1] = event;
        }
}

/* What was seen must be what was expected; in the same order, or in any order among requests. */
static void compare(bool ordered) {
    if (!ordered) {
        sort_events(&m.seen);
        sort_events(&m.expected);
    }
    REQUIRE(m.seen.count == m.expected.count);
    REQUIRE(memcmp(m.seen.list, m.expected.list, m.seen.count * sizeof(m.seen.list[0])) == 0);
    m.seen.count = m.expected.count = 0;
}

static void compare_stats(void) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    bool keys[KEYS] = { false };
    m.counted.pending = m.counted.delayed = m.counted.watched = m.counted.keys = 0;
    for (const struct waiter *w = m.waiters; w < m.waiters + WAITERS; w++) {
        REQUIRE(htw_request_is_pending(&w->request) == w->pending);
        if (!w->pending)
            continue;
        m.counted.pending++;
        m.counted.delayed += w->deadline_ns != HTW_FOREVER;
        for (unsigned key = 0; key < KEYS && w->threshold < 0; key++) {
            m.counted.watched += w->on_key[key];
            m.counted.keys += w->on_key[key] && !keys[key];
            keys[key] |= w->on_key[key];
        }
    }
    REQUIRE(htw_purgatory_stats(m.purgatory, &stats) == 0);
    REQUIRE(stats.memory_bytes == m.memory.live_bytes);
    m.counted.memory_bytes = stats.memory_bytes;
    m.counted.struct_size = stats.struct_size;
    REQUIRE(memcmp(&stats, &m.counted, sizeof(stats)) == 0);
    REQUIRE(htw_pending(m.scheduler) == m.counted.delayed ||
            htw_pending(m.scheduler) == m.counted.pending);
    REQUIRE(m.memory.error == NULL);
}

/* ---- steps */

static uint64_t below(uint64_t bound) {
    return random_below(&m.source, bound);
}

static struct waiter *any_waiter(bool pending) {
    size_t from = (size_t)below(WAITERS);
    for (size_t i = 0; i < WAITERS; i++)
        if (m.waiters[(from + i) % WAITERS].pending == pending)
            return &m.waiters[(from + i) % WAITERS];
    return NULL;
}

static int64_t any_timeout(void) {
    switch (below(5)) {
    case 0:
        return HTW_FOREVER;
    case 1:
        return (int64_t)below(2) - 1;
    case 2:
        return (int64_t)below(300) * HTW_SECOND;
    default:
        return (int64_t)below(50 * (uint64_t)TICK_NS);
    }
}

/* What both kinds of submission begin with. */
static struct waiter *prepare(int64_t *ret_timeout_ns) {
    struct waiter *w = any_waiter(false);
    if (w == NULL)
        return NULL;
    *ret_timeout_ns = any_timeout();
    w->ready = below(6) == 0;
    w->peer = below(8) == 0 ? &m.waiters[below(WAITERS)] : NULL;
    if (w->peer == w)
        w->peer = NULL;
    int64_t now_ns = htw_scheduler_now(m.scheduler);
    w->deadline_ns = *ret_timeout_ns == HTW_FOREVER ? HTW_FOREVER
                     : *ret_timeout_ns > 0          ? now_ns + *ret_timeout_ns
                                                    : now_ns;
    w->due_ns = *ret_timeout_ns == HTW_FOREVER ? HTW_FOREVER
                : *ret_timeout_ns > 0          ? (w->deadline_ns + TICK_NS - 1) / TICK_NS * TICK_NS
                                               : now_ns;
    if (m.refusing && below(3) == 0)
        failing_allocator_fail(below(4) == 0 ? &m.scheduler_memory : &m.memory, 1 + below(8),
                               below(2) == 0);
    return w;
}

/* With what both kinds of submission end. */
static void conclude(struct waiter *w, int result, bool finished, unsigned asks) {
    failing_allocator_relent(&m.memory);
    failing_allocator_relent(&m.scheduler_memory);
    if (result == -ENOMEM && m.refusing) {
        for (size_t i = 0; i < m.seen.count; i++)
            REQUIRE(m.seen.list[i].what == ASKED && m.seen.list[i].number == w->number);
        m.seen.count = 0;
        return;
    }
    for (unsigned i = 0; i < asks; i++)
        add(&m.expected, w, ASKED);
    REQUIRE(result == (finished ? HTW_FINISHED : HTW_WATCHED));
    m.counted.submitted++;
    w->pending = true;
    w->arrival = ++m.arrivals;
    if (finished)
        expect_end(w, HTW_REASON_COMPLETED);
}

static void step_submit(void) {
    struct htw_key keys[8];
    int64_t timeout_ns;
    struct waiter *w = prepare(&timeout_ns);
    if (w == NULL)
        return;
    size_t count = 1 + (size_t)below(below(4) == 0 ? 8 : 3);
    memset(w->on_key, 0, sizeof(w->on_key));
    w->threshold = -1;
    for (size_t i = 0; i < count; i++) {
        size_t key = (size_t)below(KEYS);
        w->on_key[key] = true;
        keys[i] = (struct htw_key) { m.names[key], strlen(m.names[key]) };
    }
    int result =
        htw_purgatory_try_complete_else_watch(m.purgatory, &w->request, keys, count, timeout_ns);
    conclude(w, result, w->ready, w->ready ? 1 : 2);
}

static void step_await(void) {
    int64_t timeout_ns;
    struct waiter *w = prepare(&timeout_ns);
    if (w == NULL)
        return;
    w->threshold = (int)below(THRESHOLDS);
    uint64_t value = m.values[w->threshold];
    uint64_t ahead = below(2) == 0 ? below(20) : random_magnitude(&m.source);
    w->value = ahead > UINT64_MAX - value ? UINT64_MAX : value + ahead;
    w->peer = NULL; /* of those that reach the same value nobody knows who is first */
    int result = htw_threshold_await(m.thresholds[w->threshold], &w->request, w->value, timeout_ns);
    conclude(w, result, w->value <= value, 0);
}

static void step_advance_threshold(void) {
    size_t which = (size_t)below(THRESHOLDS);
    uint64_t ahead = below(30) == 0 ? random_magnitude(&m.source) : below(15);
    uint64_t value = ahead > UINT64_MAX - m.values[which] ? UINT64_MAX : m.values[which] + ahead;
    int64_t ended = 0;
    if (below(8) == 0) {
        REQUIRE(htw_threshold_advance(m.thresholds[which], m.values[which] / 2) == 0);
        return;
    }
    for (struct waiter *w = m.waiters; w < m.waiters + WAITERS; w++)
        if (w->pending && w->threshold == (int)which && w->value <= value) {
            expect_end(w, HTW_REASON_COMPLETED);
            ended++;
        }
    m.values[which] = value;
    REQUIRE(htw_threshold_advance(m.thresholds[which], value) == ended);
    REQUIRE(htw_threshold_value(m.thresholds[which]) == value);
    for (size_t i = 1; i < m.seen.count; i++)
        REQUIRE(m.waiters[m.seen.list[i - 1].number].value <=
                m.waiters[m.seen.list[i].number].value);
    compare(false);
}

static void step_check(void) {
    unsigned key = (unsigned)below(KEYS);
    const char *name = m.names[key];
    uint64_t max = below(5);
    if (below(2) == 0) {
        int64_t ended = expect_check(key, UINT64_MAX);
        REQUIRE(htw_purgatory_check(m.purgatory, name, strlen(name)) == ended);
    } else {
        int64_t ended = expect_check(key, max);
        REQUIRE(htw_purgatory_check_at_most(m.purgatory, name, strlen(name), max) == ended);
    }
}

/* Some become ready, for checks to find. */
static void step_ready(void) {
    for (unsigned i = 0; i < 5; i++)
        m.waiters[below(WAITERS)].ready = below(3) != 0;
}

static void step_cancel_key(void) {
    unsigned key = (unsigned)below(KEYS);
    const char *name = m.names[key];
    bool visited = below(2) == 0;
    int64_t ended = 0;
    uint64_t arrival = 0;
    for (struct waiter *w; (w = next_on_key(key, arrival)) != NULL; ended++) {
        arrival = w->arrival;
        if (visited)
            add(&m.expected, w, VISITED);
        expect_end(w, HTW_REASON_CANCELLED);
    }
    REQUIRE(htw_purgatory_cancel_key(m.purgatory, name, strlen(name), visited ? visit : NULL,
                                     NULL) == ended);
}

static void step_end_one(void) {
    struct waiter *w = any_waiter(true);
    if (w == NULL)
        return;
    bool completed = below(2) == 0;
    expect_end(w, completed ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED);
    REQUIRE(completed ? htw_request_complete(m.purgatory, &w->request)
                      : htw_request_cancel(m.purgatory, &w->request));
}

static void advance(int64_t delta_ns) {
    int64_t then_ns = htw_scheduler_now(m.scheduler) + delta_ns;
    for (struct waiter *w = m.waiters; w < m.waiters + WAITERS; w++)
        if (w->pending && w->due_ns <= then_ns)
            expect_end(w, HTW_REASON_EXPIRED);
    REQUIRE(htw_scheduler_advance(m.scheduler, delta_ns) == 0);
    compare(false);
}

static void step_advance(void) {
    advance(below(20) == 0 ? (int64_t)below(100) * HTW_SECOND
                           : (int64_t)below(3 * (uint64_t)TICK_NS));
}

static void step_check_later(void) {
    unsigned key = (unsigned)below(KEYS);
    const char *name = m.names[key];
    advance(0); /* so that nothing else is due */
    if (m.refusing && below(3) == 0)
        failing_allocator_fail(&m.memory, 1, true);
    int result = 0;
    for (uint64_t times = 1 + below(3); times > 0; times--)
        result = htw_purgatory_check_later(m.purgatory, name, strlen(name));
    failing_allocator_relent(&m.memory);
    REQUIRE(result == 0 || (result == -ENOMEM && m.refusing));
    REQUIRE(m.seen.count == 0);
    if (result == 0)
        expect_check(key, UINT64_MAX);
    REQUIRE(htw_scheduler_advance(m.scheduler, 0) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
    unsigned weight;
} steps[] = { { "submit", step_submit, 40 },
              { "await", step_await, 12 },
              { "threshold_advance", step_advance_threshold, 6 },
              { "check", step_check, 14 },
              { "ready", step_ready, 6 },
              { "cancel_key", step_cancel_key, 2 },
              { "complete or cancel", step_end_one, 8 },
              { "advance", step_advance, 8 },
              { "check_later", step_check_later, 4 } };

/* ---- histories */

static void begin(void) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    failing_allocator_init(&m.memory);
    failing_allocator_init(&m.scheduler_memory);
    scheduler_options.clock = HTW_CLOCK_MANUAL;
    scheduler_options.workers = 0;
    scheduler_options.shards = 1 + (uint32_t)below(3);
    scheduler_options.allocator = &m.scheduler_memory.allocator;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = UINT32_C(1) << below(5);
    options.allocator = &m.memory.allocator;
    REQUIRE(htw_scheduler_create(&m.scheduler, &scheduler_options) == 0);
    REQUIRE(htw_purgatory_create(&m.purgatory, m.scheduler, &options) == 0);
    m.initial_bytes = m.memory.live_bytes;
    for (unsigned i = 0; i < THRESHOLDS; i++) {
        m.values[i] = below(2) == 0 ? below(100) : random_magnitude(&m.source);
        REQUIRE(htw_threshold_create(m.purgatory, m.values[i], &m.thresholds[i]) == 0);
    }
    for (unsigned i = 0; i < KEYS; i++)
        snprintf(m.names[i], sizeof(m.names[i]),
                 i % 3 == 0 ? "a key of some length, number %u" : "%u", i);
    memset(m.waiters, 0, sizeof(m.waiters));
    for (unsigned i = 0; i < WAITERS; i++)
        m.waiters[i].number = i;
    m.counted = (struct htw_purgatory_stats)HTW_PURGATORY_STATS_INIT;
    m.refusing = below(4) == 0;
}

static void end(void) {
    m.doing = "close";
    int64_t ended = 0;
    for (struct waiter *w = m.waiters; w < m.waiters + WAITERS; w++)
        if (w->pending) {
            add(&m.expected, w, VISITED);
            expect_end(w, HTW_REASON_CLOSED);
            ended++;
        }
    REQUIRE(htw_purgatory_close(m.purgatory, visit, NULL) == ended);
    compare(false);
    compare_stats();
    for (unsigned i = 0; i < THRESHOLDS; i++)
        REQUIRE(htw_threshold_destroy(m.thresholds[i]) == 0);
    REQUIRE(m.memory.live_bytes == m.initial_bytes);
    REQUIRE(htw_purgatory_destroy(m.purgatory) == 0);
    REQUIRE(htw_pending(m.scheduler) == 0);
    REQUIRE(htw_scheduler_destroy(m.scheduler) == 0);
    REQUIRE(m.memory.live_blocks == 0 && m.scheduler_memory.live_blocks == 0);
    REQUIRE(m.memory.error == NULL && m.scheduler_memory.error == NULL);
}

static void run_history(uint64_t count) {
    m.source = (struct random_source) { m.seed ^ m.history * UINT64_C(0x9fb21c651e98df25) };
    m.doing = "begin";
    begin();
    for (m.step = 0; m.step < count; m.step++) {
        uint64_t choice = below(100);
        size_t which = 0;
        while (choice >= steps[which].weight)
            choice -= steps[which++].weight;
        m.doing = steps[which].name;
        steps[which].run();
        compare(true);
        compare_stats();
    }
    end();
}

int main(int argc, char *argv[]) {
    uint64_t count = 300000, first = 0, histories = UINT64_MAX, done = 0;
    const char *seed = getenv("HTW_SEED");
    m.seed = seed != NULL ? strtoull(seed, NULL, 10) : 20260101;
    for (int i = 1; i < argc; i += 2) {
        uint64_t value = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
        uint64_t *place = strcmp(argv[i], "--seed") == 0        ? &m.seed
                          : strcmp(argv[i], "--steps") == 0     ? &count
                          : strcmp(argv[i], "--first") == 0     ? &first
                          : strcmp(argv[i], "--histories") == 0 ? &histories
                                                                : NULL;
        if (place == NULL || i + 1 == argc) {
            fprintf(stderr, "usage: %s [--seed N] [--steps N] [--first N] [--histories N]\n",
                    argv[0]);
            return 2;
        }
        *place = value;
    }
    for (m.history = first; m.history - first < histories && done < count; m.history++) {
        run_history(STEPS_A_HISTORY);
        done += STEPS_A_HISTORY;
    }
    printf("model_purgatory: %" PRIu64 " steps, seed %" PRIu64 ": ok\n", done, m.seed);
    return 0;
}
