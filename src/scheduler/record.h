/* SPDX-License-Identifier: MIT */
/*
 * record.h - a timer of a scheduler: 64 bytes, and the word that says which state it is in.
 *
 * The word `status` holds the generation, the page of the slab and the state. Every change of state
 * is a compare-and-swap, or is made where no other thread can change it. state.h has the table of
 * states and who may change them.
 */
#ifndef HTW_SRC_SCHEDULER_RECORD_H
#define HTW_SRC_SCHEDULER_RECORD_H

#include "../base/annotate.h"
#include "../base/compiler.h"
#include "../base/probe.h"
#include "../base/slab.h"

#include <htw/scheduler.h>
#include <htw/timer.h>
#include <htw/wheel.h>

enum htw__state {
    HTW__FREE = 0,
    HTW__PENDING = 1,
    HTW__CLAIMED = 2,
    HTW__QUEUED = 3,
    HTW__RUNNING = 4,
    HTW__DONE = 5,
    HTW__STATE = 7 /* the bits of these */
};

/* Flags beside the state. They change under the lock of the shard only. */
#define HTW__HAS_ATTRIBUTES 0x08u /* the record points to attributes instead of an argument */
#define HTW__REARM 0x10u   /* RUNNING: runs again at deadline_ns. QUEUED: goes back to PENDING */
#define HTW__CANCEL 0x20u  /* RUNNING: does not run again */
#define HTW__AWAITED 0x40u /* RUNNING: a thread waits until the callback has returned */

/* Also beside the state, but the same from the first arming until the record is free. */
#define HTW__HAS_SITE 0x80u /* the record points to a site instead of a callback */

struct htw__attributes;
struct htw__shard;

/* Where pointers are short, the status stays at the end of the cell. */
#if UINTPTR_MAX > UINT32_MAX
#define HTW__RECORD_PADDING
#else
#define HTW__RECORD_PADDING uint64_t _padding;
#endif

struct htw__record {
    union {
        struct htw__cell cell;
        struct {
            union {
                struct htw_timer timer;
                struct htw__shard *shard; /* while an executor has it */
            };
            union { /* the same until the record is free: visits read it under the lock */
                htw_callback *callback;
                const struct htw_site *site;
            };
            union {
                void *arg;
                struct htw__attributes *attributes;
                struct {                     /* while it is on the stack of stale records */
                    uint32_t next_stale;     /* index of the next record on the stack */
                    uint32_t prefetch_stale; /* hint: index of a record some places further on */
                };
            };
            alignas(8) int64_t deadline_ns; /* while the timer is paused: attributes.h */
            HTW__RECORD_PADDING
            _Atomic uint64_t status;
        };
    };
};
_Static_assert(sizeof(struct htw__record) == 64, "a record is a cell");
_Static_assert(offsetof(struct htw__record, status) == offsetof(struct htw__cell, status),
               "the slab and the scheduler mean the same status");

static inline struct htw__record *htw__record_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw__record, timer);
}

static inline uint64_t htw__status_of(const struct htw__record *record) {
    /* order: Who sees a step sees what came before it. [relaxed: `gone`] */
    return atomic_load_explicit(&record->status, memory_order_acquire);
}

static inline bool htw__status_change(struct htw__record *record, uint64_t *expected, uint64_t to) {
    /* order: Release: a step publishes what came before it, such as the end of a callback. Acquire: the
       next step follows it. A failure may be the answer of a cancel. [acquire: `gone`; release: `handle`;
       failed relaxed: `gone`] */
    return atomic_compare_exchange_strong_explicit(&record->status, expected, to,
                                                   memory_order_acq_rel, memory_order_acquire);
}

/* Only where no other thread can change the status: under the lock, or before the record is
   reachable. */
static inline void htw__status_set(struct htw__record *record, uint64_t to) {
    /* order: Who sees a step sees what came before it. [relaxed: `handle`] */
    atomic_store_explicit(&record->status, to, memory_order_release);
}

static inline enum htw__state htw__status_state(uint64_t status) {
    return (enum htw__state)(status & HTW__STATE);
}

/* The same record in another state, with no flags except `flags` and HTW__HAS_SITE. */
static inline uint64_t htw__status_in(uint64_t status, enum htw__state state, unsigned flags) {
    return (status & ~(HTW__STATUS_STATE & ~(uint64_t)HTW__HAS_SITE)) | (unsigned)state | flags;
}

/* Whether the state is this one, with no flags except perhaps HTW__HAS_SITE. */
static inline bool htw__status_is_plain(uint64_t status, enum htw__state state) {
    return (status & HTW__STATUS_STATE & ~(uint64_t)HTW__HAS_SITE) == (unsigned)state;
}

static inline htw_callback *htw__callback_of(const struct htw__record *record, uint64_t status) {
    return HTW__UNLIKELY(status & HTW__HAS_SITE) ? record->site->callback : record->callback;
}

/* What probes say of where a timer comes from: its site, or its callback without one; and the word that says
   which it is. Read in place, where it does not change. */
#define HTW__PROBE_SITE(record) ((record)->callback)
#define HTW__PROBE_FLAGS(record) (*(const uint64_t *)(const void *)&(record)->status)

/* Reads the deadline without the lock, while another thread may change it under the lock:
   see begin_plain() in run.c. */
static inline int64_t htw__deadline_peek(const struct htw__record *record) {
    /* order: The step to RUNNING fails if the deadline has changed. */
    return __atomic_load_n(&record->deadline_ns, __ATOMIC_RELAXED);
}

static inline void htw__deadline_change(struct htw__record *record, int64_t deadline_ns) {
    /* order: The step to RUNNING fails if the deadline has changed. */
    __atomic_store_n(&record->deadline_ns, deadline_ns, __ATOMIC_RELAXED);
}

#endif /* HTW_SRC_SCHEDULER_RECORD_H */
