/* SPDX-License-Identifier: MIT */
/*
 * observation.h - all that is observed of a scheduler. Start here.
 *
 * observe.c switches it. calls.c is what the scheduler calls (../scheduler/observe.h): it counts and records in the
 * OBSERVER of the thread or lock under which it is called (observer.h); herds.c and stacks.c have tables of observers,
 * too. What visitors, dumps and tools see is gathered from these and from the records of the timers: sites.c, events.c,
 * dump.c. Statistics, which are always on, are counters of the scheduler: stats.c, levels.c, distribution.c; metrics.h
 * has the table of them.
 */
#ifndef HTW_SRC_OBSERVE_OBSERVATION_H
#define HTW_SRC_OBSERVE_OBSERVATION_H

#include "../scheduler/observe.h"
#include "observer.h"

struct htw__kept_site;

struct htw__observation {
    struct htw__mutex mutex; /* guards the kept sites, and who adds tables to observers */
    struct htw__kept_site *kept_sites;
    uint32_t kept_count;
    uint64_t kept_bytes;
    uint64_t ring_size; /* in events */
    uint32_t observer_count;
    struct htw__observer
        observers[]; /* of the shards, the expirers, the threads, and the executor */
};

extern const struct htw__observe_calls htw__observe_calls;

void htw__observation_destroy(struct htw_scheduler *scheduler);

/* Not under a lock. */
uint64_t htw__observation_bytes(const struct htw_scheduler *scheduler);

static inline struct htw__observer *htw__observer_of_shard(const struct htw__shard *shard) {
    return &shard->scheduler->observation->observers[shard->index];
}

static inline struct htw__observer *htw__observer_of_expirer(const struct htw_scheduler *scheduler,
                                                             uint32_t index) {
    return &scheduler->observation->observers[scheduler->shard_count + index];
}

/* `number`: of a thread that runs callbacks, or of the executor. */
static inline struct htw__observer *htw__observer_of_runner(const struct htw_scheduler *scheduler,
                                                            uint32_t number) {
    return htw__observer_of_expirer(scheduler, scheduler->expirer_count + number);
}

#endif /* HTW_SRC_OBSERVE_OBSERVATION_H */
