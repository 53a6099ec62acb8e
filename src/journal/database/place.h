/* SPDX-License-Identifier: MIT */
/*
 * place.h - where a job is in the file. A PLACE is a number: first the class, then what orders the jobs of that
 * class. The delayed jobs of all queues are in one order of time, so one cursor reads them.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_PLACE_H
#define HTW_SRC_JOURNAL_DATABASE_PLACE_H

#include <htw/journal.h>

enum htw__place_class {
    HTW__PLACE_DELAYED, /* bucket, queue: due by the clock. Also leased, until the lease ends */
    HTW__PLACE_READY,   /* queue, priority */
    HTW__PLACE_BURIED   /* queue */
};

#define HTW__PLACE_CLASS_BITS 61u /* below the class */
#define HTW__PLACE_LOW_BITS 32u   /* queue or priority, below bucket or queue */
#define HTW__QUEUE_MAX ((UINT32_C(1) << 29) - 1)
#define HTW__QUEUE_DEFAULT 0u
/* The greatest id. */
#define HTW__ID_MAX ((UINT64_C(1) << 53) - 1)
#define HTW__BLOCK_IDS 256u
#define HTW__BUCKET_NONE UINT64_MAX
#define HTW__PLACE_NONE UINT64_MAX

/* The BUCKET of an instant: its minute. Instants before 1970 are in the first one. */
static inline uint64_t htw__bucket_of(int64_t instant_ns) {
    return instant_ns < 0 ? 0 : (uint64_t)(instant_ns / HTW_MINUTE);
}

/* When a bucket begins. */
static inline int64_t htw__bucket_start(uint64_t bucket) {
    return (int64_t)bucket * HTW_MINUTE;
}

static inline uint64_t htw__place(enum htw__place_class class, uint64_t high, uint32_t low) {
    return (uint64_t) class << HTW__PLACE_CLASS_BITS | high << HTW__PLACE_LOW_BITS | low;
}

static inline uint64_t htw__place_delayed(int64_t deadline_ns, uint32_t queue) {
    return htw__place(HTW__PLACE_DELAYED, htw__bucket_of(deadline_ns), queue);
}

static inline uint64_t htw__place_ready(uint32_t queue, uint32_t priority) {
    return htw__place(HTW__PLACE_READY, queue, priority);
}

static inline uint64_t htw__place_buried(uint32_t queue) {
    return htw__place(HTW__PLACE_BURIED, queue, 0);
}

static inline enum htw__place_class htw__place_class_of(uint64_t place) {
    return (enum htw__place_class)(place >> HTW__PLACE_CLASS_BITS);
}

/* DELAYED: the bucket. */
static inline uint64_t htw__place_bucket(uint64_t place) {
    return (place & ((UINT64_C(1) << HTW__PLACE_CLASS_BITS) - 1)) >> HTW__PLACE_LOW_BITS;
}

/* READY: the priority. */
static inline uint32_t htw__place_priority(uint64_t place) {
    return (uint32_t)place;
}

#endif /* HTW_SRC_JOURNAL_DATABASE_PLACE_H */
