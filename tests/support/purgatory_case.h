/* SPDX-License-Identifier: MIT */
/*
 * purgatory_case.h - what the unit tests of the purgatory begin with: a scheduler on the MANUAL
 * clock without workers, so that requests expire in the test's own thread, a purgatory over an
 * allocator that counts, and requests with letters for names.
 *
 * Each hook writes to the log of its case: "a?" when request a is asked, "aC", "aE", "aX" or "aS"
 * when it ends (completed, expired, cancelled, shut out by a close), "a=" when it is released, and
 * "a!" when a visitor is given it. Hooks never assert, as they are in the middle of the library:
 * what is wrong goes into `error`, at which purgatory_case_end() looks.
 */
#ifndef TESTS_PURGATORY_CASE_H
#define TESTS_PURGATORY_CASE_H

#include "../unit/unit.h"
#include "failing_allocator.h"

#include <htw/purgatory_inspect.h>
#include <htw/threshold.h>

#include <stddef.h>
#include <stdint.h>

#define MS HTW_MILLISECOND

/** What the manual clock starts from. */
#define CASE_START_NS (1000 * HTW_SECOND)

struct purgatory_case;

/** What has become of a waiter. */
enum waiter_life { WAITER_FREE, WAITER_PENDING, WAITER_SAID_YES, WAITER_ENDED };

/** A request, what its hooks are to do, and what they have seen. */
struct waiter {
    struct purgatory_case *test;
    struct htw_request request; /* not at the start, so that nothing takes one for the other */
    char name;                  /* a letter; 0: it is not logged */
    bool ready;                 /* what `try_complete` answers */
    unsigned yes_at;            /* if not 0: it answers yes from this time on that it is asked */
    unsigned asked, ended, released, visited;
    enum waiter_life life;
    enum htw_reason reason; /* with which it has ended last */
    int64_t not_before_ns;  /* it may not expire earlier */
    /* Called by its hooks, after the log; NULL: nothing. */
    void (*on_asked)(struct waiter *self);
    void (*on_ended)(struct waiter *self);
    void (*on_released)(struct waiter *self);
    void (*on_visited)(struct waiter *self);
    struct waiter *peer; /* for these four */
    int64_t result;
    bool answer;
};

struct purgatory_case {
    struct failing_allocator memory;           /* the purgatory's */
    struct failing_allocator scheduler_memory; /* apart, so that each can be looked at alone */
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_threshold *threshold; /* for those tests that want one; destroyed at the end */
    struct waiter waiters[26];       /* see purgatory_case_waiter() */
    char log[2048];
    size_t log_length;
    const char *error;  /* the first thing that was wrong in a hook */
    uint64_t ends[4];   /* by reason */
    uint64_t submitted; /* calls that were not refused */
};

/** A manual clock, one shard, no workers. */
struct htw_scheduler_options purgatory_case_scheduler_options(void);

/** The hooks, and 4 shards. `begin` sets the context and, where there is none, the allocator. */
struct htw_purgatory_options purgatory_case_options(void);

/** Creates both; NULL: with the options above. */
void purgatory_case_begin(struct purgatory_case *test,
                          const struct htw_scheduler_options *scheduler_options,
                          const struct htw_purgatory_options *options);

/**
 * Closes and destroys all. The counters must add up, and be those that the hooks have counted;
 * nothing may have gone wrong in a hook, no timer be left, and all memory be given back.
 */
void purgatory_case_end(struct purgatory_case *test);

/** The case of the tests that follow, and what runs before and after each, with the options above. */
extern struct purgatory_case purgatory_case;
void purgatory_case_setup(void);
void purgatory_case_teardown(void);

/** Defines a test as UNIT_TEST() does, between `setup` and purgatory_case_teardown(). It gets `test`. */
#define PURGATORY_TEST_AFTER(setup, name) \
    UNIT_TEST_ON(struct purgatory_case *test, &purgatory_case, setup, purgatory_case_teardown, name)

#define PURGATORY_TEST(name) PURGATORY_TEST_AFTER(purgatory_case_setup, name)

/** The same with a threshold, which is at 100. */
void purgatory_case_setup_threshold(void);

#define THRESHOLD_TEST(name) PURGATORY_TEST_AFTER(purgatory_case_setup_threshold, name)

/** Makes a waiter ready for its first submission. */
void waiter_init(struct waiter *self, struct purgatory_case *test, char name);

/** The case's own waiter of this name, from 'a' to 'z', initialised. */
struct waiter *purgatory_case_waiter(struct purgatory_case *test, char name);

/** Submits it on keys, of which the last is followed by NULL. */
int waiter_submit(struct waiter *self, int64_t timeout_ns, const char *const *keys);

/** Submits it on any keys. */
int waiter_submit_keys(struct waiter *self, int64_t timeout_ns, const struct htw_key *keys,
                       size_t key_count);

/** Lets it wait on the case's threshold. */
int waiter_await(struct waiter *self, uint64_t value, int64_t timeout_ns);

/** Lets the case's waiter of this name wait for a value, for a second at most. */
struct waiter *await_value(struct purgatory_case *test, char name, uint64_t value);

#define submit(self, timeout_ns, ...) \
    waiter_submit(self, timeout_ns, (const char *const[]) { __VA_ARGS__, NULL })

/**
 * Submits the waiters of these names, of which those in capitals say yes when they are asked again,
 * on keys, of which the last is followed by NULL. Empties the log. Returns the case's waiters.
 */
struct waiter *purgatory_case_watch(struct purgatory_case *test, const char *names,
                                    int64_t timeout_ns, const char *const *keys);

#define watch_each(test, names, timeout_ns, ...) \
    purgatory_case_watch(test, names, timeout_ns, (const char *const[]) { __VA_ARGS__, NULL })

/** Submits a waiter that has to wait. */
#define watch(self, timeout_ns, ...) \
    assert_int_equal(submit(self, timeout_ns, __VA_ARGS__), HTW_WATCHED)

/** htw_purgatory_check() and its like, with a string for a key. */
int64_t check_key(struct purgatory_case *test, const char *key);
int64_t check_key_at_most(struct purgatory_case *test, const char *key, uint64_t max);
int check_key_later(struct purgatory_case *test, const char *key);

/** htw_purgatory_cancel_key(), with the visitor below. */
int64_t cancel_key(struct purgatory_case *test, const char *key);

/** htw_threshold_advance() of the case's threshold. */
int64_t advance_to(struct purgatory_case *test, uint64_t value);

bool complete(struct waiter *self);
bool cancel(struct waiter *self);

/** htw_request_set_timeout(); from then on the request may not expire earlier than that. */
int set_timeout(struct waiter *self, int64_t timeout_ns);

/** Writes to the log, and calls `on_visited`. Its context must be the case. */
void waiter_visit(void *context, struct htw_request *request);

/** Lets time go on. */
void purgatory_case_advance(struct purgatory_case *test, int64_t delta_ns);

/** The counters, which must add up, and agree with the other functions and the allocator. */
struct htw_purgatory_stats purgatory_case_stats(struct purgatory_case *test);

/** The counters are still these. */
void assert_same_stats(struct purgatory_case *test, const struct htw_purgatory_stats *before);

/** Empties the log. */
void purgatory_case_forget_log(struct purgatory_case *test);

/** See assert_log. */
void purgatory_case_assert_log(struct purgatory_case *test, const char *expected, bool ends_only,
                               const char *file, int line);

/** The hooks have written this since the log was last looked at, the events separated by blanks. */
#define assert_log(test, expected) \
    purgatory_case_assert_log(test, expected, false, __FILE__, __LINE__)

/** The same, but only of what has ended. */
#define assert_ends(test, expected) \
    purgatory_case_assert_log(test, expected, true, __FILE__, __LINE__)

/** Checks a key: so many requests end as completed, and the hooks write this. */
#define assert_check_log(test, key, count, expected)   \
    do {                                               \
        assert_int_equal(check_key(test, key), count); \
        assert_log(test, expected);                    \
    } while (0)

/** Advances the case's threshold: so many requests end, and the hooks write this. */
#define assert_advance_log(test, value, count, expected)  \
    do {                                                  \
        assert_int_equal(advance_to(test, value), count); \
        assert_log(test, expected);                       \
    } while (0)

/** Lets time go on: the hooks write this. */
#define assert_log_after(test, delta_ns, expected) \
    do {                                           \
        purgatory_case_advance(test, delta_ns);    \
        assert_log(test, expected);                \
    } while (0)

#define assert_ends_after(test, delta_ns, expected) \
    do {                                            \
        purgatory_case_advance(test, delta_ns);     \
        assert_ends(test, expected);                \
    } while (0)

/** Requests that wait, their watches, the keys that are watched, and timeouts that run. */
#define assert_waiting(test, pending_count, watched_count, keys_count, delayed_count) \
    do {                                                                              \
        struct htw_purgatory_stats now_ = purgatory_case_stats(test);                 \
        assert_int_equal(now_.pending, pending_count);                                \
        assert_int_equal(now_.watched, watched_count);                                \
        assert_int_equal(now_.keys, keys_count);                                      \
        assert_int_equal(now_.delayed, delayed_count);                                \
    } while (0)

#endif /* TESTS_PURGATORY_CASE_H */
