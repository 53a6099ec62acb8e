/* SPDX-License-Identifier: MIT */
/*
 * scheduler_fixture.h - what the unit tests of the scheduler start from: a scheduler on the manual
 * clock over an allocator that counts, numbered timers (probes), and a log of what was called.
 *
 * Most tests run between scheduler_setup() and scheduler_teardown(). The latter checks what must
 * hold after every test: no timer is lost, no callback was early, all memory is given back.
 *
 * Callbacks and hooks never assert, because they may run in another thread or inside the library.
 * They record what they see.
 */
#ifndef TESTS_SCHEDULER_FIXTURE_H
#define TESTS_SCHEDULER_FIXTURE_H

#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <htw/executor.h>
#include <htw/group.h>
#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/scheduler.h>
#include <htw/timer.h>

#include <pthread.h>
#include <sched.h>

#define MS HTW_MILLISECOND

/** The clock at the start of scheduler_setup_later(). */
#define START_NS (1000 * HTW_SECOND)

struct scheduler_fixture;

/** The argument of a timer, and what its callback, hook and visitor have seen. */
struct probe {
    struct scheduler_fixture *fixture;
    unsigned number;
    htw_handle handle; /* of its timer */
    /* Called by the callback and by the hook; NULL: nothing. */
    void (*act)(struct probe *self);
    void (*on_release)(struct probe *self);
    unsigned runs, releases, visits;
    struct htw_expiration last; /* what the last run was told */
    int64_t ran_ns;             /* the timer's clock in the last run */
    int64_t unexpired_ns;       /* the deadline that the visitor was told */
    int result;                 /* for `act` and `on_release` */
};

/* ---- a callback that stays until the gate is opened */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned inside;
    bool open;
};

#define GATE_INIT \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false }

/** In a callback: counts itself in, and stays until the gate is open. */
void gate_enter(struct gate *gate);

/** Waits until `count` callbacks are inside; false when they do not come. */
bool gate_await(struct gate *gate, unsigned count);

void gate_open(struct gate *gate);

/** A thread that calls htw_scheduler_advance(). */
struct advancer {
    pthread_t thread;
    struct htw_scheduler *scheduler;
    int64_t delta_ns;
    int result;
};

/* ---- the fixture */

struct scheduler_fixture {
    /* For scheduler_reopen(). */
    struct htw_scheduler_options options;
    size_t count; /* of probes */
    int (*create)(struct htw_scheduler **, const struct htw_scheduler_options *,
                  uint32_t index_bits); /* htw__scheduler_create(); NULL: as usual */
    uint32_t index_bits;                /* of a handle, that number the timers of a shard */

    struct failing_allocator memory;
    struct htw_allocator allocator; /* that of `memory`, under `mutex` */
    pthread_mutex_t mutex;
    struct htw_scheduler *scheduler; /* NULL: the test has destroyed it */
    struct htw_group *group;         /* for tests that want one; destroyed at the end */
    struct probe *probes;            /* zeroed, except fixture and number */
    unsigned *log;                   /* the probes that ran, in that order; see EVENT_… */
    size_t log_count, log_room;
    uint64_t runs;
    bool early; /* a callback came before its deadline, or was told so */
    struct gate gate;
    struct advancer advancer;
    bool is_advancing; /* `advancer` runs */
};

/** The probes of a fixture, unless the test asks for another number. */
enum { PROBES = 16 };

/** The options of scheduler_setup(): the manual clock at 0, one shard, no workers. */
struct htw_scheduler_options scheduler_options(void);

/** Creates a scheduler with these options (NULL: the above), on the allocator of the fixture. */
void scheduler_open(struct scheduler_fixture *self, const struct htw_scheduler_options *options,
                    size_t probes);

/**
 * Stops and destroys the scheduler. Every timer must be accounted for before and after, each
 * callback be known to the fixture, and all memory be given back.
 */
void scheduler_close(struct scheduler_fixture *self);

/** Closes the scheduler and opens another one with the options of the fixture. */
void scheduler_reopen(struct scheduler_fixture *self);

/** The fixture of the tests that follow, and what runs before and after each. */
extern struct scheduler_fixture scheduler_fixture;

void scheduler_setup(void);
void scheduler_teardown(void);

/** The same, with the clock at START_NS: a result that leaves the clock out is wrong there. */
void scheduler_setup_later(void);

/** Defines a test as UNIT_TEST() does, between `setup` and scheduler_teardown(). Its fixture is `f`. */
#define SCHEDULER_TEST_AFTER(setup, name) \
    UNIT_TEST_ON(struct scheduler_fixture *f, &scheduler_fixture, setup, scheduler_teardown, name)

#define SCHEDULER_TEST(name) SCHEDULER_TEST_AFTER(scheduler_setup, name)
#define LATER_TEST(name) SCHEDULER_TEST_AFTER(scheduler_setup_later, name)

/** The counters. Those of timers must add up, which they do when all is quiet. */
struct htw_scheduler_stats scheduler_stats(struct scheduler_fixture *self);

/* ---- timers of probes */

/** The callback, the release hook, and the visitor of probes. */
void probe_run(void *probe, const struct htw_expiration *expiration);
void probe_release(void *probe);
void probe_visit(void *context, const struct htw_unexpired *unexpired);

/** An `act` that enters the gate of the fixture. */
void act_stay(struct probe *self);

/** A spec with callback, argument and delay. */
struct htw_spec probe_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns);

/** The same with the release hook, in the group of the fixture, or under a key. */
struct htw_spec hooked_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns);
struct htw_spec grouped_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns);
struct htw_spec keyed_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns,
                           const char *key);

/** Every call that schedules answers `expected`, and leaves its outputs alone. There are six. */
void assert_each_schedule_call_answers(struct htw_scheduler *scheduler, htw_callback *callback,
                                       int expected);

/** Schedules probe `number` under a key of its own, so that timers are spread over the shards. */
int schedule_numbered(struct scheduler_fixture *self, unsigned number, int64_t delay_ns,
                      struct htw_unexpired *ret_replaced);

/** The result of a call for the timer of probe `number`. */
#define cancel(self, number) htw_cancel((self)->scheduler, (self)->probes[number].handle)
#define cancel_wait(self, number) htw_cancel_wait((self)->scheduler, (self)->probes[number].handle)
#define reschedule(self, number, delay_ns) \
    htw_reschedule((self)->scheduler, (self)->probes[number].handle, delay_ns)
#define set_period(self, number, period_ns) \
    htw_set_period((self)->scheduler, (self)->probes[number].handle, period_ns)
#define is_pending(self, number) htw_is_pending((self)->scheduler, (self)->probes[number].handle)

/** The deadline of probe `number`; asserts that there is one. */
int64_t deadline_of(const struct scheduler_fixture *self, unsigned number);

/** Schedules probe `number`; asserts that this succeeds. */
#define arm(self, number, delay_ns)                                                                \
    assert_int_equal(htw_schedule((self)->scheduler, delay_ns, probe_run, &(self)->probes[number], \
                                  &(self)->probes[number].handle),                                 \
                     0)
#define arm_at(self, number, at_ns)                                                                \
    assert_int_equal(htw_schedule_at((self)->scheduler, at_ns, probe_run, &(self)->probes[number], \
                                     &(self)->probes[number].handle),                              \
                     0)
#define arm_every(self, number, first_ns, period_ns, repeat)                                       \
    assert_int_equal(htw_schedule_every((self)->scheduler, first_ns, period_ns, repeat, probe_run, \
                                        &(self)->probes[number], &(self)->probes[number].handle),  \
                     0)
#define arm_spec(self, number, spec) \
    assert_int_equal(                \
        htw_schedule_spec((self)->scheduler, spec, &(self)->probes[number].handle, NULL), 0)

/* ---- the group of the fixture */

#define create_group(self) assert_int_equal(htw_group_create((self)->scheduler, &(self)->group), 0)
#define pause_group(self) assert_int_equal(htw_group_pause((self)->group), 0)
#define resume_group(self) assert_int_equal(htw_group_resume((self)->group), 0)
void destroy_group(struct scheduler_fixture *self);

/* ---- time */

#define advance(self, delta_ns) \
    assert_int_equal(htw_scheduler_advance((self)->scheduler, delta_ns), 0)

#define set_time(self, time_ns) \
    assert_int_equal(htw_scheduler_set_clock((self)->scheduler, HTW_CLOCK_DEFAULT, time_ns), 0)

/** Lets time go on in another thread; returns when a callback is in the gate. */
void advance_to_gate(struct scheduler_fixture *self, int64_t delta_ns);

/** Opens the gate, and waits for that thread, whose call must have succeeded. */
void advance_past_gate(struct scheduler_fixture *self);

/** What htw_scheduler_advance() returned. */
int advancer_join(struct advancer *advancer);

/** What htw_scheduler_dump() writes; to be freed. */
char *scheduler_dump(struct htw_scheduler *scheduler);

/* ---- the log */

/** What the log holds beside the numbers of the probes that ran. */
#define EVENT_RELEASED 0x40000000u
#define EVENT_VISITED 0x80000000u

/** Since the last look at the log exactly these ran, in this order. Empties the log. */
#define assert_ran(self, ...)                                                                     \
    scheduler_assert_ran(self, (const unsigned[]) { __VA_ARGS__ },                                \
                         sizeof((const unsigned[]) { __VA_ARGS__ }) / sizeof(unsigned), __FILE__, \
                         __LINE__)

#define assert_none_ran(self) scheduler_assert_ran(self, NULL, 0, __FILE__, __LINE__)

/** Nothing runs until `delta_ns` has passed; then these run, in this order. */
#define assert_runs_after(self, delta_ns, ...) \
    do {                                       \
        advance(self, (delta_ns)-1);           \
        assert_none_ran(self);                 \
        advance(self, 1);                      \
        assert_ran(self, __VA_ARGS__);         \
    } while (0)

/**
 * The log as letters: "a" is a run of probe 0, "A" a call of its hook, "!a" a call of the visitor.
 * Empties the log.
 */
#define assert_log(self, text) scheduler_assert_log(self, text, __FILE__, __LINE__)

void scheduler_assert_ran(struct scheduler_fixture *self, const unsigned *numbers, size_t count,
                          const char *file, int line);
void scheduler_assert_log(struct scheduler_fixture *self, const char *text, const char *file,
                          int line);

#endif /* TESTS_SCHEDULER_FIXTURE_H */
