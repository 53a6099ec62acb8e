/* SPDX-License-Identifier: MIT */
/*
 * bench.h - the interface between workloads and implementations of timers.
 *
 * Every timer lies in an object of the harness, behind a record of what must happen to it, so that
 * each run checks what it measures:
 *
 *     object   [ struct bench_record | the timer, timer_size bytes | padding ]
 *
 * Objects start on a cache line and fill whole lines, like the connections and requests in which
 * timers are embedded. Implementations that are not in the tree are in a shared object
 * that defines `bench_plugins`, a list of pointers to them with NULL at its end (README.md).
 */
#ifndef BENCH_WHEEL_BENCH_H
#define BENCH_WHEEL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A timer's deadline that means: not armed. */
#define BENCH_IDLE UINT64_MAX

/* What the harness expects of a timer. */
struct bench_record {
    uint64_t deadline; /* absolute tick; BENCH_IDLE if the timer must not fire */
    uint64_t unused;   /* aligns timers to 16 bytes */
};

/* What has fired since the start of a run. */
struct bench_tally {
    uint64_t before; /* the previous tick of the clock */
    uint64_t now;    /* the tick to which the clock advances */
    uint64_t fired;  /* how often timers fired */
    uint64_t wrong;  /* of these: twice, early, or after a cancel */
    uint64_t late;   /* of these: due in an earlier advance */
    void **fired_at; /* if not NULL: receives the timers that fired */
    size_t fired_count;
};

/* An implementation calls this for each timer that fires. */
static inline void bench_fired(struct bench_tally *tally, void *timer) {
    struct bench_record *record = (struct bench_record *)timer - 1;
    tally->wrong += record->deadline > tally->now; /* BENCH_IDLE is later than all */
    tally->late += record->deadline <= tally->before;
    tally->fired++;
    record->deadline = BENCH_IDLE;
    if (tally->fired_at != NULL)
        tally->fired_at[tally->fired_count++] = timer;
}

/*
 * An implementation. Functions marked "or NULL" may be missing; then the workloads that need them
 * are left out. Time starts at tick 0.
 */
struct bench_implementation {
    const char *name;
    const char *about; /* one line: version, settings */
    size_t timer_size; /* bytes of a timer, its callback and argument included */
    bool counts_only;  /* its timers never fire: left out where they must */

    /* `capacity`: the most timers that are armed at once. Returns NULL if it cannot. Nothing is destroyed: the process ends. */
    void *(*create)(size_t capacity, struct bench_tally *tally);
    /* Makes a timer in zeroed memory. */
    void (*init)(void *self, void *timer);
    /* Arms a timer that is not armed, for a tick after the clock. */
    void (*schedule)(void *self, void *timer, uint64_t deadline);
    /* Disarms a timer that is armed. */
    void (*cancel)(void *self, void *timer);
    /* Changes the deadline of a timer that is armed; or NULL. */
    void (*move)(void *self, void *timer, uint64_t deadline);
    /* Arms for any tick in [earliest, latest], and returns the one chosen; or NULL. */
    uint64_t (*schedule_within)(void *self, void *timer, uint64_t earliest, uint64_t latest);
    /* Advances the clock to `now`, and calls bench_fired() for each timer that is due; or NULL. */
    void (*advance)(void *self, uint64_t now);
    /* The tick to advance to next, UINT64_MAX if there is none; or NULL. */
    uint64_t (*next)(void *self);
    /* How many timers are armed; or NULL. */
    size_t (*count)(void *self);
};

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WHEEL_BENCH_H */
