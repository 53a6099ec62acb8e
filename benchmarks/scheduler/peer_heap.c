/* SPDX-License-Identifier: MIT */
/*
 * peer_heap.c - what a program without a timer library writes: a binary heap behind a mutex, and
 * one thread that waits on a condition variable.
 *
 * cancel() frees a timer that has a handle, even if it has fired.
 */
#include "../common/clock.h"
#include "../common/heap.h"
#include "../common/thread.h"
#include "peer.h"

#include <pthread.h>

struct timer {
    struct heap_timer in_heap;
    htw_callback *callback;
    void *arg;
    bool has_handle;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t earlier; /* the earliest deadline has become earlier */
static struct heap heap;       /* the mutex guards this */

static void wait_until(uint64_t deadline_ns) {
    struct timespec until = { .tv_sec = (time_t)(deadline_ns / 1000000000),
                              .tv_nsec = (long)(deadline_ns % 1000000000) };
    pthread_cond_timedwait(&earlier, &mutex, &until);
}

static void fire_first(void) {
    struct timer *timer = (struct timer *)heap.entries[0].timer;
    htw_callback *callback = timer->callback;
    void *arg = timer->arg;
    bool has_handle = timer->has_handle; /* if so, cancel() may free it from now on */
    heap_remove(&heap, &timer->in_heap);
    pthread_mutex_unlock(&mutex);
    if (!has_handle)
        free(timer);
    callback(arg, NULL);
    pthread_mutex_lock(&mutex);
}

static void *serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        if (heap.count == 0)
            pthread_cond_wait(&earlier, &mutex);
        else if (heap.entries[0].deadline > (uint64_t)clock_now_ns())
            wait_until(heap.entries[0].deadline);
        else
            fire_first();
    }
    return NULL;
}

static void start(int workers) {
    (void)workers;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&earlier, &attributes);
    thread_start(serve, NULL);
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns;
    struct timer *timer = malloc(sizeof(*timer));
    if (timer == NULL)
        return -1;
    uint64_t deadline_ns = (uint64_t)(clock_now_ns() + delay_ns);
    *timer = (struct timer) { .callback = callback, .arg = arg, .has_handle = ret_handle != NULL };
    if (ret_handle != NULL)
        *ret_handle = (uint64_t)(uintptr_t)timer;
    pthread_mutex_lock(&mutex);
    heap_add(&heap, &timer->in_heap, deadline_ns);
    bool is_first = timer->in_heap.index == 0;
    pthread_mutex_unlock(&mutex);
    if (is_first)
        pthread_cond_signal(&earlier);
    return 0;
}

static bool cancel(uint64_t handle) {
    struct timer *timer = (struct timer *)(uintptr_t)handle; /* NOLINT: made from a pointer */
    pthread_mutex_lock(&mutex);
    bool was_pending = timer->in_heap.index != HEAP_GONE;
    if (was_pending)
        heap_remove(&heap, &timer->in_heap);
    pthread_mutex_unlock(&mutex);
    free(timer);
    return was_pending;
}

static uint64_t pending(void) {
    pthread_mutex_lock(&mutex);
    uint64_t timers = heap.count;
    pthread_mutex_unlock(&mutex);
    return timers;
}

const struct peer peer_heap_cond = {
    .name = "heap-cond",
    .about = "a binary heap, a mutex, and a thread on a condition variable",
    .start = start,
    .schedule = schedule,
    .cancel = cancel,
    .pending = pending,
};
