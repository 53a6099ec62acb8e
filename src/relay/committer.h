/* SPDX-License-Identifier: MIT */
/*
 * committer.h - a thread that commits, one commit at a time, so that the relay's own thread need not wait.
 *
 * Calls are made by one thread. What the commit reads is left alone from htw__committer_begin() until
 * htw__committer_take() has given the result.
 */
#ifndef HTW_SRC_RELAY_COMMITTER_H
#define HTW_SRC_RELAY_COMMITTER_H

#include <pthread.h>
#include <stdbool.h>

struct htw__committer {
    int (*commit)(void *context); /* called by the thread; returns the result */
    void *context;
    int event_fd; /* is written to when a commit has ended */
    pthread_t thread;
    bool is_running;
    bool is_in_flight;    /* a commit was begun, and its result was not taken: the caller's alone */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed; /* there is work, or it is done, or the thread must end */
    bool has_work, is_done, must_end;
    int result;
};

/* Starts the thread. The descriptor stays the caller's, and outlives it. Returns 0 or a negative errno. */
int htw__committer_start(struct htw__committer *committer, int (*commit)(void *context),
                         void *context, int event_fd);

/* Ends it, after the commit that is in flight. One that was not started, but is zero, may be stopped. */
void htw__committer_stop(struct htw__committer *committer);

/* Has the thread commit. None is in flight. */
void htw__committer_begin(struct htw__committer *committer);

/* Takes the result of the commit that is in flight. False: none is, or, without `wait`, it has not ended. */
bool htw__committer_take(struct htw__committer *committer, bool wait, int *ret_result);

#endif /* HTW_SRC_RELAY_COMMITTER_H */
