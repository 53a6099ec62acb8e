/* SPDX-License-Identifier: MIT */
/*
 * state.h - what the purgatory is made of, and the life of a request.
 *
 * Keys are divided into shards by their hash. A shard has a lock and a table of the keys on which
 * somebody waits; a key has a ring of watches in order of arrival. Up to three watches of a request
 * stand in the request itself; if there are more, all stand elsewhere.
 *
 * A request's `_state` is 0 while it is the user's. Otherwise it is a set of bits:
 *
 *   PENDING     from its submission until it is released.
 *   BUSY        a thread owns the request. Only the owner calls hooks, links, unlinks, and
 *               touches the other members. Whoever finds the request, and it is not busy, may take
 *               it by setting the bit; whoever finds it busy leaves a mark, and goes on. So nobody
 *               waits for a hook.
 *   AGAIN,      marks: an event has come; `try_complete` must be asked (again). SELF: the event
 *   SELF        came out of the request's own hook.
 *   COMPLETE,   marks: it must end, for this reason. The first of them holds; EXPIRE alone may
 *   CANCEL,     join another.
 *   CLOSE,
 *   EXPIRE
 *   DONE        the reason is settled. The owner unlinks the request, cancels its timer, calls
 *               on_complete, and never gives BUSY back.
 *
 * The owner gives the request up by a compare-and-swap that takes BUSY away, which fails where a
 * mark has been left meanwhile. That is why no event is lost: an event either finds the request
 * not busy, or its mark is seen by the owner.
 *
 * Timeouts do not go to the scheduler one by one: they stand in wheels of the purgatory's, one a
 * CPU, and a CPU has a few timers of the scheduler's, its alarms, for the earliest.
 *
 * When is a request released? A thread may touch it (1) as its owner, or (2) with the lock held of
 * a key in whose ring it stands, of the threshold or of the CPU in whose wheel. The owner takes it
 * out of all of them before it ends, so that nobody else knows of it then.
 *
 * Locks: base/lock_rank.h has the order in which they are taken. Hooks run with no lock held.
 */
#ifndef HTW_SRC_PURGATORY_STATE_H
#define HTW_SRC_PURGATORY_STATE_H

#include "../base/alloc.h"
#include "../base/annotate.h"
#include "key_pool.h"
#include "../base/fork.h"
#include "../base/key_table.h"
#include "../base/list.h"
#include "../base/lock.h"
#include "../scheduler/steady.h"

#include <htw/purgatory.h>

#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

enum {
    HTW__REQUEST_PENDING = 1u << 0,
    HTW__REQUEST_BUSY = 1u << 1,
    HTW__REQUEST_AGAIN = 1u << 2,
    HTW__REQUEST_SELF = 1u << 3,
    HTW__REQUEST_COMPLETE = 1u << 4,
    HTW__REQUEST_CANCEL = 1u << 5,
    HTW__REQUEST_CLOSE = 1u << 6,
    HTW__REQUEST_EXPIRE = 1u << 7,
    HTW__REQUEST_DONE = 1u << 8,
    /* The marks by which a request must end. */
    HTW__REQUEST_FORCED =
        HTW__REQUEST_COMPLETE | HTW__REQUEST_CANCEL | HTW__REQUEST_CLOSE | HTW__REQUEST_EXPIRE
};

/* In `_flags`, which only the owner touches. */
enum {
    HTW__REQUEST_DELAYED = 1u << 0,      /* counted as one with a timeout, */
    HTW__REQUEST_ARMED = 1u << 1,        /* which is in the wheel of its CPU */
    HTW__REQUEST_MANY = 1u << 2,         /* its watches do not stand in itself */
    HTW__REQUEST_ON_THRESHOLD = 1u << 3, /* linked there, not on keys */
    HTW__REQUEST_MEASURED = 1u << 4      /* since `_since_ms`, for the histogram of waits */
};

#define HTW__REASONS 4

/* In `_cpu`: its timeout is in none, or not yet. */
#define HTW__NO_CPU UINT16_MAX

/* The key's bytes, when they are no more than this, stand behind the struct, in its cell. */
#define HTW__KEY_INLINE_BYTES 16u

/* A key on which somebody waits. */
struct htw__watched_key {
    struct htw__key_node node; /* its tag: HTW__KEY_..., the number of its cell, its CPU */
    struct htw__link watches;  /* ring, in order of arrival; markers of walks among them */
};

enum {
    HTW__KEY_LONG = 1u << 0,   /* has memory of its own, not a cell */
    HTW__KEY_LATER = 1u << 1,  /* a check of it is queued and has not begun, which holds the key */
    HTW__KEY_ORPHAN = 1u << 2, /* no longer in the table, since it was closed */
    HTW__KEY_IDLE = 1u << 3    /* no request waits on it, and it is counted as idle */
};
#define HTW__KEY_NUMBER_SHIFT 8 /* of a byte: the cell in its chunk */
#define HTW__KEY_CPU_SHIFT 16   /* and of the rest: the CPU that the cell is from */

/* A check that is queued. The key's bytes stand behind it, for the time when the key may be gone.
 */
struct htw__later {
    struct htw__later *next;
    struct htw__watched_key *key; /* lasts until the check begins */
    uint64_t hash;
    size_t size;
};

/* What every watch comes by fills the first three cache lines: the last two are the buckets of a
   table that has not grown. */
struct htw__purgatory_shard {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards all that follows */
    uint64_t watched;                               /* watches, markers not counted */
    uint64_t submitted; /* requests whose first key is here, or whose threshold counts here */
    uint64_t pending;   /* of these, those that have not ended */
    uint64_t delayed;   /* of these, those with a timeout */
    uint64_t bytes;     /* of long keys, watches beyond a request's own, queued checks */
    struct htw__key_table table;
    bool closed;
    uint64_t ended[HTW__REASONS]; /* [HTW_REASON_COMPLETED] is 0: those are what remains */
    uint64_t orphans;             /* keys that are no longer in the table */
    uint64_t idle;                /* keys that only a queued check holds */
    struct htw__later *later;     /* checks that are queued: the oldest, */
    struct htw__later **later_end;
    uint32_t runs_scheduled; /* of the callback that makes them, */
    uint32_t runs_started;   /* which is due while these are less, */
    uint32_t runs_released;  /* those whose release hook was called, */
    uint32_t runs_over;      /* and has done all; none is left when these are as many as */
    uint32_t runs_tried;     /* those that were, or are just being, scheduled */
    uint32_t runs_dropped;   /* in a row, by an executor */
    struct htw_purgatory *purgatory;
};

_Static_assert(offsetof(struct htw__purgatory_shard, table.first) == HTW__CACHE_LINE,
               "the buckets begin a cache line");

/* How long requests waited: see waits.h. */
struct htw__waits {
    _Atomic uint32_t begun_ms; /* the last millisecond in which requests began to wait, */
    _Atomic uint32_t begun;    /* and how many: threads may overwrite each other's */
    uint64_t sum_ms;           /* in all, */
    uint64_t buckets[HTW_PURGATORY_WAIT_BUCKETS];
};

/* A timer of the scheduler that stands for timeouts: see timeout.c. */
struct htw__timeout_alarm {
    struct htw__cpu *cpu;
    htw_handle handle; /* 0: there is none */
    bool is_ringing;   /* it repeats and its callback runs, so that it cannot ring */
};

/* Two that repeat, and one that does not. */
#define HTW__TIMEOUT_ALARMS 3

/* What the threads on a processor have for themselves: the timeouts of the requests, and the cells
   of the keys, that came there. */
struct htw__cpu {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards what follows, up to the cells */
    bool is_stopped;                                /* no alarm is set any more */
    uint8_t standing;                               /* the alarm that was set last, */
    uint8_t drops;                                  /* how many were dropped since one has rung, */
    uint64_t alarm_tick;                            /* and for when it is set; HTW_NEVER_TICK */
    struct htw_wheel *wheel;                        /* its ticks: see timeout.c */
    uint64_t created, released; /* alarms that were, and those whose release hook was called */
    struct htw_purgatory *purgatory;
    struct htw__waits waits;
    struct htw__timeout_alarm alarms[HTW__TIMEOUT_ALARMS];
    alignas(HTW__CACHE_LINE) struct htw__lock key_pool_lock; /* guards the cells */
    struct htw__key_pool key_pool;
};

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
    unsigned fork_count;  /* when it was created; more in a child */
    _Atomic bool closed;
    uint64_t seed;
    struct htw_group *callbacks; /* of the scheduler that make checks, and alarms */
    struct htw__clock_watch clock_watch;
    struct htw_allocator allocator;
    struct htw__lock lock;              /* guards what follows */
    struct htw__link thresholds;        /* ring of those in which requests may wait */
    struct htw__link closed_thresholds; /* and of those that have been emptied for good */
    uint32_t threshold_turn;            /* the next threshold counts in this shard */
};

/*
 * A call in which hooks run; each thread has a stack of them. By it an event tells whether a busy
 * request is this thread's own and whether this thread is checking the key already, and destroy,
 * that it is called from a hook.
 */
struct htw__frame {
    struct htw_purgatory *purgatory;
    struct htw_request *request; /* whose `try_complete` runs, or NULL */
    struct htw__check *check;    /* of a key that is under way, or NULL: see check.h */
    struct htw__frame *outer;
    htw_request_visitor *visitor;
    void *visitor_context;
};

/* That of this processor: a load; any, if the kernel does not tell. */
static inline struct htw__cpu *htw__cpu_here(const struct htw_purgatory *purgatory) {
    return &purgatory->cpus[(uint32_t)sched_getcpu() % purgatory->cpu_count];
}

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

/* Whether this thread is in a hook or a visitor of the purgatory. */
bool htw__frame_is_inside(const struct htw_purgatory *purgatory);

/*
 * Whether this is a child of the process that created it. A hook or visitor may return in a child
 * that it has forked. Code that has called one asks this before it takes a lock or calls another,
 * and in a child only returns: a lock may be held for ever by a thread that the child lacks.
 */
static inline bool htw__purgatory_is_child(const struct htw_purgatory *purgatory) {
    return __builtin_expect(purgatory->fork_count != htw__fork_count(), false);
}

/* What a call answers that has run hooks: in a child -EOWNERDEAD, else `answer`. */
static inline int64_t htw__purgatory_answer(const struct htw_purgatory *purgatory, int64_t answer) {
    return htw__purgatory_is_child(purgatory) ? -EOWNERDEAD : answer;
}

/* 0; -EINVAL for NULL; -EOWNERDEAD in a child. */
static inline int htw__purgatory_refusal(const struct htw_purgatory *purgatory) {
    if (purgatory == NULL)
        return -EINVAL;
    return htw__purgatory_is_child(purgatory) ? -EOWNERDEAD : 0;
}

/* Keys on which requests wait. */
static inline uint64_t htw__purgatory_shard_keys(const struct htw__purgatory_shard *shard) {
    return htw__key_table_count(&shard->table) + shard->orphans - shard->idle;
}

static inline struct htw__purgatory_shard *
htw__purgatory_shard_of(const struct htw_purgatory *purgatory, uint64_t hash) {
    return &purgatory->shards[hash >> purgatory->shard_shift >> 1];
}

/* The lines of a shard that a hash leads to, if its table has not grown: before its lock is taken,
   since nothing is loaded ahead past that. */
static inline void htw__purgatory_shard_prefetch(const struct htw_purgatory *purgatory,
                                                 uint64_t hash) {
    const struct htw__purgatory_shard *shard = htw__purgatory_shard_of(purgatory, hash);
    __builtin_prefetch(shard, 1);
    __builtin_prefetch(&shard->table.first[hash % HTW__KEY_TABLE_FIRST_BUCKETS], 1);
}

#endif /* HTW_SRC_PURGATORY_STATE_H */
