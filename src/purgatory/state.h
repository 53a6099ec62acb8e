/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_purgatory, and an overview of the folder. Start here.
 *
 * Keys are divided into shards by their hash (below). A key has watches in order of arrival, which
 * link requests to it (watch.h), in cells (cell.h). Or requests wait for a condition of the layer above
 * (condition.h), such as a threshold. Each CPU counts requests, and has a wheel with their timeouts, and a few timers
 * of the scheduler, its alarms, for the earliest of them (cpu.h).
 *
 * At most one thread owns a request at any time, and it alone calls hooks, links and unlinks
 * (owner.h). submit.c links a request, arms its timeout and disowns it; an event (check.c), or an alarm or a
 * cancel (end.c) own it again. The owner that ends it unlinks it from everything (end.c).
 *
 * Why a request can be released: a thread touches a request only as its owner, or with the lock
 * held under which it found the request: of a shard, a condition or a CPU. The owner takes each of
 * these locks to unlink the request. From then on no other thread can find it.
 *
 * The life of a request that waits on keys until an event, with the lock that each step takes. No lock is held while
 * a hook runs; the allocator may be called with any. base/lock.h has the order of locks.
 *
 *     begin_submission()        submit.c     none: this thread owns the request
 *     htw__call_try_complete()  owner.h      a hook
 *     htw__watch_link()         watch.c      the shard of each key; inside it, the memory of cells
 *     htw__call_try_complete()  owner.h      a hook
 *     htw__timeout_begin()      timeout.c    the CPU; inside it, the scheduler if the timeout is the earliest (alarm.c)
 *     htw__request_disown()     owner.h      none: any thread may own it now
 *
 *     htw__walk_begin()         walk.c       the shard of the event's key: owns the request
 *     htw__call_try_complete()  owner.h      a hook
 *     htw__timeout_end()        timeout.c    the CPU that counts the request
 *     htw__watch_unlink()       watch.c      the shard of each key, as above
 *     htw__call_last_hooks()    owner.c      hooks; between them the state becomes 0
 */
#ifndef HTW_SRC_PURGATORY_STATE_H
#define HTW_SRC_PURGATORY_STATE_H

#include "../base/alloc.h"
#include "../base/annotate.h"
#include "../base/compiler.h"
#include "../base/fork.h"
#include "../base/list.h"
#include "../base/lock.h"
#include "../scheduler/steady.h"
#include "cell.h"
#include "outstanding.h"

#include <htw/purgatory.h>
#include <htw/timer.h>

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

/* ---- a purgatory */

struct htw__cpu;

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
    struct htw_allocator allocator;
    struct htw_allocator users_allocator;     /* see htw__allocator_hide() */
    struct htw__lock lock;                    /* guards the members below */
    struct htw__link conditions;              /* ring; without those that are closed */
    size_t condition_bytes;                   /* 0: there are none */
    const struct htw_site *timeouts, *checks; /* of the timers that it creates */
};

/* ---- calls in progress */

/* A call in progress in which hooks run. Each thread has a stack of them. */
struct htw__frame {
    struct htw_purgatory *purgatory;
    struct htw_request *request; /* whose `try_complete` runs, or NULL */
    struct htw__check *check;    /* the check that this call makes, or NULL: see check.c */
    uint64_t completed;          /* requests whose `try_complete` has returned true in this call */
    struct htw__frame *outer;
    htw_request_visitor *visitor;
    void *visitor_context;
};

extern _Thread_local struct htw__frame *htw__innermost_frame
    __attribute__((tls_model("initial-exec")));

static inline void htw__frame_push(struct htw__frame *frame, struct htw_purgatory *purgatory) {
    frame->purgatory = purgatory;
    frame->outer = htw__innermost_frame;
    htw__innermost_frame = frame;
}

static inline void htw__frame_pop(const struct htw__frame *frame) {
    htw__innermost_frame = frame->outer;
}

/* Whether this thread is in a hook or visitor of the purgatory. */
static inline bool htw__frame_is_inside(const struct htw_purgatory *purgatory) {
    for (const struct htw__frame *frame = htw__innermost_frame; frame != NULL; frame = frame->outer)
        if (frame->purgatory == purgatory)
            return true;
    return false;
}

/* ---- keys and their shards */

/* A key that a call has been given. */
struct htw__key {
    struct htw__purgatory_shard *shard;
    uint64_t hash;
    const void *bytes;
    size_t size;
};

static inline bool htw__key_equals(const struct htw__key *a, const struct htw__key *b) {
    return a->hash == b->hash && a->size == b->size &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/*
 * What a call about a key touches is one cache line, if the key is short, has few requests, and no other of the shard
 * came before it: so nothing else of a shard moves between CPUs.
 */
struct htw__purgatory_shard {
    alignas(HTW__CACHE_LINE) struct htw__key_cell first; /* its lock guards all members */
    struct htw_purgatory *purgatory;
    uint64_t bytes;   /* of long keys, and of deferred checks (check.c) */
    uint32_t orphans; /* keys that are no longer in the table */
    alignas(HTW__CACHE_LINE) struct htw__key_cell second; /* another key, or more watches of any */
    struct htw__key_table table; /* the keys that have cells of their own */
};

static inline struct htw__purgatory_shard *
htw__purgatory_shard_of(const struct htw_purgatory *purgatory, uint64_t hash) {
    return &purgatory->shards[hash >> purgatory->shard_shift >> 1];
}

/* ---- what public functions begin with */

/* Why a public function cannot begin; 0: it can. */
static inline int htw__purgatory_refusal(const struct htw_purgatory *purgatory) {
    if (purgatory == NULL)
        return -EINVAL;
    HTW_ASSERT_EXISTS(purgatory, "purgatory");
    return HTW__UNLIKELY(purgatory->fork_count != htw__fork_count()) ? -EOWNERDEAD : 0;
}

static inline bool htw__key_is_valid(const void *bytes, size_t size) {
    return size <= UINT32_MAX && (bytes != NULL || size == 0);
}

/* Hashes a valid key, finds its shard, and loads the cache line that it needs: before the lock, across which
   the processor loads nothing ahead. */
static inline struct htw__key htw__key_hashed(const struct htw_purgatory *purgatory,
                                              const void *bytes, size_t size) {
    uint64_t hash = htw__key_hash(bytes, size, purgatory->seed);
    struct htw__purgatory_shard *shard = htw__purgatory_shard_of(purgatory, hash);
    HTW__PREFETCH(shard);
    return (struct htw__key) { shard, hash, bytes, size };
}

/* For a call about one key. 0, or why it cannot begin: as htw__purgatory_refusal(), or -EINVAL for
   the key. The bytes are not NULL. */
static inline int htw__key_of_call(const struct htw_purgatory *purgatory, const void *bytes,
                                   size_t size, struct htw__key *ret_key) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (!htw__key_is_valid(bytes, size))
        return -EINVAL;
    *ret_key = htw__key_hashed(purgatory, size > 0 ? bytes : "", size);
    return 0;
}

/* As the header and the documents say. tests/api/docs.py reads the numbers here. */
_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw_request) == 104), "a request");
_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw__purgatory_shard) == 320), "a shard");

#endif /* HTW_SRC_PURGATORY_STATE_H */
