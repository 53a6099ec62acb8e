/* SPDX-License-Identifier: MIT */
/* life.c - whether a scheduler runs, is being stopped or has stopped, and whether a thread of the
   user is in process(), advance() or set_time(). */
#include "life.h"

#include "../base/annotate.h"

#include <errno.h>

void htw__life_init(struct htw__life *life) {
    /* For helgrind a mutex is free before its owner has written to it for the last time. */
    HTW__ANNOTATE_ATOMIC(&life->mutex, sizeof(life->mutex));
    htw__mutex_init(&life->mutex, HTW__RANK_SCHEDULER_LIFE);
    pthread_cond_init(&life->changed, NULL);
    life->phase = HTW__ALIVE;
}

void htw__life_fini(struct htw__life *life) {
    pthread_cond_destroy(&life->changed);
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
    pthread_cond_broadcast(&life->changed);
    htw__mutex_unlock(&life->mutex);
}

void htw__life_wait_for_processing(struct htw__life *life) {
    htw__mutex_lock(&life->mutex);
    while (life->processing)
        htw__mutex_wait(&life->mutex, &life->changed);
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
    pthread_cond_broadcast(&life->changed);
    htw__mutex_unlock(&life->mutex);
}
