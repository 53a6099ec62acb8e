/* SPDX-License-Identifier: MIT */
/* registry.c - closes the descriptors of monitors in children. */
#include "registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct htw_monitor *first;

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

static void in_child(void) {
    for (; first != NULL; first = first->next) {
        close(first->place.fd);
        for (size_t i = 0; i < HTW__CLIENTS; i++)
            if (first->clients[i].fd >= 0)
                close(first->clients[i].fd);
    }
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

void htw__registry_add(struct htw_monitor *monitor) {
    monitor->next = first;
    first = monitor;
}

void htw__registry_remove(struct htw_monitor *monitor) {
    struct htw_monitor **link = &first;
    while (*link != monitor)
        link = &(*link)->next;
    *link = monitor->next;
}

void htw__registry_close(int *fd) {
    htw__registry_lock();
    close(*fd);
    *fd = -1;
    htw__registry_unlock();
}
