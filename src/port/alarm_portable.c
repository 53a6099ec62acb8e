/* SPDX-License-Identifier: MIT */
/* alarm_portable.c - an alarm of one timer (timer.h), under a mutex. */
#include "alarm.h"

#ifdef HTW_PORTABLE
#include "../base/clock.h"

/* By how much the alarm's clock is ahead of that of the timer. */
static int64_t ahead_ns(const struct htw__alarm *alarm) {
    if (alarm->clock == HTW__SYSTEM_MONOTONIC)
        return 0;
    return (alarm->clock == HTW__SYSTEM_REALTIME ? htw__clock_realtime_ns()
                                                 : htw__clock_boottime_ns()) -
           htw__clock_monotonic_ns();
}

/* Under the mutex: sets the timer to `at_ns`, or to check the clocks before. */
static void set_timer(struct htw__alarm *alarm) {
    int64_t expires_ns = INT64_MAX;
    if (alarm->at_ns != INT64_MAX) {
        if (__builtin_sub_overflow(alarm->at_ns, ahead_ns(alarm), &expires_ns))
            expires_ns = INT64_MAX;
        if (alarm->watches_wall)
            expires_ns = htw__clock_earlier(expires_ns, alarm->check_ns);
    }
    htw__system_timer_set(&alarm->timer, expires_ns);
}

/* Under the mutex. False: it was set to an earlier time since the last reset. */
static bool set_earlier(struct htw__alarm *alarm, int64_t at_ns) {
    if (at_ns < 1)
        at_ns = 1; /* no overflow above */
    if (at_ns >= alarm->at_ns)
        return false;
    if (alarm->at_ns == INT64_MAX)
        alarm->check_ns = htw__clock_monotonic_ns() + HTW__ALARM_CHECK_NS;
    alarm->at_ns = at_ns;
    set_timer(alarm);
    return true;
}

/* ---- from here on: see alarm.h */

int htw__alarm_init(struct htw__alarm *alarm, htw__system_clock clock, bool blocking) {
    *alarm = (struct htw__alarm) { .clock = clock,
                                   .at_ns = INT64_MAX,
                                   .watches_wall = clock != HTW__SYSTEM_MONOTONIC };
    htw__mutex_init(&alarm->mutex, HTW__RANK_ALARM);
    int error = htw__system_timer_init(&alarm->timer, &alarm->mutex, blocking);
    alarm->fd = alarm->timer.fd;
    if (error != 0)
        htw__mutex_fini(&alarm->mutex);
    return error;
}

void htw__alarm_fini(struct htw__alarm *alarm) {
    htw__system_timer_fini(&alarm->timer);
    htw__mutex_fini(&alarm->mutex);
}

int htw__alarm_watch_wall_clock(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    if (!alarm->watches_wall) {
        alarm->watches_wall = true;
        set_timer(alarm); /* who sleeps checks the clock from now on */
    }
    htw__mutex_unlock(&alarm->mutex);
    return 0;
}

void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns) {
    htw__mutex_lock(&alarm->mutex);
    set_earlier(alarm, at_ns);
    htw__mutex_unlock(&alarm->mutex);
}

/* The owner would have to be woken for that, too: it wakes up at the time that it was set to. */
bool htw__alarm_claim(struct htw__alarm *alarm, int64_t before_ns) {
    (void)alarm, (void)before_ns;
    return false;
}

void htw__alarm_put_off(struct htw__alarm *alarm, int64_t at_ns) {
    (void)alarm, (void)at_ns;
}

void htw__alarm_reset(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    alarm->at_ns = INT64_MAX;
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_plan(struct htw__alarm *alarm, int64_t earliest_ns, int64_t latest_ns) {
    (void)earliest_ns;
    htw__mutex_lock(&alarm->mutex);
    if (!set_earlier(alarm, latest_ns) && alarm->at_ns == INT64_MAX)
        set_timer(alarm);
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_wait(struct htw__alarm *alarm) {
    htw__system_timer_wait(&alarm->timer);
}

void htw__alarm_clear(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    htw__system_timer_clear(&alarm->timer);
    htw__mutex_unlock(&alarm->mutex);
}
#endif
