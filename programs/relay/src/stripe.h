/* SPDX-License-Identifier: MIT */
/*
 * stripe.h - a stripe: a partition of the input, and the buckets of all levels that hold its records.
 *
 * The member of the consumer group that owns the input partition owns the stripe, and is the only one
 * that reads and writes its buckets. So it knows which of them hold something: when it takes the
 * stripe over it asks Kafka for the end of each bucket, and from then on it counts what it publishes.
 */
#ifndef HTW_RELAY_STRIPE_H
#define HTW_RELAY_STRIPE_H

#include "../../../src/base/list.h"
#include "ids.h"
#include "levels.h"
#include "loaded.h"
#include "progress.h"
#include "transport.h"

struct htw__relay_bucket {
    struct htw__stripe *stripe;
    struct htw__link link; /* in relay->loaded, while it is loaded */
    int64_t position;      /* all before this is done */
    int64_t end;           /* something may be before this */
    int64_t number;        /* the turn, while it is occupied */
    uint32_t in_flight;    /* published, and not acknowledged */
    bool is_dirty;         /* the position or the progress differs from the committed one */
    bool is_touched;       /* it is to be committed again, as it is */
    bool is_open;          /* it is being read */
    struct htw__relay_progress progress; /* level 0, when taken over or closed */
    struct htw__loaded *loaded;          /* level 0, while it is open */
};

/* How far a stripe that was taken over has come with what was in its input then. */
enum htw__catch_up {
    HTW__CATCH_UP_DONE,    /* it is read, and what came of it is in the buckets */
    HTW__CATCH_UP_READING, /* a cancel of what is due may be there */
    HTW__CATCH_UP_READ,    /* all of it; the next commit of FILE ends this */
};

/* Records that were delivered, whose entries are to be removed: the first `left` of them are committed. */
struct htw__leaving {
    struct htw__id *items;
    size_t count, left, room;
};

struct htw__stripe {
    uint32_t index; /* the number of the input partition */
    struct htw__levels levels;
    int64_t clock_ms;
    bool clock_is_dirty;
    bool is_released;    /* it is given away */
    bool is_uncommitted; /* its next commit of FILE is the first one, and of level 0 as well */
    int64_t input_position;
    int64_t input_end;    /* as far as is known */
    int64_t read_ms;      /* the timestamp of the last record of the input; 0: none was read */
    int64_t caught_up_ms; /* when nothing was left to read; 0: never yet */
    bool input_is_dirty;
    enum htw__catch_up catch_up;
    int64_t catch_up_end;           /* the input is read up to there first */
    int64_t catch_up_since;         /* in milliseconds */
    struct htw__relay_ids ids;      /* index.h: those that wait, by id; ... */
    bool ids_are_read;              /* ... nothing is opened before, and the input is not read */
    int64_t ids_end;                /* up to which it is read */
    struct htw__ids_log ids_log;    /* as far as it is acknowledged */
    bool ids_began_anew;            /* an offset came back: its topic was made anew */
    int64_t ids_ms;                 /* when the stripe was taken over, ... */
    int64_t ids_unsure_ms;          /* no entry that is unsure is due later */
    int64_t ids_input_end;          /* ... and where its input ended then */
    struct htw__leaving leaving[2]; /* by channel */
    struct htw__relay_bucket buckets[]; /* levels.count * levels.size */
};

/* A new stripe whose buckets are empty. It is freed by free(). */
struct htw__stripe *htw__stripe_create(uint32_t index, const struct htw__levels *levels);

struct htw__relay_bucket *htw__stripe_bucket(struct htw__stripe *stripe, uint32_t level,
                                             uint32_t slot);

/* How many buckets there are, and where one lies. */
static inline size_t htw__stripe_count(const struct htw__stripe *stripe) {
    return (size_t)stripe->levels.count * stripe->levels.size;
}

struct htw__source htw__bucket_source(const struct htw__relay_bucket *bucket);

/* Whether it may hold records that are not done, or whose end is not committed: another one who took the
 * stripe over would find them. */
bool htw__bucket_is_occupied(const struct htw__relay_bucket *bucket);

/* The occupied bucket of a level with the lowest number above `after`; NULL: none. */
struct htw__relay_bucket *htw__stripe_next(struct htw__stripe *stripe, uint32_t level,
                                           int64_t after);

/* The latest clock that the buckets above level 0 allow; INT64_MAX: any. */
int64_t htw__stripe_limit(struct htw__stripe *stripe);

/* Moves the clock to `now_ms`, or as far as buckets that are not drained allow; never back. */
void htw__stripe_advance(struct htw__stripe *stripe, int64_t now_ms);

#endif /* HTW_RELAY_STRIPE_H */
