/* SPDX-License-Identifier: MIT */
/* alarm_timerfd.c - the timer of an alarm on Linux: a timerfd. */
#include "alarm.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* If the wall clock is ahead of another one by so much more or less than before, it was set. */
#define STEP_MIN_NS 1000000

int htw__alarm_init(struct htw__alarm *alarm, clockid_t clock, bool blocking) {
    /* An event loop keeps the file descriptor, and htw__alarm_watch_wall_clock() could not replace
       the timer behind it. So it is a timer of the wall clock from the beginning. */
    clockid_t timer_clock = blocking ? clock : CLOCK_REALTIME;
    int fd = timerfd_create(timer_clock, TFD_CLOEXEC | (blocking ? 0 : TFD_NONBLOCK));
    if (fd < 0)
        return -errno;
    alarm->fd = fd;
    alarm->clock = clock;
    alarm->watches_wall = clock == CLOCK_REALTIME;
    alarm->timer_clock = timer_clock;
    alarm->at_ns = INT64_MAX;
    htw__mutex_init(&alarm->mutex, HTW__RANK_ALARM);
    return 0;
}

void htw__alarm_fini(struct htw__alarm *alarm) {
    close(alarm->fd);
    htw__mutex_fini(&alarm->mutex);
}

/* Sets the kernel's timer to a time of its own clock. 0 disarms. */
static void set_kernel_timer(const struct htw__alarm *alarm, int64_t at_ns) {
    int flags = TFD_TIMER_ABSTIME;
    if (alarm->timer_clock == CLOCK_REALTIME && at_ns != 0)
        flags |= TFD_TIMER_CANCEL_ON_SET; /* only an armed timer reports that the clock was set */
    struct itimerspec setting = { .it_value = { (time_t)(at_ns / NS_PER_S),
                                                (long)(at_ns % NS_PER_S) } };
    /* ECANCELED: the timer is set, but the wall clock was set before, and the sleeper is not
       notified of that. So make it expire at once. There is no other error: the
       arguments are valid. */
    while (timerfd_settime(alarm->fd, flags, &setting, NULL) != 0 && errno == ECANCELED)
        setting.it_value = (struct timespec) { 0, 1 };
}

/* A time of the alarm's clock, as a time of the wall clock. */
static int64_t wall_ns(int64_t at_ns, int64_t ahead_ns) {
    int64_t sum;
    if (__builtin_add_overflow(at_ns, ahead_ns, &sum))
        return INT64_MAX;
    return sum < 1 ? 1 : sum;
}

void htw__alarm_set_timer(struct htw__alarm *alarm, int64_t at_ns) {
    if (at_ns == INT64_MAX && !alarm->watches_wall) {
        set_kernel_timer(alarm, 0);
        return;
    }
    if (alarm->clock == alarm->timer_clock) {
        set_kernel_timer(alarm, at_ns);
        return;
    }
    /* Once the timer is set the kernel notices that the clock is set, and until then this does. */
    int64_t ahead_ns, moved_ns;
    do {
        ahead_ns = htw__clock_wall_ahead_ns(alarm->clock);
        set_kernel_timer(alarm, wall_ns(at_ns, ahead_ns));
        moved_ns = htw__clock_wall_ahead_ns(alarm->clock) - ahead_ns;
    } while (moved_ns >= STEP_MIN_NS || moved_ns <= -STEP_MIN_NS);
}

/* Puts a timer of the wall clock behind the file descriptor, which a thread may be reading. */
static int replace_timer(struct htw__alarm *alarm) {
    int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    set_kernel_timer(alarm, 1); /* the thread wakes up, and reads the other timer next */
    while (dup3(fd, alarm->fd, O_CLOEXEC) < 0)
        ; /* interrupted */
    close(fd);
    alarm->timer_clock = CLOCK_REALTIME;
    return 0;
}

int htw__alarm_watch_wall_clock(struct htw__alarm *alarm) {
    int error = 0, cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* close() may end the thread */
    htw__mutex_lock(&alarm->mutex);
    if (alarm->timer_clock != CLOCK_REALTIME)
        error = replace_timer(alarm);
    if (error == 0 && !alarm->watches_wall) {
        alarm->watches_wall = true;
        htw__alarm_set_timer(alarm, alarm->at_ns);
    }
    htw__mutex_unlock(&alarm->mutex);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

void htw__alarm_wait(struct htw__alarm *alarm) {
    uint64_t expirations;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    /* ECANCELED, the wall clock was set, wakes the sleeper too. EINTR is not possible: threads that
       wait here block all signals. */
    ssize_t size = read(alarm->fd, &expirations, sizeof(expirations));
    (void)size;
    pthread_setcancelstate(cancel_state, NULL);
}

void htw__alarm_clear(struct htw__alarm *alarm) {
    htw__alarm_wait(alarm); /* does not block: see htw__alarm_init() */
}
