/* SPDX-License-Identifier: MIT */
/*
 * test_alarm_kqueue - timer_kqueue.c under the portable alarm, with a kqueue that is played by an epoll instance. The tests of
 * test_alarm.c run with it, too.
 */
#include "../../../src/port/alarm.h"
#include "../../../src/base/clock.h"

#include "../unit.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)

/* The events of each kqueue, by its descriptor. */
static struct model { int timer_fd, user_fd; /* 0: none */ } models[1024];

static enum { NOTHING, QUEUE, USER, TIMER } refused; /* what the kernel refuses */
static int64_t delay_ns;                             /* to which a timer was set last */
static bool is_interrupted;                          /* the next wait is */

static int add_event(int epoll_fd, int fd) {
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
    return fd;
}

int kqueue(void) {
    if (refused == QUEUE) {
        errno = EMFILE;
        return -1;
    }
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (models[fd].timer_fd > 0) { /* of one that was closed */
        close(models[fd].timer_fd);
        close(models[fd].user_fd);
    }
    models[fd].timer_fd = add_event(fd, timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
    models[fd].user_fd = add_event(fd, eventfd(0, EFD_NONBLOCK));
    return fd;
}

static bool change_timer(int fd, const struct kevent *change) {
    struct itimerspec setting = { .it_value = { 0, 0 } };
    if (change->flags == (EV_ADD | EV_ONESHOT) && change->fflags == NOTE_NSECONDS) {
        delay_ns = change->data;
        setting.it_value = htw__timespec(delay_ns);
        if (refused == TIMER || delay_ns <= 0)
            return false;
    } else if (change->flags != EV_DELETE)
        return false;
    return timerfd_settime(fd, 0, &setting, NULL) == 0;
}

static bool change_user(int fd, const struct kevent *change) {
    if (change->flags == (EV_ADD | EV_CLEAR))
        return refused != USER;
    return change->fflags == NOTE_TRIGGER && eventfd_write(fd, 1) == 0;
}

static int take_events(int fd, struct kevent *events, const struct timespec *timeout) {
    struct epoll_event ready[2];
    uint64_t count;
    if (is_interrupted) {
        is_interrupted = false;
        errno = EINTR;
        return -1;
    }
    int taken = epoll_wait(fd, ready, 2, timeout == NULL ? -1 : 0);
    for (int i = 0; i < taken; i++) {
        bool is_timer = ready[i].data.fd == models[fd].timer_fd;
        ssize_t size = read(ready[i].data.fd, &count, sizeof(count));
        (void)size;
        events[i] = (struct kevent) { .filter = is_timer ? EVFILT_TIMER : EVFILT_USER };
    }
    return taken;
}

int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events,
           int event_count, const struct timespec *timeout) {
    if (change_count == 0)
        return event_count == 2 ? take_events(fd, events, timeout) : -1;
    if (changes->filter == EVFILT_TIMER ? change_timer(models[fd].timer_fd, changes)
                                        : change_user(models[fd].user_fd, changes))
        return 0;
    errno = ENOMEM;
    return -1;
}

static void start(struct htw__alarm *alarm, bool blocking) {
    refused = NOTHING;
    assert_int_equal(htw__alarm_init(alarm, HTW__SYSTEM_MONOTONIC, blocking), 0);
    htw__alarm_reset(alarm);
}

UNIT_TEST(kernel_that_has_no_kqueue_refuses_the_alarm) {
    struct htw__alarm alarm;
    int free_fd = dup(0);
    close(free_fd);
    refused = QUEUE;
    assert_int_equal(htw__alarm_init(&alarm, HTW__SYSTEM_MONOTONIC, true), -EMFILE);
    refused = USER;
    assert_int_equal(htw__alarm_init(&alarm, HTW__SYSTEM_MONOTONIC, true), -ENOMEM);
    int fd = dup(0);
    close(fd);
    assert_int_equal(fd, free_fd);
}

UNIT_TEST(alarm_for_the_past_is_readable_without_a_timer) {
    struct htw__alarm alarm;
    start(&alarm, false);
    delay_ns = 0;
    htw__alarm_set(&alarm, 1);
    struct pollfd poll_fd = { alarm.fd, POLLIN, 0 };
    assert_int_equal(poll(&poll_fd, 1, 0), 1);
    assert_int_equal(delay_ns, 0);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(alarm_for_the_last_instant_has_a_timer_for_a_day) {
    struct htw__alarm alarm;
    start(&alarm, true);
    htw__alarm_set(&alarm, INT64_MAX - 1);
    assert_int_equal(delay_ns, 24 * HOUR_NS);
    htw__alarm_fini(&alarm);
}

UNIT_TEST(owner_without_a_timer_wakes_up_until_there_is_one) {
    struct htw__alarm alarm;
    start(&alarm, true);
    refused = TIMER;
    int64_t at_ns = htw__clock_monotonic_ns() + 3000000;
    for (int times = 0; times < 4; times++) {
        is_interrupted = true;
        if (times == 3)
            refused = NOTHING;
        htw__alarm_reset(&alarm);
        int64_t plan_ns = times < 3 ? INT64_MAX - 1 : at_ns;
        htw__alarm_plan(&alarm, plan_ns, plan_ns);
        htw__alarm_wait(&alarm);
    }
    assert_true(htw__clock_monotonic_ns() >= at_ns);
    htw__alarm_fini(&alarm);
}
