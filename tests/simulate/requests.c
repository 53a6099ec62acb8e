/* SPDX-License-Identifier: MIT */
/* requests.c - requests of the purgatory: each one ends exactly once, for a reason that there is. */
#include "program.h"

#include "../explore/machine.h"
#include "threads.h"
#include "world.h"

#include <errno.h>
#include <string.h>

enum { REQUESTS = 64, KEYS = 4 };

struct item {
    struct htw_request request;
    bool is_submitted; /* until it is released */
    bool is_busy;      /* a client is in a call about it */
    bool has_ended, is_ready, was_taken, may_be_cancelled;
    uint32_t serial;
    unsigned keys[2];
    struct due timeout; /* not before this */
    struct due latest;  /* late after this: of the timeout, or of an event */
};

static struct htw_purgatory *purgatory;
static struct item items[REQUESTS];
static bool is_closing;
static unsigned has_cancelled_keys; /* clients that are in such a call */
static uint64_t submitted, ended;

static uint64_t index_of(const struct item *item) {
    return (uint64_t)(item - items);
}

static struct item *item_of(struct htw_request *request) {
    return (struct item *)(void *)request;
}

static struct due never(void) {
    return (struct due) { .deadline_ns = HTW_NEVER_NS, .at_ns = MACHINE_NEVER };
}

static void require_in_time(const struct due *latest) {
    int64_t late_ns = latest->at_ns == MACHINE_NEVER ? 0 : due_late_ns(latest, false);
    if (late_ns > world->counts.late_request_ns)
        world->counts.late_request_ns = late_ns;
    REQUIRE(late_ns <= LATE_TIMER_NS);
}

/* ---- hooks */

static bool try_complete(void *context, struct htw_request *request) {
    struct item *item = item_of(request);
    (void)context;
    REQUIRE(item->is_submitted && !item->has_ended && !item->was_taken);
    item->was_taken = item->is_ready;
    if (chance_one_in(4)) /* an event may come before the answer */
        threads_sleep_ns((int64_t)chance_below(200 * HTW_MICROSECOND));
    return item->was_taken;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    struct item *item = item_of(request);
    (void)context;
    note("ends", index_of(item), reason);
    REQUIRE(item->is_submitted && !item->has_ended);
    REQUIRE(item->was_taken == (reason == HTW_REASON_COMPLETED));
    REQUIRE(reason != HTW_REASON_CANCELLED || item->may_be_cancelled);
    REQUIRE(reason != HTW_REASON_CLOSED || is_closing);
    if (reason == HTW_REASON_EXPIRED)
        due_require_reached(&item->timeout);
    require_in_time(&item->latest);
    item->has_ended = true;
}

static void release(void *context, struct htw_request *request) {
    struct item *item = item_of(request);
    (void)context;
    REQUIRE(item->is_submitted && item->has_ended);
    item->is_submitted = false;
    ended++;
    world->counts.ended++;
}

/* ---- calls */

static struct item *find(bool is_submitted) {
    uint64_t from = chance_below(REQUESTS);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        struct item *item = &items[(from + i) % REQUESTS];
        if (item->is_submitted == is_submitted && !item->is_busy)
            return item;
    }
    return NULL;
}

static int64_t random_timeout_ns(void) {
    if (chance_one_in(8))
        return HTW_NEVER_NS;
    return chance_one_in(16) ? 0 : chance_ns(chance_one_in(2) ? HTW_SECOND : 20 * HTW_MILLISECOND);
}

static struct due after(int64_t delay_ns) {
    return delay_ns == HTW_NEVER_NS ? never() : due_at(machine_now_ns() + delay_ns, false);
}

static void name_key(unsigned number, char name[4], struct htw_key *key) {
    name[0] = 'k';
    name[1] = (char)('0' + number);
    *key = (struct htw_key) { name, 2 };
}

static void submit(void) {
    struct item *item = find(false);
    struct htw_key keys[2];
    char names[2][4];
    if (item == NULL)
        return;
    int64_t timeout_ns = random_timeout_ns();
    *item = (struct item) { .is_submitted = true,
                            .is_busy = true,
                            .may_be_cancelled = has_cancelled_keys > 0,
                            .serial = item->serial + 1,
                            .latest = never() };
    item->timeout = after(timeout_ns);
    for (unsigned i = 0; i < 2; i++) {
        item->keys[i] = (unsigned)chance_below(KEYS);
        name_key(item->keys[i], names[i], &keys[i]);
    }
    submitted++;
    int result = htw_purgatory_try_complete_else_watch(purgatory, &item->request, keys,
                                                       1 + chance_below(2), timeout_ns);
    note("submits", index_of(item), result);
    if (result < 0) {
        REQUIRE(program_may_fail(result) && !item->has_ended && !item->was_taken);
        item->is_submitted = false;
        submitted--;
    } else if (item->latest.at_ns == MACHINE_NEVER) {
        item->latest = after(timeout_ns);
    }
    REQUIRE(result != HTW_FINISHED || !item->is_submitted);
    world->counts.submitted += result >= 0;
    item->is_busy = false;
}

/* It waits on the first of its keys at least, or is being submitted to it. */
static bool may_wait_on(const struct item *item, unsigned key) {
    return item->is_submitted && !item->has_ended && item->keys[0] == key;
}

/* The serials of the requests that a call is to end, by their places. */
struct expected {
    uint32_t serials[REQUESTS]; /* 0: it does not */
};

/* What waits is cancelled; what is being submitted may not wait yet. */
static struct expected expect_cancelled(unsigned key) {
    struct expected expected = { { 0 } };
    for (unsigned i = 0; i < REQUESTS; i++)
        if (may_wait_on(&items[i], key) && !items[i].is_busy)
            expected.serials[i] = items[i].serial;
    return expected;
}

/* What is ready is completed, also if the event comes while it is being submitted. */
static struct expected expect_completed(unsigned key) {
    struct expected expected = { { 0 } };
    for (unsigned i = 0; i < REQUESTS; i++)
        if (may_wait_on(&items[i], key) && items[i].is_ready)
            expected.serials[i] = items[i].serial;
    return expected;
}

static void expect_end(const struct expected *expected) {
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct item *item = &items[i];
        if (expected->serials[i] == item->serial && item->is_submitted && !item->has_ended &&
            item->latest.at_ns > machine_now_ns())
            item->latest = after(0);
    }
}

static void report_event(void) {
    unsigned number = (unsigned)chance_below(KEYS);
    char name[4];
    struct htw_key key;
    name_key(number, name, &key);
    for (unsigned i = 0; i < REQUESTS; i++)
        if (may_wait_on(&items[i], number) && chance_one_in(2))
            items[i].is_ready = true;
    struct expected expected = expect_completed(number);
    int64_t result = chance_one_in(3) ? htw_purgatory_check_later(purgatory, key.bytes, key.size)
                                      : htw_purgatory_check(purgatory, key.bytes, key.size);
    note("checks", number, result);
    REQUIRE(result >= 0 || program_may_fail((int)result));
    if (result >= 0)
        expect_end(&expected);
}

static void cancel_key(void) {
    unsigned number = (unsigned)chance_below(KEYS);
    char name[4];
    struct htw_key key;
    name_key(number, name, &key);
    for (unsigned i = 0; i < REQUESTS; i++)
        items[i].may_be_cancelled = items[i].may_be_cancelled || items[i].is_submitted;
    struct expected expected = expect_cancelled(number);
    has_cancelled_keys++;
    int64_t result = htw_purgatory_cancel_key(purgatory, key.bytes, key.size, NULL, NULL);
    has_cancelled_keys--;
    note("cancels a key", number, result);
    REQUIRE(result >= 0);
    expect_end(&expected);
}

static void cancel_one(void) {
    struct item *item = find(true);
    if (item == NULL || item->has_ended)
        return;
    item->is_busy = item->may_be_cancelled = true;
    bool is_done = htw_request_cancel(purgatory, &item->request);
    note("cancels a request", index_of(item), is_done);
    if (item->is_submitted && !item->has_ended)
        item->latest = after(0);
    item->is_busy = false;
}

void requests_act(void) {
    uint64_t kind = chance_below(16);
    if (kind < 8)
        submit();
    else if (kind < 13)
        report_event();
    else if (kind < 15)
        cancel_one();
    else
        cancel_key();
}

/* ---- opening, judging, closing */

void requests_open(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = 1u << chance_below(3);
    options.allocator = &simulated_allocator;
    int error;
    while ((error = htw_purgatory_create(&purgatory, scheduler, &options)) != 0) {
        REQUIRE(program_may_fail(error));
        threads_sleep_ns(10 * HTW_MILLISECOND);
    }
}

void requests_judge(void) {
    for (unsigned i = 0; i < REQUESTS; i++)
        if (items[i].is_submitted && !items[i].is_busy && !items[i].has_ended)
            require_in_time(&items[i].latest);
}

void requests_close(void) {
    is_closing = true;
    REQUIRE(htw_purgatory_close(purgatory, NULL, NULL) >= 0);
    REQUIRE(htw_purgatory_destroy(purgatory) == 0);
    REQUIRE(submitted == ended);
}
