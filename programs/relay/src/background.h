/* SPDX-License-Identifier: MIT */
/*
 * background.h - a thread that does one job at a time, so that the relay's own thread need not wait: a commit, or questions
 * to brokers.
 *
 * Calls are made by one thread. What the job uses is left alone from htw__background_begin() until
 * htw__background_take() has given the result.
 */
#ifndef HTW_RELAY_BACKGROUND_H
#define HTW_RELAY_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

struct htw__background {
    int (*job)(void *context); /* called by the thread; returns the result */
    void *context;
    int event_fd; /* is written to when a job has ended */
    pthread_t thread;
    bool is_running;
    bool is_in_flight;      /* a job was begun, and its result was not taken: the caller's alone */
    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* there is work, or it is done, or the thread must end */
    bool has_work, is_done, must_end;
    int result;
};

/* Starts the thread. The descriptor stays the caller's, and outlives it. Returns 0 or a negative errno. */
int htw__background_start(struct htw__background *background, const char *name,
                          int (*job)(void *context), void *context, int event_fd);

/* Ends it, after the job that is in flight. One that was not started, but is zero, may be stopped. */
void htw__background_stop(struct htw__background *background);

/* Has the thread do its job. None is in flight. */
void htw__background_begin(struct htw__background *background);

/* Takes the result of the job that is in flight. False: none is, or, without `wait`, it has not ended. */
bool htw__background_take(struct htw__background *background, bool wait, int *ret_result);

#endif /* HTW_RELAY_BACKGROUND_H */
