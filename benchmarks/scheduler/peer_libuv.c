/* SPDX-License-Identifier: MIT */
/*
 * peer_libuv.c - libuv's timers for threads. Only the thread of a loop may use the loop, except
 * for uv_async_send(). So callers put requests into a list behind a mutex, as the manual advises,
 * and wake the loop if the list was empty.
 *
 * Timers count milliseconds from the time that the loop has read. Deadlines, not delays, are
 * rounded up to these, so that none is early. Records are used again: closing a handle and making
 * another one would cost much of what is measured.
 */
#include "../common/clock.h"
#include "../common/report.h"
#include "../common/thread.h"
#include "peer.h"

#include <uv.h>

#include <stdlib.h>

#define SLICE 64    /* requests served while the mutex is held */
#define TURN 100000 /* requests served in a turn of the loop, so that timers get their turn */

enum state { INCOMING, ARMED, CANCELLED, FIRED };

struct timer {
    uv_timer_t uv;
    struct timer *next; /* in `incoming`, `cancelled` or `spare` */
    enum state state;   /* guarded by the mutex */
    bool has_handle;    /* cancel() will be called, and the record is used until then */
    bool initialised;
    int64_t deadline_ns;
    htw_callback *callback;
    void *arg;
};

struct list {
    struct timer *first, **end;
};

static uv_loop_t loop;
static uv_async_t wake;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by the mutex: */
static struct list incoming = { NULL, &incoming.first };
static struct list cancelled = { NULL, &cancelled.first };
static struct timer *spare;
static uint64_t pending_count;

static void append(struct list *list, struct timer *timer) {
    timer->next = NULL;
    *list->end = timer;
    list->end = &timer->next;
}

static struct timer *take_first(struct list *list) {
    struct timer *timer = list->first;
    if (timer == NULL)
        return NULL;
    list->first = timer->next;
    if (list->first == NULL)
        list->end = &list->first;
    return timer;
}

static void recycle(struct timer *timer) {
    timer->next = spare;
    spare = timer;
}

static void fire(uv_timer_t *uv) {
    struct timer *timer = uv->data;
    pthread_mutex_lock(&mutex);
    bool runs = timer->state == ARMED;
    htw_callback *callback = timer->callback;
    void *arg = timer->arg;
    if (runs) {
        timer->state = FIRED;
        pending_count--;
        if (!timer->has_handle)
            recycle(timer);
    }
    pthread_mutex_unlock(&mutex);
    if (runs)
        callback(arg, NULL);
}

static void arm(struct timer *timer) {
    if (!timer->initialised) {
        uv_timer_init(&loop, &timer->uv);
        timer->uv.data = timer;
        timer->initialised = true;
    }
    uint64_t deadline_ms = ((uint64_t)timer->deadline_ns + 999999) / 1000000;
    uint64_t now_ms = uv_now(&loop);
    timer->state = ARMED;
    uv_timer_start(&timer->uv, fire, deadline_ms > now_ms ? deadline_ms - now_ms : 0, 0);
}

/* Returns false if there is no request. */
static bool serve_one(void) {
    struct timer *timer = take_first(&incoming);
    if (timer != NULL) {
        if (timer->state == INCOMING)
            arm(timer);
        else
            recycle(timer);
        return true;
    }
    timer = take_first(&cancelled);
    if (timer == NULL)
        return false;
    uv_timer_stop(&timer->uv);
    recycle(timer);
    return true;
}

static void serve(uv_async_t *unused) {
    (void)unused;
    uv_update_time(&loop);
    bool more = true;
    for (int turn = 0; more && turn < TURN / SLICE; turn++) {
        pthread_mutex_lock(&mutex);
        for (int i = 0; more && i < SLICE; i++)
            more = serve_one();
        pthread_mutex_unlock(&mutex);
    }
    if (more)
        uv_async_send(&wake);
}

static void *run(void *unused) {
    (void)unused;
    uv_run(&loop, UV_RUN_DEFAULT);
    return NULL;
}

static void start(int workers) {
    (void)workers;
    if (uv_loop_init(&loop) != 0 || uv_async_init(&loop, &wake, serve) != 0)
        report_failure("cannot make a loop of libuv");
    thread_start(run, NULL);
}

/* The caller holds the mutex, which is released for malloc(). */
static struct timer *new_timer(void) {
    struct timer *timer = spare;
    if (timer != NULL) {
        spare = timer->next;
        return timer;
    }
    pthread_mutex_unlock(&mutex);
    timer = malloc(sizeof(*timer));
    pthread_mutex_lock(&mutex);
    if (timer != NULL)
        timer->initialised = false;
    return timer;
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns;
    int64_t deadline_ns = clock_now_ns() + delay_ns;
    pthread_mutex_lock(&mutex);
    struct timer *timer = new_timer();
    if (timer == NULL) {
        pthread_mutex_unlock(&mutex);
        return -1;
    }
    timer->deadline_ns = deadline_ns;
    timer->callback = callback;
    timer->arg = arg;
    timer->has_handle = ret_handle != NULL;
    timer->state = INCOMING;
    if (ret_handle != NULL)
        *ret_handle = (uint64_t)(uintptr_t)timer;
    bool was_empty = incoming.first == NULL && cancelled.first == NULL;
    append(&incoming, timer);
    pending_count++;
    pthread_mutex_unlock(&mutex);
    if (was_empty)
        uv_async_send(&wake);
    return 0;
}

static bool cancel(uint64_t handle) {
    struct timer *timer = (struct timer *)(uintptr_t)handle; /* NOLINT: made from a pointer */
    pthread_mutex_lock(&mutex);
    bool was_pending = timer->state == INCOMING || timer->state == ARMED;
    bool was_empty = incoming.first == NULL && cancelled.first == NULL;
    bool must_stop = timer->state == ARMED;
    if (was_pending) {
        timer->state = CANCELLED;
        pending_count--;
    } else {
        recycle(timer);
    }
    if (must_stop)
        append(&cancelled, timer);
    pthread_mutex_unlock(&mutex);
    if (must_stop && was_empty)
        uv_async_send(&wake);
    return was_pending;
}

static uint64_t pending(void) {
    pthread_mutex_lock(&mutex);
    uint64_t count = pending_count;
    pthread_mutex_unlock(&mutex);
    return count;
}

const struct peer peer_libuv = {
    .name = "libuv",
    .about = "a loop of libuv, and a list behind a mutex",
    .start = start,
    .schedule = schedule,
    .cancel = cancel,
    .pending = pending,
};
