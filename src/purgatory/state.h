/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_purgatory, and an overview of the folder. Start here.
 *
 * Parts:
 *
 *   shard.h      Keys are divided into shards by their hash. A shard has a lock and a table of the
 *                keys on which requests wait.
 *   watch.h      A key has a ring of watches in order of arrival. A watch links a request to a key.
 *                Up to three watches of a request are stored in the request itself; if there are
 *                more, all are in one block of memory.
 *   waiting.h    A threshold has a tree of the requests that wait on it, ordered by value.
 *   cpu.h        Each CPU has a wheel with the timeouts of the requests that were submitted there,
 *                and a few timers of the scheduler, its alarms. An alarm is set to the earliest
 *                timeout of the wheel, so that a timeout does not cost a timer of the scheduler.
 *
 * The life of a request:
 *
 *   owner.h      At any time at most one thread owns a request. The owner alone calls its hooks,
 *                links and unlinks it. Other threads mark it instead of waiting.
 *   submit.c     A thread submits it, owns it, links it, and disowns it.
 *   check.c      An event on a key owns each of its requests in turn and calls `try_complete`.
 *   expire.c     An alarm owns each request whose timeout is over.
 *   end.c        An owner that ends a request unlinks it from everything, and calls `on_complete`
 *                and `release`.
 *
 * Why a request can be released: a thread touches a request only (1) as its owner, or (2) with the
 * lock held under which it found the request: of the shard of one of its keys, of its threshold, or
 * of the CPU of its timeout. The owner takes each of these locks to unlink the request before it
 * ends it. From then on no other thread can find the request.
 *
 * Locks: base/lock_rank.h has the order in which they are taken. With any of them held, the
 * allocator may be called. No lock is held while a hook runs.
 */
#ifndef HTW_SRC_PURGATORY_STATE_H
#define HTW_SRC_PURGATORY_STATE_H

#include "../base/alloc.h"
#include "../base/annotate.h"
#include "../base/fork.h"
#include "../base/list.h"
#include "../base/lock.h"
#include "../scheduler/steady.h"
#include "outstanding.h"

#include <htw/purgatory.h>

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

struct htw_purgatory {
    struct htw_scheduler *scheduler;
    bool (*try_complete)(void *context, struct htw_request *request);
    void (*on_complete)(void *context, struct htw_request *request, enum htw_reason reason);
    void (*release)(void *context, struct htw_request *request);
    void *context;
    struct htw__purgatory_shard *shards;
    uint32_t shard_count;
    uint32_t cpu_count;
    struct htw__cpu *cpus;
    unsigned shard_shift; /* the shard of a hash is hash >> shard_shift >> 1 */
    unsigned fork_count;  /* when it was created; higher in a child */
    _Atomic bool closed;
    uint64_t seed;
    struct htw_group *callbacks; /* all timers of the scheduler that the purgatory creates */
    struct htw__outstanding outstanding; /* these, until their release hooks have returned */
    struct htw__clock_listener clock_listener;
    struct htw_allocator allocator;
    struct htw__lock lock;              /* guards the members below */
    struct htw__link thresholds;        /* ring of the thresholds that accept requests */
    struct htw__link closed_thresholds; /* ring of those that are closed and empty */
    uint32_t threshold_turn;            /* the next threshold counts its requests in this shard */
};

/*
 * Whether this process is a child of the one that created the purgatory. A hook or visitor may fork
 * and return in the child. Code that has called one asks this before it takes a lock or calls
 * another hook, and in a child only returns: a thread that the child lacks may hold the lock.
 */
static inline bool htw__purgatory_is_child(const struct htw_purgatory *purgatory) {
    return __builtin_expect(purgatory->fork_count != htw__fork_count(), false);
}

/* The result of a public function that has run hooks: -EOWNERDEAD in a child, else `answer`. */
static inline int64_t htw__purgatory_answer(const struct htw_purgatory *purgatory, int64_t answer) {
    return htw__purgatory_is_child(purgatory) ? -EOWNERDEAD : answer;
}

/* Why a public function cannot begin: -EINVAL for NULL; -EOWNERDEAD in a child; 0: it can. */
static inline int htw__purgatory_refusal(const struct htw_purgatory *purgatory) {
    if (purgatory == NULL)
        return -EINVAL;
    return htw__purgatory_is_child(purgatory) ? -EOWNERDEAD : 0;
}

#endif /* HTW_SRC_PURGATORY_STATE_H */
