/* SPDX-License-Identifier: MIT */
/* system_portable.c - system.h of POSIX parts alone. */
#include "system.h"

#if defined(HTW_PORTABLE) && !defined(_WIN32)
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

/* Successive threads have successive numbers, so a group of threads spreads evenly. */
uint32_t htw__cpu_current(void) {
    static _Atomic uint32_t threads;
    static _Thread_local uint32_t number; /* from 1; 0: none yet */
    /* order: A number for each thread. */
    if (number == 0)
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return number - 1;
}

/* A child that another thread forks in between, and that executes a program, inherits the file descriptors. */
bool htw__system_open_pipe(int fds[2]) {
    if (pipe(fds) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

long htw__system_write(int fd, const void *from, size_t size) {
    return (long)write(fd, from, size);
}

bool htw__system_random(void *to, size_t size) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = read(fd, to, size) == (ssize_t)size;
    close(fd);
    return done;
}

/* Systems differ in how a thread gets a name. */
void htw__system_name_thread(pthread_t thread, const char *owner, const char *role,
                             unsigned index) {
    (void)thread, (void)owner, (void)role, (void)index;
}

bool htw__system_find_code(const htw__system_reader *reader, uintptr_t address,
                           struct htw__code *ret_code) {
    (void)reader, (void)address, (void)ret_code;
    return false;
}

uint32_t htw__system_capture_stack(const void **frames, uint32_t max, uint32_t skip) {
    (void)frames, (void)max, (void)skip;
    return 0;
}
#endif
