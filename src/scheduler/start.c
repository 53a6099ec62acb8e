/* SPDX-License-Identifier: MIT */
/* start.c - starts the threads of a scheduler, and ends them. */
#include "start.h"

#include "clocks.h"
#include "expirer.h"
#include "workers.h"

bool htw__needs_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && (!htw__is_manual(scheduler) || scheduler->worker_count > 0);
}

/* Under the mutex of `life`. */
static int start_expirers(struct htw_scheduler *scheduler) {
    unsigned *started = &scheduler->life.expirers_started;
    int error = 0;
    while (error == 0 && *started < scheduler->expirer_count) {
        error = htw__expirer_start(&scheduler->expirers[*started]);
        if (error == 0)
            (*started)++;
    }
    return error;
}

int htw__start_threads(struct htw_scheduler *scheduler, bool all_workers) {
    int error = 0;
    htw__mutex_lock(&scheduler->life.mutex);
    if (scheduler->life.phase == HTW__ALIVE &&
        !atomic_load_explicit(&scheduler->threads_started, memory_order_relaxed)) {
        error = htw__workers_start(scheduler, all_workers);
        if (error == 0 && !htw__is_manual(scheduler))
            error = start_expirers(scheduler);
        if (error == 0)
            atomic_store_explicit(&scheduler->threads_started, true, memory_order_release);
    }
    htw__mutex_unlock(&scheduler->life.mutex);
    return error;
}

void htw__end_threads(struct htw_scheduler *scheduler) {
    atomic_store_explicit(&scheduler->stopping, true, memory_order_release);
    htw__work_queue_stop(&scheduler->work_queue);
    htw__life_wait_for_processing(&scheduler->life);
    for (unsigned i = 0; i < scheduler->life.expirers_started; i++)
        htw__expirer_join(&scheduler->expirers[i]);
    htw__workers_join(scheduler);
}
