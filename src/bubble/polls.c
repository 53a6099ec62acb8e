/* SPDX-License-Identifier: MIT */
/* polls.c - poll() and epoll: they ask the kernel without waiting, and wait for descriptors in between. */
#include "bubble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

/* Returns an error, or 0, also when the deadline has come. */
static int wait_for_fds(struct bubble_wait wait, const struct pollfd *fds, nfds_t count) {
    int kick = eventfd(0, EFD_CLOEXEC), error = kick < 0 ? EMFILE : ENOMEM;
    wait.fds = malloc((count + 1) * sizeof(*fds));
    wait.fd_count = count;
    if (wait.fds != NULL && kick >= 0) {
        memcpy(wait.fds, fds, count * sizeof(*fds));
        wait.fds[count] = (struct pollfd) { .fd = kick, .events = POLLIN };
        bubble_wait_begin(&wait);
        error = bubble_wait_end();
    }
    free(wait.fds);
    if (kick >= 0)
        REAL(syscall)(SYS_close, kick); /* close() could be cancelled */
    return error == ETIMEDOUT ? 0 : error;
}

/* `epoll`: -1: of poll(). */
static int ask(int epoll, void *things, nfds_t count, const sigset_t *mask) {
    const struct timespec none = { 0 };
    return epoll < 0 ? REAL(ppoll)(things, count, &none, mask)
                     : REAL(epoll_pwait)(epoll, things, (int)count, 0, mask);
}

static int ask_until(int epoll, void *things, nfds_t count, const sigset_t *mask,
                     struct bubble_wait wait) {
    const struct pollfd of_epoll = { .fd = epoll, .events = POLLIN };
    int result;
    wait.mask = mask;
    while ((result = ask(epoll, things, count, mask)) == 0 &&
           wait.deadline_ns > bubble_read_ns(CLOCK_MONOTONIC)) {
        int error = wait_for_fds(wait, epoll < 0 ? things : &of_epoll, epoll < 0 ? count : 1);
        pthread_testcancel();
        if (error != 0)
            return bubble_result(error);
    }
    return result;
}

static int64_t after_ms(int timeout_ms) {
    const struct timespec timeout = bubble_timespec_of(timeout_ms * INT64_C(1000000));
    return bubble_deadline_ns(DELAY, timeout_ms < 0 ? NULL : &timeout);
}

INSTEAD(int, ppoll,
        (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
        (fds, count, timeout, mask), !bubble_is_inside(),
        ask_until(-1, fds, count, mask, WAIT(NULL, bubble_deadline_ns(DELAY, timeout))))

INSTEAD(int, poll, (struct pollfd * fds, nfds_t count, int timeout_ms), (fds, count, timeout_ms),
        !bubble_is_inside(), ask_until(-1, fds, count, NULL, WAIT(NULL, after_ms(timeout_ms))))

/* What _FORTIFY_SOURCE makes of them, with one more argument, a size. */
#define ALIAS(name) __asm__("__" #name "_chk") __attribute__((alias(#name)))
PUBLIC __typeof__(poll) bubble_poll_checked ALIAS(poll);
PUBLIC __typeof__(ppoll) bubble_ppoll_checked ALIAS(ppoll);

INSTEAD(int, epoll_pwait,
        (int epoll, struct epoll_event *events, int count, int timeout_ms, const sigset_t *mask),
        (epoll, events, count, timeout_ms, mask), !bubble_is_inside() || epoll < 0 || count <= 0,
        ask_until(epoll, events, (nfds_t)count, mask, WAIT(NULL, after_ms(timeout_ms))))

PUBLIC int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout_ms) {
    return epoll_pwait(epoll, events, count, timeout_ms, NULL);
}
