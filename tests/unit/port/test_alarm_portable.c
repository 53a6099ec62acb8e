/* SPDX-License-Identifier: MIT */
/*
 * test_alarm_portable - how the portable alarm notices that the wall clock was set. Clocks and sleep
 * are replaced (-Wl,--wrap): a sleep of the test's thread ends at once, at the time that it is for.
 */
#include "../../../src/port/alarm.h"
#include "../../../src/base/clock.h"

#include "../unit.h"

#include <errno.h>
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

UNIT_TEST(monotonic_alarm_sleeps_once) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_MONOTONIC, true);
    htw__alarm_set(&alarm, START_NS + 3600 * SECOND_NS);
    htw__alarm_wait(&alarm);
    assert_int_equal(elapsed_ns(), 3600 * SECOND_NS);
    assert_int_equal(sleeps, 1);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(wall_clock_alarm_expires_in_time_and_checks_the_clock_meanwhile) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_REALTIME, true);
    htw__alarm_set(&alarm, 8 * START_NS + 5 * SECOND_NS / 2);
    htw__alarm_wait(&alarm);
    assert_int_equal(elapsed_ns(), 5 * SECOND_NS / 2);
    assert_int_equal(sleeps, 3);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(wall_clock_that_was_set_expires_the_alarm_at_the_next_check) {
    static const int64_t steps[] = { 3600 * SECOND_NS, -3600 * SECOND_NS, 1000000, -1000000 };
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        for (int is_armed = 0; is_armed < 2; is_armed++) {
            struct htw__alarm alarm;
            start(&alarm, CLOCK_REALTIME, true);
            if (is_armed)
                htw__alarm_set(&alarm, 8 * START_NS + 7200 * SECOND_NS);
            htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
            step_after = 4;
            step_ns = steps[i];
            htw__alarm_wait(&alarm);
            assert_int_equal(elapsed_ns(), 4 * HTW__ALARM_CHECK_NS);
            htw__alarm_fini(&alarm);
        }
}

UNIT_TEST(wall_clock_that_drifts_a_little_expires_no_alarm) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_REALTIME, true);
    htw__alarm_set(&alarm, 8 * START_NS + 10 * SECOND_NS);
    step_after = 4;
    step_ns = -999999;
    htw__alarm_wait(&alarm);
    assert_int_equal(elapsed_ns(), 10 * SECOND_NS + 999999);
    htw__alarm_fini(&alarm);
}

/* Before the sleep, as well: what was computed by the old time is no longer right. */
UNIT_TEST(wall_clock_that_was_set_before_the_sleep_expires_the_alarm_at_once) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_REALTIME, true);
    htw__alarm_set(&alarm, 8 * START_NS + 10 * SECOND_NS);
    atomic_fetch_add(&ahead_ns, -3600 * SECOND_NS);
    htw__alarm_wait(&alarm);
    assert_int_equal(sleeps, 0);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(pipe_is_readable_after_the_wall_clock_was_set_until_it_is_cleared) {
    struct htw__alarm alarm;
    start(&alarm, CLOCK_REALTIME, false);
    for (int i = 0; i < 3; i++) {
        assert_false(is_readable(&alarm, 0));
        atomic_fetch_add(&ahead_ns, i % 2 ? SECOND_NS : -SECOND_NS);
        assert_true(is_readable(&alarm, 10000));
        htw__alarm_reset(&alarm);
        /* What the sleeper knows may be from before the step. */
        htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
        assert_true(is_readable(&alarm, 0));
        htw__alarm_set(&alarm, 8 * START_NS + 7200 * SECOND_NS);
        assert_true(is_readable(&alarm, 0));
        htw__alarm_clear(&alarm);
        htw__alarm_reset(&alarm);
        htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
    }
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
