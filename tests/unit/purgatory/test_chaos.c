/* SPDX-License-Identifier: MIT */
/*
 * test_chaos.c - hooks that do anything to any key and any request, at random, and inside one
 * another.
 *
 * The test does not predict what happens. But the library asks a request only while it waits, ends
 * it once and releases it once, and then its memory is freed. After each step the counters must
 * agree with that. When all is quiet, each request that still waits was asked after the last check
 * of each of its keys, except for checks from its own `try_complete`, and its time has not come. HTW_SEED chooses another
 * history; the test prints its seed.
 */
/* holds: purgatory-1, purgatory-5, purgatory-9b, purgatory-10, purgatory-15, purgatory-21, purgatory-22 */
#include "../../support/purgatory_case.h"
#include "../../support/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 40, KEYS = 6, STEPS = 20000, DEPTH_MAX = 4 };

static struct chaos {
    struct purgatory_case test;
    struct random_source source;
    struct waiter *places[PLACES]; /* those that are pending or in a hook; NULL: free */
    struct duty {
        unsigned keys;        /* on which it waits, a bit each */
        bool is_inside;       /* its `try_complete` runs */
        uint64_t asked, must; /* when it was asked last, and after which moment it must be */
    } duties[PLACES];
    uint64_t moment;
    unsigned depth; /* calls of the library that this is inside of */
    uint64_t actions;
    bool failing; /* allocations do at times, there is a limit, and an executor drops tasks */
    bool calm;    /* but not now */
    bool closed;
} chaos;

static const char *const key_names[KEYS] = { "a", "b", "c",
                                             "d", "e", "one that is longer than sixteen bytes" };

static uint64_t below(uint64_t bound) {
    return random_below(&chaos.source, bound);
}

static void act(void);

static struct duty *duty_of(const struct waiter *self) {
    for (unsigned i = 0; i < PLACES; i++)
        if (chaos.places[i] == self)
            return &chaos.duties[i];
    abort();
}

/* From now on all that wait on the key must be asked. */
static void expect_asked(unsigned key) {
    for (unsigned i = 0; i < PLACES; i++)
        if (chaos.places[i] != NULL && (chaos.duties[i].keys >> key & 1) != 0 &&
            !chaos.duties[i].is_inside)
            chaos.duties[i].must = ++chaos.moment;
}

static void assert_all_asked(void) {
    for (unsigned i = 0; i < PLACES; i++)
        if (chaos.places[i] != NULL) {
            assert_true(chaos.duties[i].asked >= chaos.duties[i].must);
            assert_true(chaos.places[i]->not_before_ns >
                        htw_scheduler_now(chaos.test.scheduler) - HTW_SECOND);
        }
}

static void on_hook(struct waiter *self) {
    self->ready = below(5) == 0;
    if (below(3) == 0)
        act();
}

/* Checks one of its own keys at times. */
static void on_asked(struct waiter *self) {
    struct duty *duty = duty_of(self);
    duty->asked = ++chaos.moment;
    duty->is_inside = true;
    on_hook(self);
    unsigned key = (unsigned)below(KEYS);
    if (below(3) == 0 && (duty->keys >> key & 1) != 0) {
        expect_asked(key);
        check_key(&chaos.test, key_names[key]);
    }
    duty->is_inside = false;
}

static void on_released(struct waiter *self) {
    for (unsigned i = 0; i < PLACES; i++)
        if (chaos.places[i] == self)
            chaos.places[i] = NULL;
    free(self);
    if (below(3) == 0)
        act();
}

static struct waiter *new_waiter(void) {
    unsigned place = (unsigned)below(PLACES);
    if (chaos.places[place] != NULL)
        return NULL;
    struct waiter *waiter = malloc(sizeof(*waiter));
    if (waiter == NULL)
        abort();
    waiter_init(waiter, &chaos.test, '\0');
    waiter->on_asked = on_asked;
    waiter->on_ended = waiter->on_visited = on_hook;
    waiter->on_released = on_released;
    chaos.places[place] = waiter;
    chaos.duties[place] = (struct duty) { 0 };
    return waiter;
}

static int64_t any_timeout(void) {
    return below(4) == 0 ? HTW_NEVER_NS : (int64_t)below(20 * (uint64_t)MS) - MS;
}

static void do_submit(void) {
    const char *keys[9] = { NULL };
    struct waiter *waiter = new_waiter();
    if (waiter == NULL)
        return;
    unsigned count = 1 + (unsigned)below(below(3) == 0 ? 8 : 3), set = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned key = (unsigned)below(KEYS);
        keys[i] = key_names[key];
        set |= 1u << key;
    }
    int result;
    if (below(6) == 0) {
        result = waiter_await(waiter, htw_threshold_value(chaos.test.threshold) + below(9),
                              any_timeout());
    } else {
        duty_of(waiter)->keys = set;
        result = waiter_submit(waiter, any_timeout(), keys);
    }
    if (result >= 0)
        return;
    bool expected = chaos.closed ? result == -ESHUTDOWN
                                 : chaos.failing && (result == -ENOMEM || result == -EAGAIN);
    if (!expected && chaos.test.error == NULL)
        chaos.test.error = "a submission was refused for no reason";
    on_released(waiter); /* it is still the user's */
}

static void do_end(void) {
    struct waiter *waiter = chaos.places[below(PLACES)];
    switch (waiter != NULL ? below(3) : 3) {
    case 0:
        complete(waiter);
        break;
    case 1:
        cancel(waiter);
        break;
    case 2:
        set_timeout(waiter, any_timeout());
        break;
    }
}

static void do_threshold(void) {
    struct htw_threshold *threshold = chaos.test.threshold;
    uint64_t value = htw_threshold_value(threshold), by = below(4);
    switch (below(8)) {
    case 0:
        htw_threshold_lower(threshold, by < value ? value - by : 0);
        break;
    case 1:
        htw_threshold_end_all(threshold,
                              below(2) == 0 ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED,
                              waiter_visit, &chaos.test);
        break;
    default:
        htw_threshold_advance(threshold, value + by);
    }
}

static void do_event(void) {
    unsigned number = (unsigned)below(KEYS);
    const char *key = key_names[number];
    switch (below(9)) {
    case 0:
        cancel_key(&chaos.test, key);
        break;
    case 8:
        htw_purgatory_count_key(chaos.test.purgatory, key, strlen(key));
        break;
    case 1:
    case 2:
        if (check_key_later(&chaos.test, key) == 0)
            expect_asked(number);
        break;
    case 3:
    case 4:
        check_key_at_most(&chaos.test, key, below(4));
        break;
    default:
        expect_asked(number);
        check_key(&chaos.test, key);
    }
}

/* Does anything. */
static void act(void) {
    if (chaos.depth == DEPTH_MAX)
        return;
    chaos.depth++;
    chaos.actions++;
    if (chaos.failing && below(4) == 0)
        failing_allocator_fail(below(2) == 0 ? &chaos.test.memory : &chaos.test.scheduler_memory,
                               1 + (size_t)below(3), below(2) == 0);
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
        do_submit();
        break;
    case 4:
    case 5:
        do_end();
        break;
    case 6:
        do_threshold();
        break;
    default:
        do_event();
    }
    failing_allocator_relent(&chaos.test.memory);
    failing_allocator_relent(&chaos.test.scheduler_memory);
    chaos.depth--;
}

/* Drops tasks at times, also when no other timer can be had. */
static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        if (chaos.calm || below(4) != 0) {
            htw_task_run(tasks[i]);
            continue;
        }
        if (below(2) == 0)
            failing_allocator_fail(&chaos.test.scheduler_memory, 1, true);
        int outcome = htw_task_drop(tasks[i], NULL);
        (void)outcome;
        failing_allocator_relent(&chaos.test.scheduler_memory);
    }
}

/* Until no check is queued that an executor has dropped. If all alarms were lost, a submission sets one. */
static void calm_down(void) {
    static struct waiter probe;
    chaos.calm = true;
    waiter_init(&probe, &chaos.test, '\0');
    watch(&probe, HTW_HOUR, "a key of its own");
    purgatory_case_advance(&chaos.test, 2 * HTW_SECOND);
    assert_true(cancel(&probe));
    chaos.calm = false;
    assert_all_asked();
}

static void assert_all_accounted_for(void) {
    uint64_t pending = 0;
    for (unsigned i = 0; i < PLACES; i++)
        pending += chaos.places[i] != NULL;
    if (chaos.test.error != NULL)
        fail_msg("%s", chaos.test.error);
    assert_int_equal(purgatory_case_stats(&chaos.test).pending, pending);
}

static void run_history(uint64_t seed, uint64_t steps, bool failing) {
    print_message("seed %" PRIu64 "\n", seed);
    chaos = (struct chaos) { .source = { seed }, .failing = failing };
    struct htw_scheduler_options options = purgatory_case_scheduler_options();
    options.max_pending = failing ? PLACES / 3 : 0;
    const struct htw_executor executor = { execute, NULL };
    options.executor = failing ? &executor : NULL;
    purgatory_case_begin(&chaos.test, &options, NULL);
    assert_int_equal(htw_threshold_create(chaos.test.purgatory, 1, &chaos.test.threshold), 0);
    for (uint64_t step = 0; step < steps; step++) {
        act();
        assert_all_accounted_for();
        if (below(8) == 0)
            purgatory_case_advance(&chaos.test, (int64_t)below(2 * (uint64_t)MS));
        if (below(64) == 0)
            calm_down();
    }
    calm_down();
    assert_true(chaos.actions > steps);
    assert_true(chaos.test.ends[HTW_REASON_EXPIRED] > 0);
    /* From now on hooks find it closed. */
    chaos.closed = true;
    htw_purgatory_close(chaos.test.purgatory, waiter_visit, &chaos.test);
    assert_all_accounted_for();
    assert_waiting(&chaos.test, 0, 0, 0, 0);
    purgatory_case_end(&chaos.test);
}

static uint64_t chosen_seed(void) {
    const char *seed = getenv("HTW_SEED");
    return seed != NULL ? strtoull(seed, NULL, 10) : 20261121;
}

UNIT_TEST(purgatory_under_hooks_that_do_anything_keeps_its_promises) {
    for (uint64_t i = 0; i < 10; i++)
        run_history(chosen_seed() + i, STEPS / 10, false);
}

UNIT_TEST(purgatory_under_hooks_and_without_memory_keeps_its_promises) {
    for (uint64_t i = 0; i < 10; i++)
        run_history(chosen_seed() + i, STEPS / 10, true);
}
