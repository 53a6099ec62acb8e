/* SPDX-License-Identifier: MIT */
/* event.h - what src/port/timer_kqueue.c needs of the header of this name of macOS and BSD systems: test_alarm_kqueue.c. */
#ifndef TESTS_UNIT_PORT_KQUEUE_SYS_EVENT_H
#define TESTS_UNIT_PORT_KQUEUE_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

#define EVFILT_TIMER 1
#define EVFILT_USER 2
#define EV_ADD 1
#define EV_DELETE 2
#define EV_ONESHOT 4
#define EV_CLEAR 8
#define NOTE_NSECONDS 1
#define NOTE_TRIGGER 2

struct kevent {
    short filter;
    unsigned short flags;
    unsigned fflags;
    int64_t data;
};

int kqueue(void);
int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events,
           int event_count, const struct timespec *timeout);

#endif /* TESTS_UNIT_PORT_KQUEUE_SYS_EVENT_H */
