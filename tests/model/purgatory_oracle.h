/* SPDX-License-Identifier: MIT */
/*
 * purgatory_oracle.h - what a purgatory must do, said as simply as possible: no lists, but a look
 * at all requests each time. What the hooks have seen is compared with what was expected.
 */
#ifndef TESTS_PURGATORY_ORACLE_H
#define TESTS_PURGATORY_ORACLE_H

#include "../support/failing_allocator.h"
#include "../support/random.h"

#include <htw/purgatory_inspect.h>
#include <htw/threshold.h>

#define TICK_NS HTW_MILLISECOND

enum { WAITERS = 120, KEYS = 20, THRESHOLDS = 2, EVENTS_MAX = 4096 };
enum { ASKED = 100, RELEASED, VISITED }; /* besides the reasons */

/* In which hook a request ends another one, or itself while it is asked. */
enum act_at { ACT_NEVER, ACT_ASKED, ACT_VISITED, ACT_ENDED, ACT_RELEASED };

/* A request, and what the oracle knows of it. */
struct waiter {
    struct htw_request request;
    bool pending, ready;
    bool is_asked; /* its `try_complete` runs */
    int marked;    /* the reason for which it then ends, unless that says yes; -1: none */
    unsigned number;
    uint64_t arrival;
    bool on_key[KEYS];
    int threshold; /* on which it waits; -1: on keys */
    uint64_t value;
    int64_t deadline_ns, due_ns; /* the latter is rounded up to a tick */
    int64_t since_ns;            /* it waits; -1: it does not */
    enum htw_reason reason;      /* with which on_complete was called */
    bool is_measured;            /* its wait surely counts; otherwise it may */
    enum act_at act_at;
    bool act_completes; /* otherwise it cancels */
    struct waiter *peer;
};

struct event {
    unsigned number;
    int what;
};

struct events {
    struct event list[EVENTS_MAX];
    size_t count;
};

extern struct model {
    uint64_t seed, history, step;
    struct random_source source;
    struct failing_allocator memory, scheduler_memory;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_threshold *thresholds[THRESHOLDS];
    uint64_t values[THRESHOLDS];
    struct waiter waiters[WAITERS];
    struct htw_key keys[KEYS];
    unsigned key_count; /* of these are used */
    struct events seen, expected;
    uint64_t arrivals, initial_bytes;
    bool refusing;        /* allocations fail at times */
    bool asks, releases;  /* whether there are these hooks */
    bool is_ordered;      /* the order of hooks is known, so hooks may end other requests */
    bool is_limited;      /* the scheduler holds one timer */
    htw_handle stranger;  /* and this is it; 0: it is not */
    bool is_stopped;      /* the scheduler */
    enum htw_clock clock; /* the scheduler's */
    bool by_kernel;       /* and that is not manual */
    int64_t monotonic_ns, boottime_ns, wall_ns; /* what the kernel's clocks show */
    int64_t call_ns;                            /* when the step began */
    bool wall_was_read, monotonic_was_read,
        is_torn;   /* a clock was set inside a call, or its thread was stopped, ... */
    bool may_stop; /* ... where it may be */
    struct random_source tears;
    const char *doing;
    struct htw_purgatory_stats counted;
    /* How long requests waited: those that are measured surely, and all. */
    uint64_t least_waits[HTW_PURGATORY_WAIT_BUCKETS], most_waits[HTW_PURGATORY_WAIT_BUCKETS];
    uint64_t least_waited_ms, most_waited_ms;
    int64_t begun_ms; /* the millisecond of the last submissions, */
    unsigned begun;   /* ... and how many */
    int64_t end_ns;   /* what expires now does so by then, and ... */
    bool is_stepped;  /* ... all of it then; otherwise each when it is due */
} model;

/** Tells what has been seen and what was expected, how to run it again, and ends the program. */
void model_fail(const char *what, int line);

#define REQUIRE(condition)                    \
    do {                                      \
        if (!(condition))                     \
            model_fail(#condition, __LINE__); \
    } while (0)

/** The hooks: they write down what they see. */
bool model_try_complete(void *context, struct htw_request *request);
void model_on_complete(void *context, struct htw_request *request, enum htw_reason reason);
void model_release(void *context, struct htw_request *request);
void model_visit(void *context, struct htw_request *request);

/** By which timeouts are measured: the manual clock, the one that goes on while the machine sleeps, or the monotonic one. */
int64_t model_now_ns(void);

/** Runs what is due at the present time. */
void model_run(void);

/** Lets time go on. */
void model_advance(int64_t delta_ns);

/** Sets the manual clock or the wall clock; back, if `delta_ns` is negative. */
void model_step_clock(int64_t delta_ns);

/** The machine sleeps for so long. */
void model_suspend(int64_t delta_ns);

/** Adds to what was seen, or is expected. */
void events_add(struct events *events, const struct waiter *waiter, int what);

/** From now on the request has ended. `is_visited`: a visitor is called for it. */
void expect_end(struct waiter *waiter, enum htw_reason reason, bool is_visited);

/** The request is asked, and says yes, or not; then it may be marked. */
bool expect_ask(struct waiter *waiter);

/** A request begins to wait. Whether its wait will surely be measured. */
bool expect_begin(bool is_timed);

/** What a check of a key does; how many end. */
int64_t expect_check(unsigned key, uint64_t max);

/** The one that came first of those on the key that came after `arrival`; NULL: none. */
struct waiter *next_on_key(unsigned key, uint64_t arrival);

/** The one that waits on the threshold for the least value after that of `last`, or came first of
    several; NULL: from the beginning, and none. `last` may have ended. */
struct waiter *next_on_threshold(size_t threshold, const struct waiter *last);

/** What was seen must be what was expected; in the same order, or in any order among requests. */
void compare_events(bool ordered);

/** The statistics must be those of the oracle. */
void compare_stats(void);

#endif /* TESTS_PURGATORY_ORACLE_H */
