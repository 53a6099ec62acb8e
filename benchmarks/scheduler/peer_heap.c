/* SPDX-License-Identifier: MIT */
/*
 * peer_heap.c - what a program without a timer library writes: a binary heap behind a mutex, and
 * one thread that waits on a condition variable.
 *
 * cancel() frees a timer that has a handle, even if it has fired.
 */
#include "../common/clock.h"
#include "../common/report.h"
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRED SIZE_MAX

struct timer {
    int64_t deadline_ns;
    size_t index; /* in the heap, or FIRED */
    htw_callback *callback;
    void *arg;
    bool has_handle;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t earlier; /* the earliest deadline has become earlier */
static struct timer **heap;    /* the mutex guards this and the next */
static size_t count, capacity;

static void put(struct timer *timer, size_t index) {
    heap[index] = timer;
    timer->index = index;
}

static void sift_up(struct timer *timer, size_t index) {
    while (index > 0 && heap[(index - 1) / 2]->deadline_ns > timer->deadline_ns) {
        put(heap[(index - 1) / 2], index);
        index = (index - 1) / 2;
    }
    put(timer, index);
}

static void sift_down(struct timer *timer, size_t index) {
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= count)
            break;
        if (child + 1 < count && heap[child + 1]->deadline_ns < heap[child]->deadline_ns)
            child++;
        if (heap[child]->deadline_ns >= timer->deadline_ns)
            break;
        put(heap[child], index);
        index = child;
    }
    put(timer, index);
}

static void remove_at(size_t index) {
    heap[index]->index = FIRED;
    struct timer *last = heap[--count];
    if (index == count)
        return;
    if (index > 0 && heap[(index - 1) / 2]->deadline_ns > last->deadline_ns)
        sift_up(last, index);
    else
        sift_down(last, index);
}

static void wait_until(int64_t deadline_ns) {
    struct timespec until = { .tv_sec = deadline_ns / 1000000000,
                              .tv_nsec = deadline_ns % 1000000000 };
    pthread_cond_timedwait(&earlier, &mutex, &until);
}

static void fire_first(void) {
    struct timer *timer = heap[0];
    htw_callback *callback = timer->callback;
    void *arg = timer->arg;
    bool has_handle = timer->has_handle; /* if so, cancel() may free it from now on */
    remove_at(0);
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
        if (count == 0)
            pthread_cond_wait(&earlier, &mutex);
        else if (heap[0]->deadline_ns > clock_now_ns())
            wait_until(heap[0]->deadline_ns);
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
    pthread_t thread;
    int error = pthread_create(&thread, NULL, serve, NULL);
    if (error != 0)
        report_failure("pthread_create: %s", strerror(error));
}

static bool grow(void) {
    size_t wanted = capacity == 0 ? 1024 : 2 * capacity;
    struct timer **bigger = realloc(heap, wanted * sizeof(*heap));
    if (bigger == NULL)
        return false;
    heap = bigger;
    capacity = wanted;
    return true;
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns;
    struct timer *timer = malloc(sizeof(*timer));
    if (timer == NULL)
        return -1;
    *timer = (struct timer) { .deadline_ns = clock_now_ns() + delay_ns,
                              .callback = callback,
                              .arg = arg,
                              .has_handle = ret_handle != NULL };
    if (ret_handle != NULL)
        *ret_handle = (uint64_t)(uintptr_t)timer;
    pthread_mutex_lock(&mutex);
    if (count == capacity && !grow()) {
        pthread_mutex_unlock(&mutex);
        free(timer);
        return -1;
    }
    sift_up(timer, count++);
    bool is_first = timer->index == 0;
    pthread_mutex_unlock(&mutex);
    if (is_first)
        pthread_cond_signal(&earlier);
    return 0;
}

static bool cancel(uint64_t handle) {
    struct timer *timer = (struct timer *)(uintptr_t)handle; /* NOLINT: made from a pointer */
    pthread_mutex_lock(&mutex);
    bool was_pending = timer->index != FIRED;
    if (was_pending)
        remove_at(timer->index);
    pthread_mutex_unlock(&mutex);
    free(timer);
    return was_pending;
}

static uint64_t pending(void) {
    pthread_mutex_lock(&mutex);
    uint64_t timers = count;
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
