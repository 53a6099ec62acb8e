/* SPDX-License-Identifier: MIT */
/*
 * history.h - runs a history, one operation at a time, against a wheel and the
 * oracle, and says where they differ. The model test makes histories at random,
 * the fuzzer from bytes.
 */
#ifndef TESTS_HISTORY_H
#define TESTS_HISTORY_H

#include "failing_allocator.h"
#include "oracle.h"

#include <htw/wheel.h>
#include <htw/wheel_inspect.h>

/** What an operation does; the comment names the members of the operation that count. */
enum history_kind {
    HISTORY_SCHEDULE, /* timer, tick */
    HISTORY_WITHIN,   /* timer, tick, latest */
    HISTORY_CANCEL,   /* timer */
    HISTORY_POLL,     /* tick */
    HISTORY_BATCH,    /* tick, max, budget */
    HISTORY_NEXT,     /* nothing */
    HISTORY_RESERVE,  /* tick: the horizon */
    HISTORY_DRAIN,    /* nothing */
    HISTORY_REFUSE, /* max: which allocation from now on is refused, 0: none; budget: all later ones, too */
    HISTORY_KINDS
};

enum { HISTORY_BATCH_MAX = 64 };

struct history_op {
    enum history_kind kind;
    uint32_t timer;
    uint64_t tick, latest;
    size_t max, budget;
};

struct history_options {
    uint32_t size;
    bool strict;
    uint64_t start;
    uint32_t timers;      /* how many there are; operations name them from 0 */
    uint32_t check_every; /* htw_wheel_check() after every so many operations */
};

/** How a history is finished. */
enum history_end {
    HISTORY_END_POLL,    /* everything that has a deadline is polled, the rest drained */
    HISTORY_END_DRAIN,   /* everything is drained */
    HISTORY_END_DESTROY, /* the wheel is destroyed with what it holds */
    HISTORY_ENDS
};

struct history {
    struct history_options options;
    struct failing_allocator memory;
    struct htw_wheel *wheel;
    struct htw_timer *timers;
    struct oracle oracle;
    uint64_t *deadlines; /* for which each timer was last armed */
    uint8_t *visits;     /* by htw_wheel_for_each(), for each timer */
    uint64_t *left;      /* ticks later than the clock that a timer had and was taken from */
    size_t left_count, left_capacity;
    uint64_t clock;
    bool in_round;
    uint64_t reserved; /* the furthest horizon that was reserved; 0: none */
    uint64_t steps;    /* operations so far */
    uint64_t digest;   /* of all timers handed out, in order, and all answers of next */
    uint64_t longest;  /* most timers pending at any time */
    uint64_t idle;     /* batches in a row that had more to do, but have done nothing visible */
    struct htw_wheel_stats expected; /* the counters that the contract determines */
    char message[256];               /* what differed */
};

/** Creates the wheel; false: see `message`. Close it in either case. */
bool history_open(struct history *self, const struct history_options *options);

/** Runs one operation and compares; false: see `message`. */
bool history_run(struct history *self, const struct history_op *op);

/** Empties the wheel in one of three ways and compares; false: see `message`. */
bool history_finish(struct history *self, enum history_end end);

/** Frees everything. */
void history_close(struct history *self);

/** Writes an operation for people: its kind, and all its members in their order. */
void history_describe(const struct history_op *op, char *text, size_t size);

#endif /* TESTS_HISTORY_H */
