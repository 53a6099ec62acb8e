/* SPDX-License-Identifier: MIT */
/* alarm_timerfd.c - the timer of an alarm on Linux: a timerfd. */
#include "alarm.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000

int htw__alarm_init(struct htw__alarm *alarm, clockid_t clock, bool blocking) {
    int fd = timerfd_create(clock, TFD_CLOEXEC | (blocking ? 0 : TFD_NONBLOCK));
    if (fd < 0)
        return -errno;
    alarm->fd = fd;
    alarm->clock = clock;
    alarm->at_ns = INT64_MAX;
    htw__mutex_init(&alarm->mutex, HTW__RANK_ALARM);
    return 0;
}

void htw__alarm_fini(struct htw__alarm *alarm) {
    close(alarm->fd);
    htw__mutex_fini(&alarm->mutex);
}

void htw__alarm_set_timer(struct htw__alarm *alarm, int64_t at_ns) {
    int flags = TFD_TIMER_ABSTIME;
    if (alarm->clock == CLOCK_REALTIME)
        flags |= TFD_TIMER_CANCEL_ON_SET; /* only an armed timer reports that the clock was set */
    else if (at_ns == INT64_MAX)
        at_ns = 0; /* disarms */
    struct itimerspec setting = { .it_value = { (time_t)(at_ns / NS_PER_S),
                                                (long)(at_ns % NS_PER_S) } };
    /* ECANCELED: the timer is set, but the wall clock was set before, and the sleeper is not
       notified of that. So make it expire at once. There is no other error: the
       arguments are valid. */
    while (timerfd_settime(alarm->fd, flags, &setting, NULL) != 0 && errno == ECANCELED)
        setting.it_value = (struct timespec) { 0, 1 };
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
