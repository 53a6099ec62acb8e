/* SPDX-License-Identifier: MIT */
/*
 * scheduler_fixture.h - what the unit tests of the scheduler begin with: a scheduler on the
 * MANUAL clock and a counting allocator, timers with numbers, and a log of those that ran.
 *
 * Callbacks never assert, as they may be in another thread, or in the middle of the library:
 * they write down what they saw. scheduler_close() then checks what must hold after every test.
 */
#ifndef TESTS_SCHEDULER_FIXTURE_H
#define TESTS_SCHEDULER_FIXTURE_H

#include "failing_allocator.h"

#include <htw/scheduler.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS HTW_MILLISECOND

struct scheduler_fixture;

/** A timer's argument, and what its callback has seen. */
struct probe {
    struct scheduler_fixture *fixture;
    unsigned number;
    htw_handle handle; /* of the timer, as the schedule call gave it */
    /* Called by the callback; NULL: nothing. */
    void (*act)(struct probe *self, const struct htw_expiration *expiration);
    unsigned runs;
    struct htw_expiration last;
    int64_t ran_ns; /* the clock in the last run */
    int result;     /* for `act` */
};

struct scheduler_fixture {
    struct failing_allocator memory;
    struct htw_allocator allocator; /* that of `memory`, under `mutex` */
    pthread_mutex_t mutex;
    struct htw_scheduler *scheduler;
    struct probe *probes; /* zeroed, but for fixture and number */
    size_t count;
    unsigned *log; /* the numbers of those that ran, in that order */
    size_t log_count, log_room;
    uint64_t runs;
    bool early; /* a callback came before its deadline, or was told so */
};

/** The options from which the tests start: a MANUAL clock at 0, one shard, no workers. */
struct htw_scheduler_options scheduler_options(void);

/** Creates a scheduler with these options (NULL: the above), on the allocator of the fixture. */
void scheduler_open(struct scheduler_fixture *self, const struct htw_scheduler_options *options,
                    size_t probes);

/**
 * Stops and destroys the scheduler. Every timer must be accounted for before and after, each
 * callback be known to the fixture, and all memory be given back.
 */
void scheduler_close(struct scheduler_fixture *self);

/** The counters; those of timers must add up, which they do when all is quiet. */
struct htw_scheduler_stats scheduler_stats(struct scheduler_fixture *self);

/** The callback of the probes. */
void probe_run(void *probe, const struct htw_expiration *expiration);

/** See assert_ran. Clears the log. */
void scheduler_assert_ran(struct scheduler_fixture *self, const unsigned *numbers, size_t count,
                          const char *file, int line);

/** Schedules probe `number`. */
#define arm(self, number, delay_ns)                                                                \
    assert_int_equal(htw_schedule((self)->scheduler, delay_ns, probe_run, &(self)->probes[number], \
                                  &(self)->probes[number].handle),                                 \
                     0)

/** The same, to repeat. */
#define arm_every(self, number, first_ns, period_ns, repeat)                                       \
    assert_int_equal(htw_schedule_every((self)->scheduler, first_ns, period_ns, repeat, probe_run, \
                                        &(self)->probes[number], &(self)->probes[number].handle),  \
                     0)

#define advance(self, delta_ns) \
    assert_int_equal(htw_scheduler_advance((self)->scheduler, delta_ns), 0)

#define set_time(self, time_ns) \
    assert_int_equal(htw_scheduler_set_time((self)->scheduler, time_ns), 0)

/** Since the last look at the log exactly these ran, in this order. */
#define assert_ran(self, ...)                                                                     \
    scheduler_assert_ran(self, (const unsigned[]) { __VA_ARGS__ },                                \
                         sizeof((const unsigned[]) { __VA_ARGS__ }) / sizeof(unsigned), __FILE__, \
                         __LINE__)

#define assert_none_ran(self) scheduler_assert_ran(self, NULL, 0, __FILE__, __LINE__)

/* ---- a callback that stays until it is let go */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned inside;
    bool open;
};

#define GATE_INIT \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false }

/** In the callback: says that it is there, and stays until the gate is open. */
void gate_enter(struct gate *gate);

/** Waits until `count` callbacks have come; false when they do not. */
bool gate_await(struct gate *gate, unsigned count);

void gate_open(struct gate *gate);

/** Lets the time of a scheduler go on in another thread. */
struct driver {
    pthread_t thread;
    struct htw_scheduler *scheduler;
    int64_t delta_ns;
    int result;
};

void driver_start(struct driver *driver, struct scheduler_fixture *fixture, int64_t delta_ns);

/** What htw_scheduler_advance() returned. */
int driver_join(struct driver *driver);

#endif /* TESTS_SCHEDULER_FIXTURE_H */
