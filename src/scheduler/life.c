/* SPDX-License-Identifier: MIT */
/* life.c - whether a scheduler runs, is being stopped or has stopped, and whether a thread of the
   user is in process(), advance() or set_clock(). Starts the threads of a scheduler, and ends them. */
#include "clocks.h"
#include "expirer.h"
#include "workers.h"

void htw__life_init(struct htw__life *life) {
    htw__mutex_init(&life->mutex, HTW__RANK_SCHEDULER_LIFE);
    htw__system_condition_init(&life->changed);
    life->phase = HTW__ALIVE;
}

void htw__life_fini(struct htw__life *life) {
    htw__system_condition_fini(&life->changed);
    htw__mutex_fini(&life->mutex);
}

int htw__life_begin_processing(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    int error = life->phase != HTW__ALIVE ? -ESHUTDOWN : life->processing ? -EBUSY : 0;
    if (error == 0)
        life->processing = true;
    htw__mutex_unlock(&life->mutex);
    return error;
}

void htw__life_end_processing(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    life->processing = false;
    htw__system_condition_broadcast(&life->changed);
    htw__mutex_unlock(&life->mutex);
}

bool htw__life_begin_stop(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    bool first = life->phase == HTW__ALIVE;
    if (first)
        life->phase = HTW__STOPPING;
    while (!first && life->phase != HTW__STOPPED)
        htw__mutex_wait(&life->mutex, &life->changed);
    htw__mutex_unlock(&life->mutex);
    return first;
}

void htw__life_end_stop(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    life->phase = HTW__STOPPED;
    htw__system_condition_broadcast(&life->changed);
    htw__mutex_unlock(&life->mutex);
}

/* ---- threads */

bool htw__needs_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && (!htw__is_manual(scheduler) || scheduler->worker_count > 0);
}

/* Under the mutex of `life`. */
static int start_expirers(struct htw_scheduler *scheduler) {
    unsigned *started = &scheduler->life.expirers_started;
    int error = 0;
    while (error == 0 && *started < scheduler->expirer_count) {
        error = htw__workers_start_expirer(scheduler, *started);
        if (error == 0)
            (*started)++;
    }
    return error;
}

int htw__start_threads(struct htw_scheduler *scheduler, bool all_workers) {
    int error = 0;
    htw__mutex_lock(&scheduler->life.mutex);
    if (scheduler->life.phase == HTW__ALIVE && htw__mode(scheduler) & HTW__MODE_STARTING) {
        error = htw__workers_start(scheduler, all_workers);
        if (error == 0 && !htw__is_manual(scheduler))
            error = start_expirers(scheduler);
        /* order: A thread that sees it uses nothing of the others; they are under mutexes. */
        if (error == 0)
            atomic_fetch_and_explicit(&scheduler->mode, ~HTW__MODE_STARTING, memory_order_relaxed);
    }
    htw__mutex_unlock(&scheduler->life.mutex);
    return error;
}

/* Waits until no thread takes the place of the expirer. */
static void wait_for_processing(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    while (life->processing)
        htw__mutex_wait(&life->mutex, &life->changed);
    htw__mutex_unlock(&life->mutex);
}

void htw__end_threads(struct htw_scheduler *scheduler) {
    /* order: The flag counts alone: what is left is under locks, and the threads are joined. */
    atomic_fetch_or_explicit(&scheduler->mode, HTW__MODE_STOPPING, memory_order_relaxed);
    htw__work_queue_stop(&scheduler->work_queue);
    wait_for_processing(&scheduler->life);
    for (unsigned i = 0; i < scheduler->life.expirers_started; i++)
        htw__alarm_set(&scheduler->expirers[i].waker.alarm, 0);
    for (unsigned i = 0; i < scheduler->life.expirers_started; i++)
        htw__thread_join(htw__first_thread_of(scheduler, i)->id);
    htw__workers_join(scheduler);
}
