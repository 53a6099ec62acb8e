/* SPDX-License-Identifier: MIT */
/*
 * purgatory_judge.h - what must hold in each history of a purgatory, by what its hooks see and its calls return.
 *
 * A request ends exactly once, and for a reason for which there is a cause. A check returns how many have answered
 * it with yes. An event is not lost: when no thread is in a call, no request waits that was ready when a check of
 * one of its keys began, whose time has come, or that a call has promised to end.
 */
#ifndef TESTS_ENUMERATE_PURGATORY_JUDGE_H
#define TESTS_ENUMERATE_PURGATORY_JUDGE_H

#include "../support/failing_allocator.h"
#include "../support/manual_time.h"
#include "coroutine.h"

#include <htw/purgatory.h>

#include <stdbool.h>
#include <stddef.h>

#define TICK_NS HTW_MILLISECOND

enum { WAITERS = 2, KEYS = 2, WORKERS = 3 };

enum call_kind { SUBMIT, CHECK, CHECK_LATER, COMPLETE, CANCEL, CANCEL_KEY, ADVANCE, CLOSE };

struct call {
    enum call_kind kind;
    unsigned request; /* of SUBMIT, COMPLETE, CANCEL */
    unsigned keys;    /* of SUBMIT: bits; of one key: its number from 1 */
    bool is_timed;
};

/* A request, from its submission to its release. The members after `is_ready` begin anew with each submission. */
struct waiter {
    struct htw_request request;
    unsigned lives;    /* submissions so far */
    bool is_submitted; /* the library uses it */
    bool is_ready;     /* what `try_complete` answers */
    unsigned keys;     /* bits */
    bool waits;        /* its submission has returned */
    unsigned asked;    /* how often */
    bool said_yes, is_in_hook, has_ended;
    unsigned arrival;
    unsigned
        causes;    /* a bit for each reason for which it may end, besides `said_yes` and its time */
    int promised;  /* a call has said that it ends for this reason; -1: none */
    bool must_end; /* before no thread is in a call any more */
    bool was_deferred;            /* a check of one of its keys has been deferred */
    int64_t not_before_ns, by_ns; /* its timeout */
};

/* A thread. */
struct worker {
    struct coroutine *coroutine;
    struct call call;
    bool up_to_hook;
    bool is_alone;    /* no other thread was in a call when it began */
    unsigned life;    /* of the request of the call, when it began */
    unsigned waiting; /* requests that a call on a key, or a close, must end, if it is alone */
    unsigned said_yes, ended; /* requests, in this call */
    bool has_ended_own;       /* the request of the call, in the life that it was called for */
    enum htw_reason reason;   /* for which that has ended */
};

extern struct judge {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct failing_allocator memory;
    struct waiter waiters[WAITERS];
    struct worker workers[WORKERS], *present;
    bool is_closed;
    int64_t until_ns; /* the time when no advance is being made */
    unsigned arrivals, submitted, ends[4];
    const char *message; /* the first that was wrong */
} * judge;

static inline struct waiter *waiter_of(struct htw_request *request) {
    return (struct waiter *)((char *)request - offsetof(struct waiter, request));
}

/** Something is wrong. */
void judge_fail(const char *message);

/** Sets the hooks, which pause where their call is to go up to a hook. */
void judge_set_hooks(struct htw_purgatory_options *options);

/** In the thread: the call begins; it has returned. */
void judge_call(struct worker *worker);
void judge_result(const struct worker *worker, int64_t result);

/** Whether a thread is in such a call. */
bool judge_is_making(enum call_kind kind);

/** Judges the whole, if no thread is in a call. */
void judge_quiet(void);

/** How many requests the library uses. */
unsigned judge_count_waiting(void);

/** The digest of the state, in purgatory_digest.c; see search.h. */
bool judge_read(unsigned remaining, uint64_t *ret_digest);

#endif /* TESTS_ENUMERATE_PURGATORY_JUDGE_H */
