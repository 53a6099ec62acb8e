/* SPDX-License-Identifier: MIT */
/* alarm_portable.c - the timer of an alarm of POSIX parts alone: a condition, and for event loops a
   pipe. */
#include "alarm.h"
#include "system.h"

#include "../base/clock.h"

#include <errno.h>
#include <unistd.h>

/* Two readings of the clocks that differ by less do not mean that the wall clock was set. */
#define STEP_MIN_NS 1000000

static int64_t now_ns(const struct htw__alarm *alarm) {
    return alarm->clock == CLOCK_REALTIME ? htw__clock_realtime_ns() : htw__clock_monotonic_ns();
}

static int64_t ahead_ns(const struct htw__alarm *alarm) {
    return alarm->watches_wall ? htw__clock_realtime_ns() - htw__clock_monotonic_ns() : 0;
}

/* Whether the wall clock was set since the last call. */
static bool was_set(struct htw__alarm *alarm) {
    int64_t before_ns = alarm->ahead_ns;
    alarm->ahead_ns = ahead_ns(alarm);
    int64_t step_ns = alarm->ahead_ns - before_ns;
    return step_ns >= STEP_MIN_NS || step_ns <= -STEP_MIN_NS;
}

/* ---- the pipe; under the mutex */

/* Makes the pipe readable, or not readable. It holds one byte at most, so this cannot fail. To read
   and to write are cancellation points, and a thread must not end with the mutex held. */
static void set_readable(struct htw__alarm *alarm, bool readable) {
    char byte = 0;
    if (alarm->is_readable == readable)
        return;
    htw__cancel_state cancel_state = htw__disable_cancel();
    ssize_t size = readable ? write(alarm->write_fd, &byte, 1) : read(alarm->fd, &byte, 1);
    (void)size;
    htw__restore_cancel(cancel_state);
    alarm->is_readable = readable;
}

/* ---- sleeping; under the mutex */

/* Sleeps until the alarm is set anew, but no longer than until it expires, or has to be checked. */
static void sleep_once(struct htw__alarm *alarm, int64_t present_ns) {
    int64_t left_ns, until_ns;
    if (alarm->expires_ns == INT64_MAX ||
        __builtin_sub_overflow(alarm->expires_ns, present_ns, &left_ns))
        left_ns = INT64_MAX;
    if (alarm->watches_wall && left_ns > HTW__ALARM_CHECK_NS)
        left_ns = HTW__ALARM_CHECK_NS;
    if (__builtin_add_overflow(htw__clock_monotonic_ns(), left_ns, &until_ns)) {
        htw__mutex_wait(&alarm->mutex, &alarm->changed);
        return;
    }
    htw__mutex_wait_until(&alarm->mutex, &alarm->changed, until_ns);
}

/* Sleeps until the alarm expires or ends. */
static void sleep_until_it_expires(struct htw__alarm *alarm) {
    while (!alarm->ending) {
        int64_t present_ns = now_ns(alarm);
        alarm->was_set = was_set(alarm) || alarm->was_set;
        if (alarm->was_set || alarm->expires_ns <= present_ns)
            break;
        sleep_once(alarm, present_ns);
    }
}

/* The thread of an alarm for an event loop. */
static void *watch_time(void *arg) {
    struct htw__alarm *alarm = arg;
    htw__mutex_lock(&alarm->mutex);
    while (!alarm->ending) {
        sleep_until_it_expires(alarm);
        if (alarm->ending)
            break;
        alarm->expires_ns = INT64_MAX;
        set_readable(alarm, true);
        while (alarm->was_set && !alarm->ending) /* until it is cleared */
            htw__mutex_wait(&alarm->mutex, &alarm->changed);
    }
    htw__mutex_unlock(&alarm->mutex);
    return NULL;
}

/* ---- from here on: see alarm.h */

/* With a pipe. */
static int start_thread(struct htw__alarm *alarm) {
    int fds[2];
    if (!htw__system_open_pipe(fds))
        return -errno;
    alarm->fd = fds[0];
    alarm->write_fd = fds[1];
    int error = htw__thread_start(&alarm->thread, "htw", "alarm", 0, watch_time, alarm);
    if (error == 0)
        return 0;
    close(alarm->fd);
    close(alarm->write_fd);
    return error;
}

int htw__alarm_init(struct htw__alarm *alarm, htw__system_clock clock, bool blocking) {
    *alarm = (struct htw__alarm) { .at_ns = INT64_MAX,
                                   .clock = clock,
                                   .watches_wall = clock == CLOCK_REALTIME,
                                   .fd = -1,
                                   .expires_ns = INT64_MAX };
    if (!htw__system_condition_init(&alarm->changed))
        return -ENOMEM;
    htw__mutex_init(&alarm->mutex, HTW__RANK_ALARM);
    alarm->ahead_ns = ahead_ns(alarm);
    int error = blocking ? 0 : start_thread(alarm);
    if (error != 0) {
        htw__mutex_fini(&alarm->mutex);
        htw__system_condition_fini(&alarm->changed);
    }
    return error;
}

void htw__alarm_fini(struct htw__alarm *alarm) {
    if (alarm->fd >= 0) {
        htw__mutex_lock(&alarm->mutex);
        alarm->ending = true;
        htw__system_condition_signal(&alarm->changed);
        htw__mutex_unlock(&alarm->mutex);
        htw__thread_join(alarm->thread);
        close(alarm->fd);
        close(alarm->write_fd);
    }
    htw__mutex_fini(&alarm->mutex);
    htw__system_condition_fini(&alarm->changed);
}

int htw__alarm_watch_wall_clock(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    if (!alarm->watches_wall) {
        alarm->watches_wall = true;
        alarm->ahead_ns = ahead_ns(alarm);
        htw__system_condition_signal(
            &alarm->changed); /* the sleeper checks the clock from now on */
    }
    htw__mutex_unlock(&alarm->mutex);
    return 0;
}

/* Under the mutex. As a timerfd that is set anew, it is not expired any more, unless the clock was
   set. */
static void set_timer(struct htw__alarm *alarm, int64_t at_ns) {
    alarm->expires_ns = at_ns;
    if (alarm->fd >= 0 && !alarm->was_set) {
        set_readable(alarm, false);
        if (at_ns <= now_ns(alarm)) { /* without a detour by the thread */
            alarm->expires_ns = INT64_MAX;
            set_readable(alarm, true);
        }
    }
    if (alarm->expires_ns != INT64_MAX)
        htw__system_condition_signal(&alarm->changed);
}

/* Under the mutex. False: it was set to an earlier time since the last reset. */
static bool set_earlier(struct htw__alarm *alarm, int64_t at_ns) {
    if (at_ns >= alarm->at_ns)
        return false;
    alarm->at_ns = at_ns;
    set_timer(alarm, at_ns < 1 ? 1 : at_ns);
    return true;
}

void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns) {
    htw__mutex_lock(&alarm->mutex);
    set_earlier(alarm, at_ns);
    htw__mutex_unlock(&alarm->mutex);
}

/* The owner would have to be woken for that, too: it wakes up at the time that it was set to. */
bool htw__alarm_claim(struct htw__alarm *alarm, int64_t before_ns) {
    (void)alarm;
    (void)before_ns;
    return false;
}

void htw__alarm_put_off(struct htw__alarm *alarm, int64_t at_ns) {
    (void)alarm;
    (void)at_ns;
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
        set_timer(alarm, INT64_MAX);
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_wait(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    sleep_until_it_expires(alarm);
    alarm->expires_ns = INT64_MAX;
    alarm->was_set = false;
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_clear(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    set_readable(alarm, false);
    if (alarm->was_set) {
        alarm->was_set = false;
        htw__system_condition_signal(&alarm->changed); /* the thread goes on */
    }
    htw__mutex_unlock(&alarm->mutex);
}
