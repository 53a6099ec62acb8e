/* SPDX-License-Identifier: MIT */
/* stats.h - what the relay counts, and how that is printed. */
#ifndef HTW_RELAY_STATS_H
#define HTW_RELAY_STATS_H

#include "../../../src/base/histogram.h"
#include "levels.h"

#include <stdio.h>

/* What becomes of records. */
struct htw__relay_work {
    union {
        struct {
            uint64_t received;                     /* records of the input */
            uint64_t filed[HTW__RELAY_LEVELS_MAX]; /* published to buckets of each level */
            uint64_t delivered;
            uint64_t dead;         /* dead letters */
            uint64_t dead_short;   /* of these, those that lost their values */
            uint64_t dead_refused; /* times that one was put back into a bucket */
            uint64_t postponed;    /* times that one was due, and its topic was not known yet */
            uint64_t cancelled;    /* records that were cancelled or replaced */
            uint64_t cancels_late; /* moves, and cancels that do not ask, that found no record */
            uint64_t
                ids_lost; /* records that left without an entry in an index that had lost some */
        };
        uint64_t counts[HTW__RELAY_LEVELS_MAX + 9]; /* all of these */
    };
    struct htw__histogram late_us; /* of those delivered */
};

void htw__relay_work_init(struct htw__relay_work *work);

/* Adds `from` to `into`, and empties it. */
void htw__relay_work_move(struct htw__relay_work *into, struct htw__relay_work *from);

/* Of this process since it started. */
struct htw__relay_stats {
    struct htw__relay_work done; /* and committed */
    uint64_t passes;             /* times that a bucket was read again, for lack of memory */
    uint64_t commits;            /* transactions, or with --at-least-once commits of positions */
    uint64_t failed_commits;     /* of these, those that failed: what was aborted was done again */
    uint64_t aborted_transactions;
    uint64_t recoveries;    /* times that all stripes were forgotten, and taken over again */
    uint64_t catch_ups_cut; /* stripes that did not wait any longer for cancels in the input */
    /* The present state. */
    uint64_t input_lag;         /* offsets of the input that were not read */
    uint64_t input_lag_s;       /* how old the oldest of them may be */
    uint64_t since_commit_s[2]; /* by channel: since all that was done has been committed */
    uint64_t input_partitions;  /* each needs a relay */
    uint64_t stripes;
    uint64_t stripes_stopped; /* the index of these has lost entries */
    uint64_t stripes_waiting; /* new partitions of the input whose buckets do not exist */
    uint64_t overdue;         /* records in memory whose time has come */
    uint64_t bytes_in_memory;
    uint64_t ids, ids_bytes;             /* entries of the index, and its memory */
    uint64_t lag[HTW__RELAY_LEVELS_MAX]; /* offsets that are not done, markers included */
    uint64_t clock_behind_ms;            /* of the stripe that is farthest behind */
};

/* The text format of Prometheus. Errors of the stream are for the caller. */
void htw__relay_stats_prometheus(const struct htw__relay_stats *stats, uint32_t levels,
                                 FILE *stream);

#endif /* HTW_RELAY_STATS_H */
