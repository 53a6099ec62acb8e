/* SPDX-License-Identifier: MIT */
/* poll.h - waits for the handle of a timer as for a file descriptor. */
#ifndef TESTS_WINDOWS_POLL_H
#define TESTS_WINDOWS_POLL_H

struct pollfd {
    int fd;
    short events, revents;
};
#define POLLIN 1

/** `count`: 1. */
int poll(struct pollfd *fds, unsigned long count, int timeout_ms);

#endif /* TESTS_WINDOWS_POLL_H */
