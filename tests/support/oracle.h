/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - what a wheel must do, said as simply as possible: a sorted array of
 * the pending timers. It knows the contract of htw/wheel.h and nothing of wheels.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Why a timer is where it is in the array; the array is sorted by this first. */
enum oracle_turn {
    ORACLE_DUE,        /* armed for the past; comes with the next poll, in order of arming */
    ORACLE_WAITING,    /* comes at its deadline */
    ORACLE_NEXT_ROUND, /* armed inside a round for the past: is ORACLE_DUE when that ends */
    ORACLE_NEVER       /* its deadline is HTW_NEVER_TICK */
};

struct oracle_entry {
    uint64_t deadline;
    uint64_t arming; /* the number of its arming: which came first */
    uint32_t id;
    enum oracle_turn turn;
};

struct oracle {
    struct oracle_entry *entries; /* in the order in which they come out */
    size_t count, capacity;
    uint64_t armings;
    bool strict; /* timers of one tick come in the order of arming */
};

/** Room for `capacity` timers, whose ids the caller chooses. */
void oracle_init(struct oracle *self, size_t capacity, bool strict);
void oracle_fini(struct oracle *self);

/** The entry of a pending timer; NULL when it is not pending. */
const struct oracle_entry *oracle_find(const struct oracle *self, uint32_t id);

/** Arms or moves a timer while the clock is at `clock`. */
void oracle_arm(struct oracle *self, uint32_t id, uint64_t deadline, uint64_t clock, bool in_round);

/** Takes a timer out, whatever its turn; false when it is not pending. */
bool oracle_remove(struct oracle *self, uint32_t id);

/** Takes out a timer that a poll up to `limit` gave; NULL when that was right, or why not. */
const char *oracle_take(struct oracle *self, uint32_t id, uint64_t limit);

/** A round up to `limit` has ended; NULL when it could end, or why not. */
const char *oracle_end_round(struct oracle *self, uint64_t limit);

/** The earliest deadline among those that are waiting; HTW_NEVER_TICK when none is. */
uint64_t oracle_earliest(const struct oracle *self);

/** How many timers were armed for the past and are still pending. */
size_t oracle_due(const struct oracle *self);

/** How many timers are pending under HTW_NEVER_TICK. */
size_t oracle_never(const struct oracle *self);

/** The tick that slack must choose, for earliest <= latest. */
uint64_t oracle_slack(uint64_t earliest, uint64_t latest);

#endif /* TESTS_ORACLE_H */
