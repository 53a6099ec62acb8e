/* SPDX-License-Identifier: MIT */
/*
 * test_alarm.c - threads that are stopped while they set an alarm, and a wall clock that is set.
 * timerfd_settime() is replaced (-Wl,--wrap): a thread can be stopped in it, before or after the
 * kernel has done its work.
 *
 * The test's thread is the owner of the alarm, and any other thread besides the stopped one: in
 * htw__alarm_set() they are all the same.
 */
/* holds: scheduler-19 */
#include "../../src/base/alarm.h"
#include "../../src/base/clock.h"
#include "../unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <sys/timerfd.h>

#define MINUTE_NS (INT64_C(60) * 1000000000)

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);

/* Where the one marked thread stops. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_stopped, may_go_on;
} barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };

enum { GOES_ON, STOPS_BEFORE, STOPS_AFTER };
static _Thread_local int stops;
static _Thread_local unsigned calls;
static int watching_fd = -1; /* the timer that the kernel makes expire when the wall clock is set */

static void stop_here(void) {
    pthread_mutex_lock(&barrier.mutex);
    barrier.is_stopped = true;
    pthread_cond_broadcast(&barrier.changed);
    while (!barrier.may_go_on)
        pthread_cond_wait(&barrier.changed, &barrier.mutex);
    pthread_mutex_unlock(&barrier.mutex);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before) {
    calls++;
    if (flags & TFD_TIMER_CANCEL_ON_SET)
        watching_fd = fd;
    if (stops == STOPS_BEFORE)
        stop_here();
    int result = __real_timerfd_settime(fd, flags, setting, before);
    if (stops == STOPS_AFTER)
        stop_here();
    return result;
}

/* ---- a thread that sets the alarm and is stopped */

struct setter {
    pthread_t thread;
    struct htw__alarm *alarm;
    int64_t at_ns;
    int stops;
};

static void put_off(struct htw__alarm *alarm, int64_t at_ns) {
    if (htw__alarm_claim(alarm, at_ns))
        htw__alarm_put_off(alarm, at_ns);
}

static void *set_and_stop(void *arg) {
    const struct setter *setter = arg;
    stops = setter->stops;
    htw__alarm_set(setter->alarm, setter->at_ns);
    return NULL;
}

static void start_thread(struct setter *setter) {
    barrier.is_stopped = barrier.may_go_on = false;
    assert_int_equal(pthread_create(&setter->thread, NULL, set_and_stop, setter), 0);
    pthread_mutex_lock(&barrier.mutex);
    while (!barrier.is_stopped)
        pthread_cond_wait(&barrier.changed, &barrier.mutex);
    pthread_mutex_unlock(&barrier.mutex);
}

static void start(struct setter *setter, struct htw__alarm *alarm, int64_t at_ns, int where) {
    *setter = (struct setter) { .alarm = alarm, .at_ns = at_ns, .stops = where };
    start_thread(setter);
}

static void finish(const struct setter *setter) {
    pthread_mutex_lock(&barrier.mutex);
    barrier.may_go_on = true;
    pthread_cond_broadcast(&barrier.changed);
    pthread_mutex_unlock(&barrier.mutex);
    assert_int_equal(pthread_join(setter->thread, NULL), 0);
}

/* ---- the alarm */

static struct htw__alarm created(clockid_t clock) {
    struct htw__alarm alarm;
    assert_int_equal(htw__alarm_init(&alarm, clock, false), 0);
    htw__alarm_reset(&alarm);
    return alarm;
}

static bool is_readable(const struct htw__alarm *alarm, int timeout_ms) {
    struct pollfd poll_fd = { alarm->fd, POLLIN, 0 };
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* How long until a timer expires, in minutes, rounded up; 0: it is not set. */
static int minutes_left(int fd) {
    struct itimerspec setting;
    assert_int_equal(timerfd_gettime(fd, &setting), 0);
    return (int)((setting.it_value.tv_sec + (setting.it_value.tv_nsec > 0) + 59) / 60);
}

static int64_t in_minutes(int minutes) {
    return htw__clock_monotonic_ns() + minutes * MINUTE_NS;
}

/* The owner has woken up, and next has something to do in so many minutes. */
static void wake_up_and_plan(struct htw__alarm *alarm, int minutes) {
    assert_true(is_readable(alarm, 10000));
    htw__alarm_clear(alarm);
    htw__alarm_reset(alarm);
    htw__alarm_plan(alarm, in_minutes(minutes));
    assert_false(is_readable(alarm, 0));
}

UNIT_TEST(alarm_that_a_stopped_thread_is_setting_can_be_set) {
    for (int where = STOPS_BEFORE; where <= STOPS_AFTER; where++) {
        struct htw__alarm alarm = created(CLOCK_MONOTONIC);
        struct setter setter;
        start(&setter, &alarm, in_minutes(60), where);
        assert_false(is_readable(&alarm, 0));
        htw__alarm_set(&alarm, in_minutes(30)); /* wakes the owner */
        wake_up_and_plan(&alarm, 30);
        assert_int_equal(minutes_left(alarm.own_fd), 30);
        calls = 0;
        htw__alarm_set(&alarm, in_minutes(45)); /* the owner will be awake then */
        assert_int_equal(calls, 0);
        htw__alarm_set(&alarm, in_minutes(20));
        wake_up_and_plan(&alarm, 20);
        finish(&setter);
        assert_int_equal(minutes_left(alarm.own_fd), 20);
        htw__alarm_fini(&alarm);
    }
}

UNIT_TEST(alarm_that_is_put_off_expires_later) {
    struct htw__alarm alarm = created(CLOCK_MONOTONIC);
    int64_t hour_ns = in_minutes(60);
    htw__alarm_set(&alarm, in_minutes(10));
    put_off(&alarm, hour_ns);
    assert_int_equal(minutes_left(alarm.shared_fd), 60);
    assert_false(htw__alarm_claim(&alarm, hour_ns)); /* it is late enough */
    assert_true(htw__alarm_claim(&alarm, hour_ns + 1));
    assert_false(htw__alarm_claim(&alarm, INT64_MAX)); /* it is claimed */
    calls = 0;
    htw__alarm_put_off(&alarm, hour_ns);
    assert_int_equal(calls, 0); /* nothing has changed */
    htw__alarm_set(&alarm, in_minutes(20));
    assert_int_equal(minutes_left(alarm.shared_fd), 20);
    put_off(&alarm, INT64_MAX);
    assert_int_equal(minutes_left(alarm.shared_fd), 0);
    assert_false(htw__alarm_claim(&alarm, INT64_MAX));
    htw__alarm_fini(&alarm);
}

/* The owner is awake: it plans. */
UNIT_TEST(alarm_that_was_reset_is_not_put_off) {
    struct htw__alarm alarm = created(CLOCK_MONOTONIC);
    htw__alarm_set(&alarm, in_minutes(10));
    htw__alarm_reset(&alarm);
    assert_false(htw__alarm_claim(&alarm, INT64_MAX));
    htw__alarm_fini(&alarm);
}

/* Again and again, although nobody reads the timer. */
/* holds: purgatory-9a */
UNIT_TEST(alarm_expires_whenever_the_wall_clock_is_set) {
    static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };
    static const struct itimerspec at_once = { .it_value = { 0, 1 } };
    for (unsigned i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm = created(clocks[i]);
        assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
        assert_int_equal(watching_fd, alarm.wall_fd);
        htw__alarm_plan(&alarm, INT64_MAX);
        for (int times = 0; times < 3; times++) {
            assert_false(is_readable(&alarm, 0));
            __real_timerfd_settime(watching_fd, TFD_TIMER_ABSTIME, &at_once, NULL);
            assert_true(is_readable(&alarm, 10000));
            htw__alarm_reset(&alarm);
            htw__alarm_plan(&alarm, INT64_MAX);
            assert_true(is_readable(&alarm, 0)); /* the owner may have read the clock before */
            htw__alarm_clear(&alarm);
        }
        htw__alarm_fini(&alarm);
    }
}
