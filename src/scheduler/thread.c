/* SPDX-License-Identifier: MIT */
/* thread.c - starts and names a thread of the scheduler. */
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Linux has room for 15 characters: what does not fit is cut from the scheduler's name. */
static void set_name(pthread_t thread, const char *scheduler, const char *role, unsigned index) {
    char name[64];
    size_t room = 15 - (size_t)snprintf(name, sizeof(name), "-%s-%u", role, index);
    snprintf(name, sizeof(name), "%.*s-%s-%u", (int)room, scheduler, role, index);
    pthread_setname_np(thread, name);
}

int htw__thread_start(pthread_t *thread, const struct htw_scheduler *scheduler, const char *role,
                      unsigned index, void *(*main)(void *), void *arg) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return -ENOMEM; /* EAGAIN: the system lacks what a thread takes */
    set_name(*thread, scheduler->thread_name, role, index);
    return 0;
}
