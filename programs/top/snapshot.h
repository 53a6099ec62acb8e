/* SPDX-License-Identifier: MIT */
/* snapshot.h - the statistics of a program at a time: what its monitor has answered. */
#ifndef HTW_TOP_SNAPSHOT_H
#define HTW_TOP_SNAPSHOT_H

#include "rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTW__TOP_NAME_MAX 48
#define HTW__TOP_BUCKETS 24 /* of a histogram */
#define HTW__TOP_PARTS 64   /* of a level */
#define HTW__TOP_LEVELS 16

struct htw__top_distribution {
    uint64_t count, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
    uint64_t histogram[HTW__TOP_BUCKETS];
};

struct htw__top_level {
    uint64_t bucket_ns; /* 0: unknown */
    uint32_t buckets;
    uint32_t clock; /* the part in which the present time is */
    uint32_t parts;
    uint32_t timers[HTW__TOP_PARTS];
};

struct htw__top_shard {
    uint32_t number;
    uint64_t scheduled, cancelled, moved, in_wheels, groups, memory_bytes;
};

enum htw__top_kind { HTW__TOP_SCHEDULER, HTW__TOP_PURGATORY, HTW__TOP_JOURNAL, HTW__TOP_WHEEL };

/* A source. Which members count depends on the kind. */
struct htw__top_source {
    enum htw__top_kind kind;
    char name[HTW__TOP_NAME_MAX + 1];
    char error[128]; /* "" or why there is nothing else */
    uint64_t pending, memory_bytes;
    uint64_t scheduled, fired, cancelled, moved, demoted, runs, late, missed, refused, running;
    uint64_t wakeups, empty_wakeups; /* of schedulers */
    uint64_t submitted, completed, expired, closed, delayed, watched, keys,
        alarms; /* of purgatories */
    uint64_t put, done, delivered, replaced, commits, failed, ready, leased, buried, kept, queues,
        requests, oldest_ns, log_bytes, stopped; /* of journals, which have `delayed`, too */
    uint64_t age_ns;                             /* of wheels */
    struct htw__top_distribution lateness, callback, commit, durable;
    uint64_t waits[HTW__TOP_BUCKETS];
    unsigned level_count;
    struct htw__top_level levels[HTW__TOP_LEVELS];
    size_t shard_count;
    struct htw__top_shard *shards; /* among those of the snapshot */
    bool tells_observed;           /* of schedulers: what is observed is known, */
    bool counts_sites;             /* ... and it is sites */
    char observed[48];
    struct htw__top_rows lists[HTW__TOP_LISTS]; /* likewise */
};

struct htw__top_snapshot {
    char version[32], program[HTW__TOP_NAME_MAX + 1];
    int64_t pid;
    int64_t wall_ns, clock_ns, opened_ns;
    size_t source_count, shard_count, row_count;
    struct htw__top_source *sources;
    struct htw__top_shard *shards; /* of all sources */
    struct htw__top_row *rows;     /* likewise */
};

/* Reads an answer. NULL, or why it is none, a static sentence; `*snapshot` is then empty. */
const char *htw__top_snapshot_read(const char *text, size_t size,
                                   struct htw__top_snapshot *snapshot);
void htw__top_snapshot_free(struct htw__top_snapshot *snapshot);

/* The source of the same kind and name; NULL: there is none. */
const struct htw__top_source *htw__top_snapshot_find(const struct htw__top_snapshot *snapshot,
                                                     const struct htw__top_source *like);

#endif /* HTW_TOP_SNAPSHOT_H */
