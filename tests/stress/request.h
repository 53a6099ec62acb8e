/* SPDX-License-Identifier: MIT */
/*
 * request.h - what the stress tests of the purgatory share: requests that notice when the
 * library does not keep to the order of their life, a purgatory that counts how they end, and calls
 * that compare what they answer with what has happened in them.
 *
 * The life of a request is: asked any number of times, by one thread at a time; ended
 * once, with a reason (after a visitor, if the call has one); released. What the hooks write is not atomic,
 * so that a sanitizer sees where the library does not order them.
 */
#ifndef HTW_TESTS_STRESS_REQUEST_H
#define HTW_TESTS_STRESS_REQUEST_H

#include "stress.h"

#include <htw/purgatory.h>

/* ---- purgatories */

struct stress_request;

/* What a program does in the hooks of its requests. */
struct stress_hooks {
    bool (*ask)(struct stress_request *request);
    void (*end)(struct stress_request *request, enum htw_reason reason); /* may be NULL */
    void (*release)(struct stress_request *request); /* it is the program's now */
};

/* A purgatory, and what the test counts itself. It must not move. */
struct stress_purgatory {
    struct htw_purgatory *purgatory;
    struct htw_scheduler *scheduler;
    struct stress_hooks hooks;
    struct htw_allocator allocator;
    uint64_t memory_bytes;          /* when it was new */
    _Atomic uint64_t blocks, bytes; /* given out by the allocator */
    _Atomic uint64_t fail_one_in;   /* how often the allocator fails; 0: never */
    _Atomic bool may_fail;          /* it has failed at times */
    _Atomic uint64_t submitted, released, refused;
    _Atomic uint64_t ended[4]; /* by reason */
    _Atomic uint64_t promised; /* that end as cancelled, by what calls have answered */
    _Atomic bool closing;      /* stress_close() has been called */
};

/* Creates one; fails if that fails. `shards` is the option. */
void stress_purgatory_open(struct stress_purgatory *home, struct htw_scheduler *scheduler,
                           const struct stress_hooks *hooks, uint32_t shards);

/* Lets one allocation in `one_in` fail from now on; 0: none. */
void stress_purgatory_fail(struct stress_purgatory *home, uint64_t one_in);

/* Whether all requests are the program's again. No other thread submits any. */
bool stress_all_released(struct stress_purgatory *home);

/* Waits until the scheduler has nothing to do and all requests have been released, and checks that
   the statistics add up and that nothing is retained. */
void stress_purgatory_quiet(struct stress_purgatory *home);

/* Destroys it, and checks that all its requests have ended and all its memory has come back. */
void stress_purgatory_end(struct stress_purgatory *home);

/* What the rounds of a part add up to. */
struct stress_totals {
    uint64_t rounds, submitted, refused, ended[4];
};

/* Adds a round that has ended. */
void stress_totals_add(struct stress_totals *totals, const struct stress_purgatory *home);
void stress_totals_print(const struct stress_totals *totals);

/* Waits until no callback is pending or running. */
void stress_scheduler_quiet(struct stress_purgatory *home);

struct htw_purgatory_stats stress_purgatory_stats(struct stress_purgatory *home);

/* Private: sets the hooks that call those of `home`. */
void stress_purgatory_options(struct stress_purgatory *home, struct htw_purgatory_options *options);

/* ---- requests */

struct stress_request {
    struct htw_request request;
    struct stress_purgatory *home;
    _Atomic uint64_t magic;  /* whether it is alive */
    _Atomic uint32_t inside; /* whether a thread is in a hook of it */
    unsigned asked;
    bool said_yes, visited, ended;
    enum htw_reason reason;
    _Atomic int64_t earliest_ns; /* it may not expire before */
    _Atomic bool is_moving;      /* a thread is in stress_set_timeout() */
};

/* Allocates one of `size` bytes, of which this struct is the first part; the rest is zeroed. */
void *stress_request_create(struct stress_purgatory *home, size_t size);

/* Frees it. It must be the program's: not submitted, or released. */
void stress_request_free(struct stress_request *request);

/* ---- calls: what they answer is compared with what has happened in them */

/* The key of a number: some are short, some long. */
struct stress_key {
    unsigned char bytes[40];
    size_t size;
};

struct stress_key stress_key(uint64_t number);

/* Returns 0 or greater if it has been submitted; else a negative errno, and it is the program's. */
int stress_submit(struct stress_request *request, const uint64_t *keys, size_t key_count,
                  int64_t timeout_ns);
int stress_await_value(struct stress_request *request, struct htw_threshold *threshold,
                       uint64_t value, int64_t timeout_ns);

#define STRESS_ALL UINT64_MAX /* htw_purgatory_check() instead of _check_at_most() */

int64_t stress_check(struct stress_purgatory *home, uint64_t key, uint64_t max);
int stress_check_later(struct stress_purgatory *home, uint64_t key);
int64_t stress_cancel_key(struct stress_purgatory *home, uint64_t key);
int64_t stress_close(struct stress_purgatory *home);
bool stress_complete(struct stress_request *request);
bool stress_cancel(struct stress_request *request);

/* Does nothing while another thread does it. */
void stress_set_timeout(struct stress_request *request, int64_t timeout_ns);

/* Checks, too, that requests end in the order of the values given to stress_in_order(). */
int64_t stress_advance(struct stress_purgatory *home, struct htw_threshold *threshold,
                       uint64_t value);

/* COMPLETED, without a visitor, or CANCELLED. */
int64_t stress_end_all(struct stress_purgatory *home, struct htw_threshold *threshold,
                       enum htw_reason reason);

/* To be called as a request ends: `value` is what it has waited for. */
void stress_in_order(uint64_t value);

/* ---- threads */

/* A source of random numbers of this thread's own: hooks run in threads of the library, too. */
struct random_source *stress_own_random(void);

/* Lets others go on, sometimes, for a short while: where a race may be. */
void stress_dawdle(void);

/* How many hooks of requests this thread is in. */
unsigned stress_depth(void);

/* A thread that aborts when stress_progress() has not been called for STRESS_LIMIT_NS; before
   that it prints the statistics of `home`. */
void stress_watchdog_begin(struct stress_purgatory *home);
void stress_progress(void);
void stress_watchdog_end(void);

#endif /* HTW_TESTS_STRESS_REQUEST_H */
