/* SPDX-License-Identifier: MIT */
/*
 * levels.h - the geometry of the relay's wheel: which bucket of which level a deadline belongs to.
 *
 * A bucket of level 0 is `width_ms` wide, and one of level i `factor` times as wide as one of level
 * i - 1. Bucket number b of a level covers [b * width, (b + 1) * width), and lies in slot b mod size.
 * There are twice as many slots as a bucket of the level above has parts (size = 2 * factor). So the
 * window of a level, `size` buckets, covers two buckets of the level above: a bucket can be demoted
 * into the lower level while that still serves the bucket before it.
 *
 * The clock of a stripe is the start of a bucket of level 0. It stays where it is while a bucket
 * that it would pass is not drained; so no slot ever serves two turns.
 */
#ifndef HTW_RELAY_LEVELS_H
#define HTW_RELAY_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

/* With one level, what lies beyond the window would be loaded into memory each turn. */
#define HTW__RELAY_LEVELS_MIN 2u
#define HTW__RELAY_LEVELS_MAX 12u
#define HTW__RELAY_SIZE_MIN 4u
#define HTW__RELAY_SIZE_MAX 1024u

/* 9999-12-31T23:59:59.999Z, the latest deadline: in milliseconds since 1970, as all times here. */
#define HTW__RELAY_DEADLINE_MAX INT64_C(253402300799999)

struct htw__levels {
    int64_t width_ms; /* of a bucket of level 0 */
    uint32_t size;    /* slots of a level: a power of two */
    uint32_t count;   /* levels */
};

/* A bucket of a level. */
struct htw__relay_place {
    uint32_t level;
    int64_t number;
};

/* Whether sizes and widths are in range. The highest bucket then ends after the latest deadline by
 * so little that nothing here overflows. */
bool htw__levels_are_valid(const struct htw__levels *levels);

/* The width of a bucket. */
int64_t htw__levels_width(const struct htw__levels *levels, uint32_t level);

/* The number of the bucket of a level that covers a moment. */
int64_t htw__levels_number(const struct htw__levels *levels, uint32_t level, int64_t time_ms);

/* The slot in which a bucket lies. */
uint32_t htw__levels_slot(const struct htw__levels *levels, int64_t number);

/* The bucket that a slot holds when the clock of the stripe is `clock_ms`. */
int64_t htw__levels_turn(const struct htw__levels *levels, uint32_t level, uint32_t slot,
                         int64_t clock_ms);

/*
 * Where a record goes: the lowest level whose window reaches its deadline. One before the clock goes
 * to the bucket of the clock; one beyond the highest window to the farthest bucket, from where it is
 * demoted to a bucket of the same level, once a turn.
 */
struct htw__relay_place htw__levels_place(const struct htw__levels *levels, int64_t clock_ms,
                                          int64_t deadline_ms);

/* Whether the highest window reaches a deadline. */
bool htw__levels_reach(const struct htw__levels *levels, int64_t clock_ms, int64_t deadline_ms);

/* When a bucket above level 0 is to be demoted: one bucket before its start. */
int64_t htw__levels_demotion(const struct htw__levels *levels, struct htw__relay_place place);

/* The latest clock that an undrained bucket allows: of level 0 the bucket itself, of others the one before their
 * start. So what lies above is in level 0 before anything that is due with it leaves there. */
int64_t htw__levels_limit(const struct htw__levels *levels, struct htw__relay_place place);

/* The start of the bucket of level 0 that covers a moment. */
int64_t htw__levels_round(const struct htw__levels *levels, int64_t time_ms);

#endif /* HTW_RELAY_LEVELS_H */
