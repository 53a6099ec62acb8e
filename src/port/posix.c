/* SPDX-License-Identifier: MIT */
/* posix.c - what POSIX systems share of system.h. */
#include "system.h"

#ifndef _WIN32
#include <errno.h>
#include <signal.h>
#include <unistd.h>

uint32_t htw__cpu_count(uint32_t max) {
#ifdef _SC_NPROCESSORS_ONLN
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#else
    long count = 1;
#endif
    return count < 1 ? 1 : count > (long)max ? max : (uint32_t)count;
}

void htw__system_sleep(int64_t duration_ns) {
    struct timespec duration = htw__timespec(duration_ns);
    htw__cancel_state state = htw__disable_cancel(); /* the caller may hold locks */
    nanosleep(&duration, NULL);
    htw__restore_cancel(state);
}

int htw__thread_start(htw__system_thread *thread, const char *owner, const char *role,
                      unsigned index, void *(*main)(void *), void *arg) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return -ENOMEM; /* EAGAIN: the system has no room for a thread */
    htw__system_name_thread(*thread, owner, role, index);
    return 0;
}

/* The kernel reads the memory, and says EFAULT where a thread would end by a signal. */

bool htw__system_reader_open(htw__system_reader *reader) {
    if (htw__system_open_pipe(reader->fds))
        return true;
    reader->fds[0] = reader->fds[1] = -1;
    return false;
}

void htw__system_reader_close(htw__system_reader *reader) {
    for (unsigned i = 0; i < 2 && reader->fds[i] >= 0; i++)
        close(reader->fds[i]);
}

bool htw__system_copy(const htw__system_reader *reader, void *to, const void *from, size_t size) {
    char rest[HTW__SYSTEM_COPY_MAX];
    if (reader->fds[0] < 0)
        return false;
    if (htw__system_write(reader->fds[1], from, size) == (long)size)
        return read(reader->fds[0], to, size) == (long)size;
    while (read(reader->fds[0], rest, sizeof(rest)) > 0) /* what came before the fault */
        ;
    return false;
}
#endif
