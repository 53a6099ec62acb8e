/* SPDX-License-Identifier: MIT */
/* test_schedule.c - timers that repeat by a calendar, in manual time. */
#include "../../support/child.h"
#include "../../support/failing_allocator.h"
#include "../../support/manual_time.h"
#include "../unit.h"
#include "../../support/timer_info.h"

#include <htw/calendar.h>
#include <htw/group.h>
#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/timer.h>

enum { RUNS_MAX = 256 };

/* 2024-03-28 00:00 UTC, a Thursday. */
#define START_NS (INT64_C(1711584000) * HTW_SECOND)

/* A scheduler in manual time, and what the callback of one timer was told. */
struct fixture {
    struct failing_allocator memory;
    struct htw_scheduler *scheduler;
    struct htw_calendar_spec spec;
    struct htw_zone *berlin;
    htw_handle handle;
    struct htw_expiration runs[RUNS_MAX];
    int64_t at_ns[RUNS_MAX];
    unsigned count, releases, visits;
    void (*act)(struct fixture *f);
};

static void run(void *arg, const struct htw_expiration *expiration) {
    struct fixture *f = arg;
    if (f->count < RUNS_MAX) {
        f->runs[f->count] = *expiration;
        f->at_ns[f->count++] = htw_scheduler_now_by(expiration->scheduler, HTW_CLOCK_REALTIME);
    }
    if (f->act != NULL)
        f->act(f);
}

static void release(void *arg) {
    ((struct fixture *)arg)->releases++;
}

static void visit(void *context, const struct htw_unexpired *unexpired) {
    struct fixture *f = context;
    f->visits += htw_calendar_arg(unexpired) == f;
}

static struct fixture fixture;

static void set_up(void) {
    struct fixture *f = &fixture;
    *f = (struct fixture) { 0 };
    failing_allocator_init(&f->memory);
    f->scheduler = manual_scheduler(START_NS);
    assert_non_null(f->scheduler);
    assert_int_equal(htw_zone_create(&f->berlin, "Europe/Berlin"), 0);
    f->spec = (struct htw_calendar_spec)HTW_CALENDAR_SPEC_INIT;
    f->spec.callback = run;
    f->spec.arg = f;
    f->spec.allocator = &f->memory.allocator;
}

static void tear_down(void) {
    struct fixture *f = &fixture;
    assert_int_equal(htw_scheduler_destroy(f->scheduler), 0);
    htw_zone_destroy(f->berlin);
    assert_all_released(&f->memory);
}

#define CALENDAR_TEST(name) UNIT_TEST_ON(struct fixture *f, &fixture, set_up, tear_down, name)

static int schedule(struct fixture *f, const char *expression) {
    assert_int_equal(htw_calendar_cron(&f->spec.calendar, expression, NULL), 0);
    return htw_schedule_calendar(f->scheduler, &f->spec, &f->handle, NULL);
}

static void advance(struct fixture *f, int64_t delta_ns) {
    assert_int_equal(htw_scheduler_advance(f->scheduler, delta_ns), 0);
}

static void set_time(struct fixture *f, int64_t time_ns) {
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_REALTIME, time_ns), 0);
}

/* The runs since the last call were of the instants START_NS + hours; ended by -1. */
static void assert_hours(struct fixture *f, const int *hours) {
    unsigned count = 0;
    while (hours[count] >= 0 && count < f->count) {
        assert_int_equal(f->runs[count].deadline_ns, START_NS + hours[count] * HTW_HOUR);
        count++;
    }
    assert_int_equal(hours[count], -1);
    assert_int_equal(f->count, count);
    f->count = 0;
}

#define HOURS(f, ...) assert_hours(f, (const int[]) { __VA_ARGS__, -1 })
#define NO_RUN(f) assert_int_equal((f)->count, 0)

/* ---- runs on time */

/* holds: calendar-8 */
CALENDAR_TEST(calendar_timer_runs_at_each_instant_of_its_zone) {
    f->spec.zone = f->berlin;
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    htw_zone_destroy(f->berlin); /* the timer keeps it */
    f->berlin = NULL;
    advance(f, 4 * HTW_DAY);
    assert_int_equal(f->count, 4);
    for (unsigned i = 0; i < 4; i++) { /* from the change on an hour earlier by UTC */
        assert_int_equal(f->runs[i].deadline_ns,
                         START_NS + i * HTW_DAY + (i < 3 ? 2 : 1) * HTW_HOUR);
        assert_int_equal(f->at_ns[i], f->runs[i].deadline_ns);
        assert_int_equal(f->runs[i].late_ns, 0);
        assert_int_equal(f->runs[i].missed, 0);
        assert_int_equal(f->runs[i].handle, f->handle);
    }
    assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
}

/* ---- jitter */

/* holds: calendar-10 */
CALENDAR_TEST(calendar_jitter_is_the_same_in_every_run_and_for_every_key) {
    static const char *const keys[] = { "alpha/backup", "beta/backup", "" };
    int64_t delays_ns[3];
    f->spec.jitter_ns = HTW_HOUR;
    for (unsigned i = 0; i < COUNT_OF(keys); i++) {
        f->count = 0;
        set_time(f, START_NS);
        f->spec.jitter_key = keys[i];
        f->spec.jitter_key_size = strlen(keys[i]);
        assert_int_equal(schedule(f, "0 3 * * *"), 0);
        advance(f, 3 * HTW_DAY);
        assert_int_equal(f->count, 3);
        delays_ns[i] = f->at_ns[0] - f->runs[0].deadline_ns;
        for (unsigned j = 0; j < 3; j++) {
            assert_int_equal(f->runs[j].deadline_ns, START_NS + (3 + 24 * j) * HTW_HOUR);
            assert_int_equal((f->at_ns[j] - f->runs[j].deadline_ns) / HTW_MILLISECOND,
                             delays_ns[i] / HTW_MILLISECOND);
            assert_in_range(f->runs[j].late_ns, 0, HTW_MILLISECOND);
        }
        assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    }
    /* They never change, on no machine and in no version. */
    assert_int_equal(delays_ns[0] / HTW_SECOND, 1458);
    assert_int_equal(delays_ns[1] / HTW_SECOND, 1014);
    assert_int_equal(delays_ns[2] / HTW_SECOND, 581);
}

/* holds: calendar-10 */
CALENDAR_TEST(calendar_jitter_spreads_keys_evenly) {
    unsigned tenths[10] = { 0 };
    f->spec.jitter_ns = 10 * HTW_MINUTE - 1;
    for (unsigned i = 0; i < 5000; i++) {
        int64_t deadline_ns;
        f->spec.jitter_key = &i;
        f->spec.jitter_key_size = sizeof(i);
        assert_int_equal(schedule(f, "0 3 * * *"), 0);
        assert_int_equal(timer_deadline_of(f->scheduler, f->handle, &deadline_ns), 0);
        assert_in_range(deadline_ns - START_NS - 3 * HTW_HOUR, 0, f->spec.jitter_ns);
        tenths[(deadline_ns - START_NS - 3 * HTW_HOUR) / HTW_MINUTE]++;
        assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    }
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(tenths[i], 420, 580); /* 500, and almost four times the deviation */
}

CALENDAR_TEST(calendar_timer_that_is_scheduled_within_its_jitter_still_runs) {
    int64_t deadline_ns;
    f->spec.jitter_ns = HTW_DAY;
    f->spec.jitter_key = "a";
    f->spec.jitter_key_size = 1;
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    assert_int_equal(timer_deadline_of(f->scheduler, f->handle, &deadline_ns), 0);
    assert_in_range(deadline_ns, START_NS + 1, START_NS + HTW_HOUR);
}

CALENDAR_TEST(calendar_timer_whose_jitter_ends_after_time_never_runs) {
    int64_t deadline_ns;
    f->spec.jitter_ns = HTW_DAY;
    f->spec.jitter_key = "beta/backup"; /* a third of the jitter */
    f->spec.jitter_key_size = 11;
    set_time(f, INT64_MAX - 2 * HTW_MINUTE);
    f->spec.after_ns = INT64_MAX - 2 * HTW_MINUTE;
    assert_int_equal(schedule(f, "* * * * *"), 0);
    assert_int_equal(timer_deadline_of(f->scheduler, f->handle, &deadline_ns), 0);
    assert_int_equal(deadline_ns, HTW_NEVER_NS);
}

/* ---- what was missed */

#define NONE HTW_CALENDAR_NO_CATCH_UP

/* holds: calendar-8 */
CALENDAR_TEST(calendar_missed_instants_run_late_as_catch_up_and_grace_say) {
    static const struct {
        uint32_t catch_up;
        int64_t grace_ns, to_ns; /* the clock is set from 00:00 to there */
        int hours[4];            /* that run, ended by -1 */
        uint64_t missed;         /* before the first that runs */
    } cases[] = {
        { 0, 0, 330 * HTW_MINUTE, { -1 }, 5 },
        { 1, 0, 330 * HTW_MINUTE, { 5, -1 }, 4 },
        { 3, 0, 150 * HTW_MINUTE, { 1, 2, -1 }, 0 },
        { 3, 0, 750 * HTW_MINUTE, { 10, 11, 12, -1 }, 9 },
        /* The last one is on time: it runs in each case, and counts. */
        { 0, 0, 301 * HTW_MINUTE, { 5, -1 }, 4 },
        { 1, 0, 301 * HTW_MINUTE, { 5, -1 }, 4 },
        { 2, 0, 301 * HTW_MINUTE, { 4, 5, -1 }, 3 },
        { 0, 0, 2 * HTW_HOUR, { 2, -1 }, 1 },
        /* A grace of a minute, unless another one is given. */
        { 0, 0, 61 * HTW_MINUTE, { 1, -1 }, 0 },
        { 0, 0, 61 * HTW_MINUTE + HTW_MILLISECOND, { -1 }, 1 },
        { 0, 10 * HTW_SECOND, HTW_HOUR + 10 * HTW_SECOND, { 1, -1 }, 0 },
        { 0, 10 * HTW_SECOND, HTW_HOUR + 10 * HTW_SECOND + HTW_MILLISECOND, { -1 }, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t to_ns = cases[i].to_ns;
        bool runs = cases[i].hours[0] >= 0;
        set_time(f, START_NS);
        f->spec.catch_up = cases[i].catch_up > 0 ? cases[i].catch_up : NONE;
        f->spec.grace_ns = cases[i].grace_ns;
        assert_int_equal(schedule(f, "0 * * * *"), 0);
        set_time(f, START_NS + to_ns);
        for (unsigned run = 0; run < f->count; run++)
            assert_int_equal(f->runs[run].missed, run == 0 ? cases[i].missed : 0);
        assert_true(!runs || f->runs[f->count - 1].late_ns == to_ns % HTW_HOUR);
        assert_hours(f, cases[i].hours);
        advance(f, HTW_HOUR - to_ns % HTW_HOUR);
        assert_int_equal(f->runs[0].missed, runs ? 0 : cases[i].missed);
        HOURS(f, (int)(to_ns / HTW_HOUR) + 1);
        advance(f, HTW_HOUR);
        assert_int_equal(f->runs[0].missed, 0);
        HOURS(f, (int)(to_ns / HTW_HOUR) + 2);
        assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    }
}

/* holds: calendar-8 */
CALENDAR_TEST(calendar_skipped_instants_add_up_until_a_run) {
    f->spec.catch_up = NONE;
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    for (int hour = 1; hour <= 7; hour += 2)
        set_time(f, START_NS + hour * HTW_HOUR + 30 * HTW_MINUTE);
    NO_RUN(f);
    advance(f, HTW_HOUR);
    assert_int_equal(f->runs[0].missed, 7);
    HOURS(f, 8);
}

CALENDAR_TEST(calendar_instants_since_the_last_run_of_the_program_are_missed) {
    f->spec.after_ns = START_NS - 50 * HTW_HOUR;
    f->spec.catch_up = 2;
    assert_int_equal(schedule(f, "0 0 * * *"), 0);
    advance(f, 0);
    assert_int_equal(f->count, 2); /* at -48, -24 and 0 hours; the last one is now */
    assert_int_equal(f->runs[0].deadline_ns, START_NS - HTW_DAY);
    assert_int_equal(f->runs[0].missed, 1);
    assert_int_equal(f->runs[1].deadline_ns, START_NS);
}

/* The clock was set back since then: by a little, so that it waits, or it was wrong by far. */
/* holds: calendar-9 */
CALENDAR_TEST(calendar_last_run_that_is_in_the_future_counts_up_to_three_hours) {
    f->spec.after_ns = START_NS + 3 * HTW_HOUR;
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    advance(f, 4 * HTW_HOUR);
    HOURS(f, 4);
    assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    f->spec.after_ns = START_NS + 7 * HTW_HOUR + 1;
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    advance(f, HTW_HOUR);
    HOURS(f, 5);
}

/* As at the start of a machine that has no clock of its own: 2024 comes after 1970. */
/* holds: calendar-9 */
CALENDAR_TEST(calendar_clock_that_jumps_by_decades_costs_little) {
    set_time(f, 0);
    f->spec.catch_up = HTW_CALENDAR_CATCH_UP_MAX;
    assert_int_equal(schedule(f, "* * * * *"), 0);
    set_time(f, START_NS);
    assert_int_equal(f->count, RUNS_MAX);
    assert_int_equal(f->runs[0].deadline_ns, START_NS - 999 * HTW_MINUTE);
    assert_int_equal(f->runs[0].missed, HTW_CALENDAR_MISSED_MAX);
}

/* holds: calendar-9 */
CALENDAR_TEST(calendar_clock_that_is_set_back_runs_no_instant_twice) {
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    advance(f, 3 * HTW_HOUR);
    HOURS(f, 1, 2, 3);
    set_time(f, START_NS + HTW_HOUR / 2);
    advance(f, 3 * HTW_HOUR);
    NO_RUN(f);
    advance(f, HTW_HOUR);
    HOURS(f, 4);
    assert_int_equal(f->runs[0].missed, 0);
    /* The caller may let it begin anew. */
    set_time(f, START_NS);
    assert_int_equal(htw_reschedule(f->scheduler, f->handle, 0), HTW_MOVED);
    advance(f, 90 * HTW_MINUTE);
    HOURS(f, 0, 1);
}

/* The clock of the scheduler, by which its other timers go, may be any other. */
/* holds: calendar-8 */
CALENDAR_TEST(calendar_timer_follows_the_wall_clock_in_any_scheduler) {
    static const enum htw_clock clocks[] = {
        HTW_CLOCK_DEFAULT,
        HTW_CLOCK_REALTIME,
#if HAS_BOOTTIME
        HTW_CLOCK_BOOTTIME,
#endif
        HTW_CLOCK_MONOTONIC
    };
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(timer_clock_of(f->scheduler, f->handle), HTW_CLOCK_REALTIME);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, START_NS + HTW_DAY),
                     0);
    NO_RUN(f);
    set_time(f, START_NS + 3 * HTW_HOUR);
    assert_int_equal(f->runs[0].clock, HTW_CLOCK_REALTIME);
    HOURS(f, 3);
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        struct htw_scheduler *other;
        int64_t deadline_ns;
        options.clock = clocks[i];
        assert_int_equal(htw_scheduler_create(&other, &options), 0);
        assert_int_equal(htw_schedule_calendar(other, &f->spec, &f->handle, NULL), 0);
        assert_int_equal(timer_deadline_of(other, f->handle, &deadline_ns), 0);
        int64_t now_ns = htw_scheduler_now_by(other, HTW_CLOCK_REALTIME);
        assert_in_range(deadline_ns - now_ns, 0, HTW_DAY + HTW_MINUTE);
        assert_int_equal(deadline_ns % HTW_DAY, 3 * HTW_HOUR);
        assert_int_equal(htw_scheduler_destroy(other), 0);
    }
}

/* ---- in a group that is paused */

static void schedule_in_paused_group(struct fixture *f, const char *expression) {
    assert_int_equal(htw_group_create(f->scheduler, &f->spec.group), 0);
    assert_int_equal(schedule(f, expression), 0);
    assert_int_equal(htw_group_pause(f->spec.group), 0);
}

static void resume(struct fixture *f) {
    assert_int_equal(htw_group_resume(f->spec.group), 0);
    advance(f, 0);
}

/* holds: calendar-8 */
CALENDAR_TEST(calendar_instants_that_a_pause_held_back_are_missed) {
    for (uint32_t catch_up = 0; catch_up < 3; catch_up++) {
        set_time(f, START_NS);
        f->spec.catch_up = catch_up > 0 ? catch_up : NONE;
        schedule_in_paused_group(f, "0 * * * *");
        advance(f, 3 * HTW_HOUR + HTW_HOUR / 2);
        NO_RUN(f);
        resume(f);
        advance(f, HTW_HOUR / 2);
        assert_int_equal(f->runs[0].missed, 3 - catch_up);
        if (catch_up == 0)
            HOURS(f, 4);
        else if (catch_up == 1)
            HOURS(f, 3, 4);
        else
            HOURS(f, 2, 3, 4);
        assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
        htw_group_destroy(f->spec.group);
    }
}

/* ---- what callers and callbacks do with the timer */

/* The instants that it passes over are counted; they do not run late. */
/* holds: calendar-8 */
CALENDAR_TEST(calendar_timer_that_is_moved_beyond_instants_runs_once_at_that_time) {
    static const struct {
        int64_t to_ns, now_ns; /* where it is moved to, and the time when it runs */
        uint64_t missed;
        int next; /* the hour after it */
    } cases[] = {
        { 330 * HTW_MINUTE, 330 * HTW_MINUTE, 5, 6 },
        { 5 * HTW_HOUR + HTW_SECOND, 5 * HTW_HOUR + HTW_SECOND, 5, 6 },
        { 5 * HTW_HOUR, 5 * HTW_HOUR, 4, 6 }, /* it runs at the fifth */
        { 330 * HTW_MINUTE, 430 * HTW_MINUTE, 7, 8 },
        { 5 * HTW_HOUR, 430 * HTW_MINUTE, 6, 8 },
        { 30 * HTW_MINUTE, 30 * HTW_MINUTE, 0, 1 },
        { 30 * HTW_MINUTE, 70 * HTW_MINUTE, 1, 2 },
    };
    static const uint32_t catch_ups[] = { NONE, 0, 1, 5 };
    for (size_t i = 0; i < COUNT_OF(cases) * COUNT_OF(catch_ups); i++) {
        size_t number = i / COUNT_OF(catch_ups);
        set_time(f, START_NS);
        f->spec.catch_up = catch_ups[i % COUNT_OF(catch_ups)];
        assert_int_equal(schedule(f, "0 * * * *"), 0);
        assert_int_equal(htw_reschedule_at(f->scheduler, f->handle, START_NS + cases[number].to_ns),
                         HTW_MOVED);
        set_time(f, START_NS + cases[number].to_ns - HTW_MILLISECOND);
        NO_RUN(f);
        set_time(f, START_NS + cases[number].now_ns);
        assert_int_equal(f->count, 1);
        assert_int_equal(f->runs[0].deadline_ns, START_NS + cases[number].to_ns);
        assert_int_equal(f->runs[0].late_ns, cases[number].now_ns - cases[number].to_ns);
        assert_int_equal(f->runs[0].missed, cases[number].missed);
        f->count = 0;
        set_time(f, START_NS + cases[number].next * HTW_HOUR);
        assert_int_equal(f->runs[0].missed, 0);
        HOURS(f, cases[number].next);
        assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    }
}

CALENDAR_TEST(calendar_timer_with_jitter_that_is_moved_runs_at_that_time) {
    int64_t delay_ns;
    f->spec.jitter_ns = HTW_HOUR;
    f->spec.jitter_key = "alpha/backup";
    f->spec.jitter_key_size = 12;
    assert_int_equal(schedule(f, "0 * * * *"), 0);
    assert_int_equal(timer_deadline_of(f->scheduler, f->handle, &delay_ns), 0);
    delay_ns -= START_NS; /* of the instant at START_NS, since that is within the jitter */
    assert_in_range(delay_ns, 20 * HTW_MINUTE, 30 * HTW_MINUTE);
    assert_int_equal(htw_reschedule_at(f->scheduler, f->handle, START_NS + 5 * HTW_HOUR),
                     HTW_MOVED);
    set_time(f, START_NS + 5 * HTW_HOUR);
    assert_int_equal(f->runs[0].missed, 5); /* at 0 to 4 hours */
    HOURS(f, 5);
    set_time(f, START_NS + 5 * HTW_HOUR + delay_ns + HTW_MILLISECOND);
    assert_int_equal(f->runs[0].missed, 0);
    HOURS(f, 5);
}

CALENDAR_TEST(calendar_timer_that_is_moved_to_the_beginning_of_time_runs_now) {
    f->spec.jitter_ns = HTW_HOUR;
    f->spec.jitter_key = "alpha/backup";
    f->spec.jitter_key_size = 12;
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_reschedule_at(f->scheduler, f->handle, INT64_MIN), HTW_MOVED);
    advance(f, HTW_MILLISECOND);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->runs[0].deadline_ns, INT64_MIN);
    assert_int_equal(f->runs[0].missed, 0);
    f->count = 0;
    advance(f, HTW_DAY);
    HOURS(f, 3);
}

static htw_handle moved_in_next; /* what the next call of htw_calendar_next() moves; 0: nothing */
static struct htw_scheduler *moved_in_scheduler;

int64_t __real_htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                 int64_t after_ns);
int64_t __wrap_htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                 int64_t after_ns);
int64_t __wrap_htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                 int64_t after_ns) {
    htw_handle handle = moved_in_next;
    moved_in_next = 0;
    if (handle != 0)
        (void)htw_reschedule(moved_in_scheduler, handle, 10 * HTW_MINUTE);
    return __real_htw_calendar_next(calendar, zone, after_ns);
}

/* The run has begun, and has not yet set its next deadline. */
/* holds: calendar-8 */
CALENDAR_TEST(calendar_timer_that_is_moved_as_its_run_begins_stays_moved) {
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    moved_in_next = f->handle;
    moved_in_scheduler = f->scheduler;
    advance(f, HTW_DAY);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->runs[0].deadline_ns, START_NS + 3 * HTW_HOUR);
    assert_int_equal(f->runs[1].deadline_ns, START_NS + 190 * HTW_MINUTE);
    f->count = 0;
    advance(f, HTW_DAY);
    HOURS(f, 27);
}

/* holds: calendar-11 */
CALENDAR_TEST(calendar_release_hook_runs_once_however_the_timer_ends) {
    struct htw_unexpired replaced;
    f->spec.release = release;
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
    assert_int_equal(f->releases, 1);
    f->spec.key = "job";
    f->spec.key_size = 3;
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_find_key(f->scheduler, NULL, "job", 3), f->handle);
    assert_int_equal(htw_schedule_calendar(f->scheduler, &f->spec, NULL, &replaced), 0);
    assert_int_equal(f->releases, 2);
    assert_int_equal(replaced.handle, f->handle);
    assert_null(htw_calendar_arg(&replaced));
    f->spec.keep_existing = true;
    assert_int_equal(htw_schedule_calendar(f->scheduler, &f->spec, NULL, NULL), -EEXIST);
    assert_int_equal(f->releases, 2);
    assert_int_equal(htw_cancel_key(f->scheduler, NULL, "job", 3, NULL), HTW_CANCELLED);
    assert_int_equal(f->releases, 3);
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_scheduler_stop(f->scheduler, visit, f), 0);
    assert_int_equal(f->visits, 1);
    assert_int_equal(f->releases, 4);
    assert_ptr_equal(htw_calendar_arg(&(struct htw_unexpired) { .callback = run, .arg = f }), f);
    assert_null(htw_calendar_arg(NULL));
    assert_int_equal(htw_schedule_calendar(f->scheduler, &f->spec, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(f->releases, 4);
}

/* ---- refusals */

CALENDAR_TEST(calendar_spec_that_is_wrong_is_refused) {
    struct htw_calendar_spec good;
    f->handle = 77;
    assert_int_equal(htw_calendar_daily(&f->spec.calendar, 3, 0, 0), 0);
    good = f->spec;
#define REFUSED(name, change)                                                                    \
    do {                                                                                         \
        struct htw_calendar_spec spec = good;                                                    \
        change;                                                                                  \
        assert_int_equal(htw_schedule_calendar(f->scheduler, &spec, &f->handle, NULL), -EINVAL); \
        assert_string_equal(htw_invalid_member(), name);                                         \
    } while (0)
    REFUSED("struct_size", spec.struct_size--);
    REFUSED("callback", spec.callback = NULL);
    REFUSED("jitter_ns", spec.jitter_ns = -1);
    REFUSED("jitter_ns", spec.jitter_ns = HTW_CALENDAR_JITTER_NS_MAX + 1; spec.jitter_key = "");
    REFUSED("jitter_key", spec.jitter_ns = 1);
    REFUSED("grace_ns", spec.grace_ns = -1);
    REFUSED("catch_up", spec.catch_up = HTW_CALENDAR_CATCH_UP_MAX + 1);
    REFUSED("calendar", memset(&spec.calendar, 0, sizeof(spec.calendar)));
    REFUSED("after_ns", spec.after_ns = HTW_NEVER_NS);
    REFUSED("calendar", assert_int_equal(htw_calendar_cron(&spec.calendar, "0 0 30 2 *", NULL), 0));
    struct htw_allocator half = f->memory.allocator;
    half.release = NULL;
    REFUSED("allocator", spec.allocator = &half);
    half = f->memory.allocator;
    half.allocate = NULL;
    REFUSED("allocator", spec.allocator = &half);
    assert_int_equal(htw_schedule_calendar(NULL, &good, NULL, NULL), -EINVAL);
    assert_int_equal(htw_schedule_calendar(f->scheduler, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(f->handle, 77);
    assert_int_equal(f->memory.live_blocks, 0);
}

CALENDAR_TEST(calendar_timer_without_memory_is_refused) {
    failing_allocator_fail(&f->memory, 1, false);
    assert_int_equal(schedule(f, "0 3 * * *"), -ENOMEM);
    assert_int_equal(f->releases, 0);
    failing_allocator_relent(&f->memory);
    f->spec.allocator = NULL; /* malloc */
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_cancel(f->scheduler, f->handle), HTW_CANCELLED);
}

/* holds: calendar-11 */
CALENDAR_TEST(calendar_timer_that_the_scheduler_refuses_leaves_nothing_behind) {
    struct htw_scheduler_options options = manual_options(0);
    struct failing_allocator memory;
    struct htw_scheduler *small;
    failing_allocator_init(&memory);
    options.max_pending = 1;
    options.allocator = &memory.allocator;
    f->spec.release = release;
    assert_int_equal(htw_calendar_daily(&f->spec.calendar, 3, 0, 0), 0);
    assert_int_equal(htw_scheduler_create(&small, &options), 0);
    failing_allocator_fail(&memory, 1, true);
    assert_int_equal(htw_schedule_calendar(small, &f->spec, NULL, NULL), -ENOMEM);
    failing_allocator_relent(&memory);
    assert_int_equal(htw_schedule_calendar(small, &f->spec, NULL, NULL), 0);
    assert_int_equal(htw_schedule_calendar(small, &f->spec, NULL, NULL), -EAGAIN);
    assert_int_equal(f->memory.live_blocks, 1);
    assert_int_equal(f->releases, 0);
    /* At the limit and without memory it runs on. */
    failing_allocator_fail(&memory, 1, true);
    assert_int_equal(htw_scheduler_advance(small, 3 * HTW_DAY), 0);
    assert_int_equal(f->count, 3);
    failing_allocator_relent(&memory);
    assert_int_equal(htw_scheduler_destroy(small), 0);
    assert_int_equal(f->releases, 1);
    assert_all_released(&memory);
}

static void schedule_in_child(void *arg) {
    struct fixture *f = arg;
    EXPECT(htw_schedule_calendar(f->scheduler, &f->spec, NULL, NULL) == -EOWNERDEAD);
}

CALENDAR_TEST(calendar_timer_in_a_child_is_refused) {
    assert_int_equal(htw_calendar_daily(&f->spec.calendar, 3, 0, 0), 0);
    assert_int_equal(child_run(schedule_in_child, f, NULL, 0), 0);
}

/* ---- sites */

static void see_site(void *context, const union htw_visited *visited) {
    *(struct htw_site_stats *)context = visited->site;
}

CALENDAR_TEST(calendar_timer_shows_the_site_of_its_user) {
    static const struct htw_site users = { run, "backup", "app.c", "main", 30 };
    static const struct htw_site empty = { NULL, "empty", NULL, NULL, 0 };
    struct htw_site_stats seen;
    f->spec.callback = NULL;
    f->spec.site = &users;
    f->spec.release = release;
    assert_int_equal(schedule(f, "0 3 * * *"), 0);
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_SITES, 0, see_site, &seen), 0);
    assert_ptr_equal(seen.origin.address, &users);
    assert_ptr_equal(seen.origin.callback, run);
    assert_int_equal(seen.pending, 1);
    assert_int_equal(seen.next_ns, 3 * HTW_HOUR);
    assert_int_equal(htw_scheduler_advance(f->scheduler, 3 * HTW_HOUR), 0);
    assert_int_equal(f->count, 1);
    assert_int_equal(htw_scheduler_stop(f->scheduler, visit, f), 0);
    assert_int_equal(f->visits, 1); /* htw_calendar_arg() knows it as ever */
    assert_int_equal(f->releases, 1);
    f->spec.site = &empty;
    assert_int_equal(schedule(f, "0 3 * * *"), -EINVAL);
    assert_string_equal(htw_invalid_member(), "site");
}
