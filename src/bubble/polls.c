/* SPDX-License-Identifier: MIT */
/* polls.c - poll() and epoll: they wait for descriptors, and then ask the kernel without waiting. */
#include "bubble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* `epoll`: -1: of poll(). */
static int ask(int epoll, void *things, nfds_t count, const sigset_t *mask) {
    const struct timespec none = { 0 };
    return epoll < 0 ? REAL(ppoll)(things, count, &none, mask)
                     : REAL(epoll_pwait)(epoll, things, (int)count, 0, mask);
}

static int ask_until(int epoll, void *things, nfds_t count, const sigset_t *mask,
                     const struct bubble_wait *wait) {
    const struct pollfd of_epoll = { .fd = epoll, .events = POLLIN };
    nfds_t fd_count = epoll < 0 ? count : 1;
    int result = ask(epoll, things, count, mask);
    if (result != 0 || wait->deadline_ns <= bubble_now_ns())
        return result;
    struct pollfd *fds = malloc((fd_count + 1) * sizeof(*fds));
    if (fds == NULL)
        return -1;                   /* with ENOMEM */
    pthread_cleanup_push(free, fds); /* if it is cancelled, too */
    while (result == 0 && wait->deadline_ns > bubble_now_ns()) {
        memcpy(fds, epoll < 0 ? things : &of_epoll, fd_count * sizeof(*fds));
        bool is_interrupted = bubble_wait_for_fds(wait, fds, fd_count, mask) == INTERRUPTED;
        result = is_interrupted ? -1 : ask(epoll, things, count, mask);
        errno = is_interrupted ? EINTR : errno;
    }
    pthread_cleanup_pop(1);
    pthread_testcancel();
    return result;
}

static int64_t after_ms(int timeout_ms) {
    const struct timespec timeout = bubble_timespec_of(timeout_ms * INT64_C(1000000));
    return timeout_ms < 0 ? NEVER : bubble_after(&timeout);
}

INSTEAD(int, ppoll,
        (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
        (fds, count, timeout, mask), !bubble_is_inside(),
        ask_until(-1, fds, count, mask, &WAIT(NULL, bubble_after(timeout))))

INSTEAD(int, poll, (struct pollfd * fds, nfds_t count, int timeout_ms), (fds, count, timeout_ms),
        !bubble_is_inside(), ask_until(-1, fds, count, NULL, &WAIT(NULL, after_ms(timeout_ms))))

/* What _FORTIFY_SOURCE makes of them, with one more argument, a size. */
#define ALIAS(name) __asm__("__" #name "_chk") __attribute__((alias(#name)))
PUBLIC __typeof__(poll) bubble_poll_checked ALIAS(poll);
PUBLIC __typeof__(ppoll) bubble_ppoll_checked ALIAS(ppoll);

INSTEAD(int, epoll_pwait,
        (int epoll, struct epoll_event *events, int count, int timeout_ms, const sigset_t *mask),
        (epoll, events, count, timeout_ms, mask), !bubble_is_inside() || epoll < 0 || count <= 0,
        ask_until(epoll, events, (nfds_t)count, mask, &WAIT(NULL, after_ms(timeout_ms))))

PUBLIC int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout_ms) {
    return epoll_pwait(epoll, events, count, timeout_ms, NULL);
}
