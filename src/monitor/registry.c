/* SPDX-License-Identifier: MIT */
/* registry.c - closes the descriptors of monitors in children. */
#include "registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct htw__descriptors *first;

/* How often the handlers are registered: more than once if two threads come at the same time. Then only
   the first call before a fork locks, and the last one after it unlocks. */
static _Thread_local unsigned depth;

static void before_fork(void) {
    if (depth++ == 0)
        pthread_mutex_lock(&mutex);
}

static void in_parent(void) {
    if (--depth == 0)
        pthread_mutex_unlock(&mutex);
}

static void close_all(struct htw__descriptors *descriptors) {
    close(descriptors->listener);
    close(descriptors->wake);
    close(descriptors->epoll);
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (descriptors->clients[i] >= 0)
            close(descriptors->clients[i]);
}

static void in_child(void) {
    for (; first != NULL; first = first->next)
        close_all(first);
    in_parent();
}

int htw__registry_init(void) {
    static _Atomic bool registered;
    /* order: pthread_atfork() and fork() share a lock. */
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        return 0;
    if (pthread_atfork(before_fork, in_parent, in_child) != 0)
        return -ENOMEM;
    atomic_store_explicit(&registered, true, memory_order_relaxed);
    return 0;
}

void htw__registry_lock(void) {
    pthread_mutex_lock(&mutex);
}

void htw__registry_unlock(void) {
    pthread_mutex_unlock(&mutex);
}

void htw__registry_add(struct htw__descriptors *descriptors) {
    descriptors->next = first;
    first = descriptors;
}

void htw__registry_remove(struct htw__descriptors *descriptors) {
    struct htw__descriptors **link = &first;
    while (*link != descriptors)
        link = &(*link)->next;
    *link = descriptors->next;
}

void htw__registry_close(int *fd) {
    htw__registry_lock();
    close(*fd);
    *fd = -1;
    htw__registry_unlock();
}
