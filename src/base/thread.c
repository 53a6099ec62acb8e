/* SPDX-License-Identifier: MIT */
/* thread.c - starts a thread of the library: it has a name and blocks all signals. */
#include "thread.h"

#include "../port/system.h"

#include <errno.h>
#include <signal.h>

int htw__thread_start(pthread_t *thread, const char *owner, const char *role, unsigned index,
                      void *(*main)(void *), void *arg) {
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
