/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - the jobs in memory: those of the near future, which wait in order of deadline, and those
 * in flight. All are found by id. Under the lock of the journal.
 */
#ifndef HTW_SRC_JOURNAL_JOBS_H
#define HTW_SRC_JOURNAL_JOBS_H

#include "../base/heap.h"
#include "../base/key_table.h"
#include "ids.h"

#include <stdbool.h>
#include <stdint.h>

/* What follows a job up to this size is kept while it is in flight. */
#define HTW__JOB_INLINE 256u

enum htw__job_state {
    HTW__JOB_QUEUED,     /* in a change that is not yet durable; in no table */
    HTW__JOB_WAITING,    /* in the heap */
    HTW__JOB_HELD,       /* not delivered while its cancel is written */
    HTW__JOB_DELIVERING, /* `deliver` is running */
    HTW__JOB_IN_FLIGHT,  /* `deliver` has returned */
    HTW__JOB_ENDED       /* `deliver` is running, and the job is done: in no table */
};

/* A place in the order of delivery. */
struct htw__position {
    int64_t deadline_ns;
    uint64_t id;
};

/* The last of equal deadlines. Ids of format 1, which are above it, come first: those jobs were put before. */
#define HTW__ID_LAST HTW__ID_MAX

static inline bool htw__position_precedes(struct htw__position a, struct htw__position b) {
    return a.deadline_ns < b.deadline_ns ||
           (a.deadline_ns == b.deadline_ns && a.id - HTW__ID_LAST - 1 < b.id - HTW__ID_LAST - 1);
}

struct htw__job {
    struct htw__key_node node; /* its key is position.id */
    struct htw__position position;
    enum htw__job_state state;
    struct htw__heap_node turn; /* WAITING: in the heap */
    bool has_key;
    uint32_t key_size;
    size_t payload_size;
    char *bytes;           /* key and payload; NULL: released */
    uint64_t replaced;     /* the job that it has replaced; 0: none */
    struct htw__job *next; /* of the same change */
};

/* NULL: no memory. `key` and `payload` are copied; `key` NULL: none. */
struct htw__job *htw__job_create(const struct htw_allocator *allocator, int64_t deadline_ns,
                                 const void *key, size_t key_size, const void *payload,
                                 size_t payload_size);
void htw__job_destroy(const struct htw_allocator *allocator, struct htw__job *job);

/* Releases key and payload, unless they are part of the job. */
void htw__job_release_bytes(const struct htw_allocator *allocator, struct htw__job *job);

/* The bytes of memory that a job takes. */
size_t htw__job_memory(const struct htw__job *job);

struct htw__jobs {
    struct htw_allocator allocator;
    struct htw__key_table by_id; /* WAITING, HELD, DELIVERING, IN_FLIGHT */
    uint64_t seed;               /* of its hashes: ids may come from a file of others */
    struct htw__heap waiting;    /* WAITING, by position */
    uint32_t reserved;           /* places that are promised */
    uint64_t in_flight;          /* DELIVERING and IN_FLIGHT */
    size_t waiting_bytes;        /* of WAITING and HELD */
    size_t in_flight_bytes;
};

void htw__jobs_init(struct htw__jobs *jobs, const struct htw_allocator *allocator);
void htw__jobs_fini(struct htw__jobs *jobs);

/* Promises `count` more places in the heap. 0 or -ENOMEM. htw__jobs_add() uses one, as does
   htw__jobs_unreserve(). */
int htw__jobs_reserve(struct htw__jobs *jobs, size_t count);
static inline void htw__jobs_unreserve(struct htw__jobs *jobs, size_t count) {
    jobs->reserved -= (uint32_t)count;
}

/* Makes a QUEUED job WAITING, in a place that was reserved. */
void htw__jobs_add(struct htw__jobs *jobs, struct htw__job *job);

/* NULL: no job in memory has the id. */
struct htw__job *htw__jobs_find(const struct htw__jobs *jobs, uint64_t id);

/* The WAITING job that comes first; NULL: none. */
struct htw__job *htw__jobs_first(const struct htw__jobs *jobs);

/* WAITING becomes HELD, and HELD becomes WAITING again. */
void htw__jobs_hold(struct htw__jobs *jobs, struct htw__job *job);
void htw__jobs_unhold(struct htw__jobs *jobs, struct htw__job *job);

/* The first WAITING job becomes DELIVERING. */
struct htw__job *htw__jobs_deliver(struct htw__jobs *jobs);

/* `deliver` has returned: the job is IN_FLIGHT, or, if it has ENDED, destroyed. */
void htw__jobs_delivered(struct htw__jobs *jobs, struct htw__job *job);

/* Ends a job of the table, in any state. It is destroyed, if `deliver` is not running. */
void htw__jobs_end(struct htw__jobs *jobs, struct htw__job *job);

/* Forgets the later half of the WAITING jobs, but none up to `keep`. Returns the last that is left
   in the heap, or `keep`. O(n log n). */
struct htw__position htw__jobs_evict(struct htw__jobs *jobs, struct htw__position keep);

/* Forgets the WAITING jobs after `last`. O(n log n). */
void htw__jobs_cut(struct htw__jobs *jobs, struct htw__position last);

#endif /* HTW_SRC_JOURNAL_JOBS_H */
