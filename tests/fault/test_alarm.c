/* SPDX-License-Identifier: MIT */
/*
 * test_alarm.c - an alarm is set just after the wall clock was set. timerfd_settime() is replaced
 * (-Wl,--wrap) and does what the kernel does then.
 */
#include "../../src/base/alarm.h"
#include "../../src/base/clock.h"
#include "../unit/unit.h"

#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);

/* How often the wall clock is going to be set before a call. */
static unsigned steps;

/* The timer is set, and the caller learns of the step; a later read does not. */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before) {
    int result = __real_timerfd_settime(fd, flags, setting, before);
    if (steps == 0)
        return result;
    steps--;
    errno = ECANCELED;
    return -1;
}

static bool is_readable(const struct htw__alarm *alarm, int timeout_ms) {
    struct pollfd poll_fd = { alarm->fd, POLLIN, 0 };
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static struct htw__alarm created(void) {
    struct htw__alarm alarm;
    assert_int_equal(htw__alarm_init(&alarm, CLOCK_REALTIME, false), 0);
    htw__alarm_reset(&alarm);
    return alarm;
}

static void alarm_set_after_the_wall_clock_was_set_expires_at_once(void **state) {
    (void)state;
    for (unsigned times = 1; times < 3; times++) {
        struct htw__alarm alarm = created();
        steps = times;
        htw__alarm_set(&alarm, htw__clock_realtime_ns() + HOUR_NS);
        assert_int_equal(steps, 0);
        assert_true(is_readable(&alarm, 10000));
        htw__alarm_fini(&alarm);
    }
}

static void alarm_disarmed_after_the_wall_clock_was_set_expires_at_once(void **state) {
    (void)state;
    struct htw__alarm alarm = created();
    steps = 1;
    htw__alarm_disarm(&alarm);
    assert_int_equal(steps, 0);
    assert_true(is_readable(&alarm, 10000));
    htw__alarm_clear(&alarm);
    htw__alarm_disarm(&alarm);
    assert_false(is_readable(&alarm, 0));
    htw__alarm_fini(&alarm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alarm_set_after_the_wall_clock_was_set_expires_at_once),
        cmocka_unit_test(alarm_disarmed_after_the_wall_clock_was_set_expires_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
