/* SPDX-License-Identifier: MIT */
/*
 * background.h - a job in a thread of its own, so that the relay's thread need not wait: a commit, or questions to brokers.
 *
 * Calls are made by one thread. What the job uses is left alone from htw__background_begin() until
 * htw__background_take() has given the result.
 */
#ifndef HTW_RELAY_BACKGROUND_H
#define HTW_RELAY_BACKGROUND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct htw__background {
    int (*job)(void *context); /* called by the thread; returns the result */
    void *context;
    const char *name;
    int event_fd; /* is written to when a job has ended */
    pthread_t thread;
    bool is_in_flight; /* a job was begun, and its result was not taken */
    bool has_thread;   /* of that job */
    _Atomic bool is_done;
    int result;
};

/* Has a thread do the job; without one, it is done at once. None is in flight. The descriptor stays the caller's. */
void htw__background_begin(struct htw__background *background);

/* Takes the result of the job that is in flight. False: none is, or, without `wait`, it has not ended. */
bool htw__background_take(struct htw__background *background, bool wait, int *ret_result);

#endif /* HTW_RELAY_BACKGROUND_H */
