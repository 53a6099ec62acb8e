/* SPDX-License-Identifier: MIT */
/* pipe.h - a pipe that no other program inherits, and that nobody waits for. */
#ifndef HTW_SRC_BASE_PIPE_H
#define HTW_SRC_BASE_PIPE_H

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* False: errno says why not. Without pipe2(), a child that another thread forks just now and that executes a program
   may inherit the file descriptors. */
static inline bool htw__pipe_open(int fds[2]) {
#ifdef HTW_PORTABLE
    if (pipe(fds) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    return true;
#else
    return pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0;
#endif
}

#endif /* HTW_SRC_BASE_PIPE_H */
