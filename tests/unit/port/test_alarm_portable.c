/* SPDX-License-Identifier: MIT */
/*
 * test_alarm_portable - how the owner of a portable alarm sees in time that the wall clock was set, and how
 * timer_posix.c tells an event loop. Clocks and sleep are replaced (-Wl,--wrap): a sleep of the test's thread ends at once,
 * at the time that it is for.
 */
#include "../../../src/port/alarm.h"
#include "../../../src/base/clock.h"

#include "../unit.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SECOND_NS INT64_C(1000000000)
#define START_NS (1000 * SECOND_NS)

int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *deadline);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *deadline);

static _Atomic int64_t monotonic_ns, ahead_ns;
static int sleeps;      /* of the test's thread */
static int step_after;  /* the sleep in which the clock is set; 0: none */
static int64_t step_ns; /* by how much */
static pthread_t test_thread;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return atomic_load(&monotonic_ns);
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    return atomic_load(&monotonic_ns) + atomic_load(&ahead_ns);
}

/* The thread of an alarm sleeps a millisecond of real time, so that it checks a thousand times as
   often. */
static int sleep_a_little(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= SECOND_NS) {
        until.tv_nsec -= SECOND_NS;
        until.tv_sec++;
    }
    return __real_pthread_cond_timedwait(condition, mutex, &until);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *deadline) {
    if (!pthread_equal(pthread_self(), test_thread))
        return sleep_a_little(condition, mutex);
    atomic_store(&monotonic_ns, deadline->tv_sec * SECOND_NS + deadline->tv_nsec);
    if (++sleeps == step_after)
        atomic_fetch_add(&ahead_ns, step_ns);
    return ETIMEDOUT;
}

static void start(struct htw__alarm *alarm, clockid_t clock, bool blocking) {
    test_thread = pthread_self();
    atomic_store(&monotonic_ns, START_NS);
    atomic_store(&ahead_ns, 7 * START_NS);
    sleeps = step_after = 0;
    assert_int_equal(htw__alarm_init(alarm, clock, blocking), 0);
    htw__alarm_reset(alarm);
}

static int64_t elapsed_ns(void) {
    return atomic_load(&monotonic_ns) - START_NS;
}

static bool is_readable(const struct htw__alarm *alarm, int timeout_ms) {
    struct pollfd poll_fd = { alarm->fd, POLLIN, 0 };
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* As an owner: until a time of the alarm's clock. */
static void sleep_until(struct htw__alarm *alarm, int64_t at_ns) {
    while (alarm->clock == CLOCK_REALTIME ? htw__clock_realtime_ns() < at_ns
                                          : htw__clock_monotonic_ns() < at_ns) {
        htw__alarm_reset(alarm);
        htw__alarm_plan(alarm, at_ns, at_ns);
        htw__alarm_wait(alarm);
    }
}

UNIT_TEST(monotonic_alarm_sleeps_once) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_MONOTONIC, true);
    sleep_until(&alarm, START_NS + 3600 * SECOND_NS);
    assert_int_equal(elapsed_ns(), 3600 * SECOND_NS);
    assert_int_equal(sleeps, 1);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(wall_clock_alarm_expires_in_time_and_checks_the_clock_meanwhile) {
    static const struct {
        int64_t step_ns,
            elapsed_ns; /* by how much the clock is set in the second sleep; when the alarm expires */
    } cases[] = { { 0, 9 * SECOND_NS / 2 },
                  { 3600 * SECOND_NS, 2 * HTW__ALARM_CHECK_NS },
                  { -10 * SECOND_NS, 29 * SECOND_NS / 2 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw__alarm alarm;
        start(&alarm, CLOCK_REALTIME, true);
        step_after = 2;
        step_ns = cases[i].step_ns;
        sleep_until(&alarm, 8 * START_NS + 9 * SECOND_NS / 2);
        assert_int_equal(elapsed_ns(), cases[i].elapsed_ns);
        htw__alarm_fini(&alarm);
    }
}

UNIT_TEST(alarm_checks_the_wall_clock_although_it_is_set_again_and_again) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_MONOTONIC, false);
    assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
    for (int i = 0; i < 4; i++) {
        assert_false(is_readable(&alarm, 0));
        htw__alarm_set(&alarm, START_NS + (3600 - i) * SECOND_NS);
        atomic_fetch_add(&monotonic_ns, HTW__ALARM_CHECK_NS / 4);
    }
    assert_true(is_readable(&alarm, 10000));
    htw__alarm_set(&alarm, START_NS + 1800 * SECOND_NS);
    assert_true(is_readable(&alarm, 0));
    htw__alarm_fini(&alarm);
}

UNIT_TEST(alarm_that_is_not_set_checks_no_clock) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_REALTIME, false);
    htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
    atomic_fetch_add(&monotonic_ns, 10 * HTW__ALARM_CHECK_NS);
    assert_false(is_readable(&alarm, 20));
    htw__alarm_fini(&alarm);
}

UNIT_TEST(pipe_stops_being_readable_when_the_alarm_is_set_again) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_MONOTONIC, false);
    htw__alarm_set(&alarm, START_NS);
    assert_true(is_readable(&alarm, 0)); /* at once, by the thread that sets it */
    htw__alarm_reset(&alarm);
    htw__alarm_set(&alarm, START_NS + SECOND_NS);
    assert_false(is_readable(&alarm, 0));
    atomic_fetch_add(&monotonic_ns, SECOND_NS);
    assert_true(is_readable(&alarm, 10000));
    htw__alarm_reset(&alarm);
    htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
    assert_false(is_readable(&alarm, 0));
    htw__alarm_fini(&alarm);
}
