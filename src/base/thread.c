/* SPDX-License-Identifier: MIT */
/* thread.c - starts a thread of the library: it has a name and blocks all signals. */
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#ifndef HTW_PORTABLE
/* Linux allows 15 characters. The name of the owner is cut where they do not suffice. */
static void set_name(pthread_t thread, const char *owner, const char *role, unsigned index) {
    char name[64];
    size_t room = 15 - (size_t)snprintf(name, sizeof(name), "-%s-%u", role, index);
    snprintf(name, sizeof(name), "%.*s-%s-%u", (int)room, owner, role, index);
    pthread_setname_np(thread, name);
}
#else /* systems differ in how a thread gets a name */
static void set_name(pthread_t thread, const char *owner, const char *role, unsigned index) {
    (void)thread, (void)owner, (void)role, (void)index;
}
#endif

int htw__thread_start(pthread_t *thread, const char *owner, const char *role, unsigned index,
                      void *(*main)(void *), void *arg) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return -ENOMEM; /* EAGAIN: the system has no room for a thread */
    set_name(*thread, owner, role, index);
    return 0;
}
