/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - a pthread mutex with a rank, for critical sections in which a thread may sleep or
 * make system calls. For shorter ones there is lock.h.
 *
 * Nothing here fails: the mutexes are plain ones, which one thread locks once.
 */
#ifndef HTW_SRC_BASE_MUTEX_H
#define HTW_SRC_BASE_MUTEX_H

#include "lock_rank.h"

#include <pthread.h>

struct htw__mutex {
    pthread_mutex_t mutex;
    HTW__LOCK_RANK_MEMBER
};

static inline void htw__mutex_init(struct htw__mutex *mutex, enum htw__lock_rank rank) {
    pthread_mutex_init(&mutex->mutex, NULL);
    HTW__LOCK_RANK_INIT(mutex, rank);
}

static inline void htw__mutex_fini(struct htw__mutex *mutex) {
    pthread_mutex_destroy(&mutex->mutex);
}

static inline void htw__mutex_lock(struct htw__mutex *mutex) {
    HTW__LOCK_RANK_ACQUIRE(mutex);
    pthread_mutex_lock(&mutex->mutex);
}

static inline void htw__mutex_unlock(struct htw__mutex *mutex) {
    HTW__LOCK_RANK_RELEASE(mutex);
    pthread_mutex_unlock(&mutex->mutex);
}

/* Waits for a condition, with the mutex and no other lock held. The thread is not cancelled here: the
   mutex would stay locked. */
static inline void htw__mutex_wait(struct htw__mutex *mutex, pthread_cond_t *condition) {
    int cancel_state;
    HTW__LOCK_RANK_SLEEP(mutex);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_cond_wait(condition, &mutex->mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

/* Waits until `deadline` at the latest, by the clock of the condition. */
static inline void htw__mutex_wait_until(struct htw__mutex *mutex, pthread_cond_t *condition,
                                         const struct timespec *deadline) {
    int cancel_state;
    HTW__LOCK_RANK_SLEEP(mutex);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_cond_timedwait(condition, &mutex->mutex, deadline);
    pthread_setcancelstate(cancel_state, NULL);
}

#endif /* HTW_SRC_BASE_MUTEX_H */
