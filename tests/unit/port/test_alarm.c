/* SPDX-License-Identifier: MIT */
/* test_alarm - the time to which an alarm is set, which can be read from the kernel's timer or, in the
   portable form, from the alarm. Only tests of the expiration itself wait for it. */
#include "../../../src/port/alarm.h"

#include "../unit.h"

#include <poll.h>
#include <pthread.h>
#ifndef HTW_PORTABLE
#include <sys/timerfd.h>
#endif

#define HOUR_NS (INT64_C(3600) * 1000000000)

/* Where no clock counts while the machine is suspended, the last one is the first. */
static const htw__system_clock clocks[] = { HTW__SYSTEM_MONOTONIC, HTW__SYSTEM_REALTIME,
                                            HTW__SYSTEM_BOOTTIME };

static void start(struct htw__alarm *alarm, htw__system_clock clock) {
    assert_int_equal(htw__alarm_init(alarm, clock, false), 0);
    htw__alarm_reset(alarm);
}

#ifndef HTW_PORTABLE
static int64_t remaining_of_ns(int fd) {
    struct itimerspec setting;
    assert_int_equal(timerfd_gettime(fd, &setting), 0);
    return (int64_t)setting.it_value.tv_sec * 1000000000 + setting.it_value.tv_nsec;
}
#endif

/* How long until it expires; 0: it is not set. */
static int64_t remaining_ns(struct htw__alarm *alarm) {
#ifndef HTW_PORTABLE
    return remaining_of_ns(alarm->shared_fd);
#else
    htw__mutex_lock(&alarm->mutex);
    int64_t at_ns = alarm->at_ns;
    htw__mutex_unlock(&alarm->mutex);
    return at_ns == INT64_MAX ? 0 : at_ns - htw__system_now_ns(alarm->clock);
#endif
}

static bool is_readable(const struct htw__alarm *alarm, int timeout_ms) {
    struct pollfd poll_fd = { alarm->fd, POLLIN, 0 };
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

UNIT_TEST(alarm_for_the_past_expires_at_once) {
    static const int64_t past[] = { INT64_MIN, -1, 0, 1 };
    for (size_t i = 0; i < COUNT_OF(clocks); i++)
        for (size_t j = 0; j < 4; j++) {
            struct htw__alarm alarm;
            start(&alarm, clocks[i]);
            htw__alarm_set(&alarm, past[j]);
            assert_true(is_readable(&alarm, 10000));
            htw__alarm_clear(&alarm);
            assert_false(is_readable(&alarm, 0));
            htw__alarm_clear(&alarm); /* does not block if there is nothing to clear */
            htw__alarm_fini(&alarm);
        }
}

UNIT_TEST(alarm_for_the_last_instant_is_accepted) {
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        start(&alarm, clocks[i]);
        htw__alarm_set(&alarm, INT64_MAX - 1);
        assert_true(remaining_ns(&alarm) > 0);
        assert_false(is_readable(&alarm, 0));
        htw__alarm_fini(&alarm);
    }
}

UNIT_TEST(alarm_wait_does_not_return_before_its_time) {
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        assert_int_equal(htw__alarm_init(&alarm, clocks[i], true), 0);
        htw__alarm_reset(&alarm);
        int64_t at_ns = htw__system_now_ns(clocks[i]) + 3000000;
        htw__alarm_set(&alarm, at_ns);
        htw__alarm_wait(&alarm);
        /* The wall clock may have been set meanwhile, which makes it expire too. */
        assert_true(htw__system_now_ns(clocks[i]) >= at_ns || clocks[i] == HTW__SYSTEM_REALTIME);
        htw__alarm_fini(&alarm);
    }
}

/* ---- an alarm whose owner waits for several clocks */

UNIT_TEST(alarm_that_watches_the_wall_clock_expires_at_a_time_of_its_own) {
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        start(&alarm, clocks[i]);
        int fd = alarm.fd;
        htw__alarm_set(&alarm, htw__system_now_ns(clocks[i]) + HOUR_NS);
        for (int times = 0; times < 2; times++) {
            assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
            assert_in_range(remaining_ns(&alarm), HOUR_NS / 2, HOUR_NS);
        }
        int64_t at_ns = htw__system_now_ns(clocks[i]) + 3000000;
        htw__alarm_set(&alarm, at_ns);
        assert_true(is_readable(&alarm, 60000));
        assert_true(htw__system_now_ns(clocks[i]) >= at_ns - 1000000 ||
                    clocks[i] == HTW__SYSTEM_REALTIME);
        htw__alarm_clear(&alarm);
        assert_false(is_readable(&alarm, 0));
        assert_int_equal(alarm.fd, fd);
        htw__alarm_fini(&alarm);
    }
}

static void *wait_for_alarm(void *arg) {
    htw__alarm_wait(arg);
    return NULL;
}

/* holds: scheduler-26 */
UNIT_TEST(alarm_that_begins_to_watch_the_wall_clock_leaves_no_thread_asleep) {
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        pthread_t thread;
        assert_int_equal(htw__alarm_init(&alarm, clocks[i], true), 0);
        htw__alarm_reset(&alarm);
        htw__alarm_set(&alarm, htw__system_now_ns(clocks[i]) + HOUR_NS);
        assert_int_equal(pthread_create(&thread, NULL, wait_for_alarm, &alarm), 0);
        assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
        htw__alarm_set(&alarm, htw__system_now_ns(clocks[i]) + 2000000);
        pthread_join(thread, NULL);
        htw__alarm_reset(&alarm);
        int64_t at_ns = htw__system_now_ns(clocks[i]) + 3000000;
        htw__alarm_set(&alarm, at_ns);
        htw__alarm_wait(&alarm);
        htw__alarm_fini(&alarm);
    }
}

#ifndef HTW_PORTABLE
/* However far away its own time is: it expires when the wall clock is set. */
UNIT_TEST(alarm_that_watches_the_wall_clock_has_a_timer_that_is_always_set) {
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        start(&alarm, clocks[i]);
        assert_int_equal(alarm.wall_fd >= 0, clocks[i] == HTW__SYSTEM_REALTIME);
        assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
        htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
        assert_true(remaining_of_ns(alarm.wall_fd) > 365 * 24 * HOUR_NS);
        assert_false(is_readable(&alarm, 0));
        htw__alarm_fini(&alarm);
    }
}

/* Again and again, although nobody reads the timer. */
/* holds: purgatory-9a */
UNIT_TEST(alarm_expires_whenever_the_wall_clock_is_set) {
    static const struct itimerspec at_once = { .it_value = { 0, 1 } }; /* as the kernel does then */
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct htw__alarm alarm;
        start(&alarm, clocks[i]);
        assert_int_equal(htw__alarm_watch_wall_clock(&alarm), 0);
        htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
        for (int times = 0; times < 3; times++) {
            assert_false(is_readable(&alarm, 0));
            timerfd_settime(alarm.wall_fd, TFD_TIMER_ABSTIME, &at_once, NULL);
            assert_true(is_readable(&alarm, 10000));
            htw__alarm_reset(&alarm);
            htw__alarm_plan(&alarm, INT64_MAX, INT64_MAX);
            assert_true(is_readable(&alarm, 0)); /* the owner may have read the clock before */
            htw__alarm_clear(&alarm);
        }
        htw__alarm_fini(&alarm);
    }
}

/* holds: scheduler-21 */
UNIT_TEST(alarm_with_equal_intervals_has_a_timer_set_ahead) {
    static const struct {
        int earliest, latest; /* hours from now */
        int shared, own;      /* to which the timers are set; 0: not */
    } plans[] = {
        { 2, 2, 2, 0 }, { 3, 3, 3, 0 },    { 4, 4, 4, 5 },
        { 5, 5, 6, 5 }, { 6, 6, 6, 7 },    { 7, 9, 8, 7 },
        { 8, 8, 8, 9 }, { 9, 9, 10, 9 },   /* no more: */ { 8, 8, 8, 9 },
        { 7, 7, 7, 9 }, { 12, 12, 12, 0 },
    };
    struct htw__alarm alarm;
    start(&alarm, HTW__SYSTEM_MONOTONIC);
    int64_t begin_ns = htw__system_now_ns(HTW__SYSTEM_MONOTONIC);
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        htw__alarm_reset(&alarm);
        htw__alarm_plan(&alarm, begin_ns + plans[i].earliest * HOUR_NS,
                        begin_ns + plans[i].latest * HOUR_NS);
        assert_int_equal((remaining_ns(&alarm) + HOUR_NS / 2) / HOUR_NS, plans[i].shared);
        assert_int_equal((remaining_of_ns(alarm.own_fd) + HOUR_NS / 2) / HOUR_NS, plans[i].own);
    }
    htw__alarm_fini(&alarm);
}

/* A thread was stopped while it set the timer, which expired meanwhile, and the owner relied on its own one. */
UNIT_TEST(alarm_that_expired_while_it_was_claimed_is_set_again) {
    struct htw__alarm alarm;
    start(&alarm, HTW__SYSTEM_MONOTONIC);
    int64_t due_ns = htw__system_now_ns(HTW__SYSTEM_MONOTONIC);
    htw__alarm_set(&alarm, due_ns);
    assert_true(htw__alarm_claim(&alarm, INT64_MAX));
    for (int times = 0; times < 3; times++) {
        assert_true(is_readable(&alarm, 10000));
        htw__alarm_clear(&alarm);
        htw__alarm_reset(&alarm);
        htw__alarm_plan(&alarm, due_ns, htw__system_now_ns(HTW__SYSTEM_MONOTONIC));
        if (times == 0)
            htw__alarm_put_off(&alarm, due_ns);
    }
    htw__alarm_fini(&alarm);
}
#endif
