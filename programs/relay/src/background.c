/* SPDX-License-Identifier: MIT */
/* background.c - a thread that does one job at a time. */
#include "background.h"

#include "../../../src/base/assert.h"
#include "../../../src/base/thread.h"

#include <stdint.h>
#include <unistd.h>

static void *run(void *context) {
    static const uint64_t one = 1;
    struct htw__background *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (!self->has_work && !self->must_end)
            pthread_cond_wait(&self->changed, &self->lock);
        if (!self->has_work)
            break;
        pthread_mutex_unlock(&self->lock);
        int result = self->job(self->context);
        pthread_mutex_lock(&self->lock);
        self->result = result;
        self->has_work = false;
        self->is_done = true;
        pthread_cond_broadcast(&self->changed);
        (void)!write(self->event_fd, &one, sizeof(one));
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

int htw__background_start(struct htw__background *self, const char *name, int (*job)(void *context),
                          void *context, int event_fd) {
    *self = (struct htw__background) { .job = job, .context = context, .event_fd = event_fd };
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    int error = htw__thread_start(&self->thread, "htw", name, 0, run, self);
    self->is_running = error == 0;
    if (!self->is_running) {
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->lock);
    }
    return error;
}

void htw__background_stop(struct htw__background *self) {
    if (!self->is_running)
        return;
    pthread_mutex_lock(&self->lock);
    self->must_end = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    *self = (struct htw__background) { .job = NULL };
}

void htw__background_begin(struct htw__background *self) {
    HTW_ASSERT(self->is_running && !self->is_in_flight);
    self->is_in_flight = true;
    pthread_mutex_lock(&self->lock);
    self->has_work = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

bool htw__background_take(struct htw__background *self, bool wait, int *ret_result) {
    if (!self->is_in_flight)
        return false;
    pthread_mutex_lock(&self->lock);
    while (wait && !self->is_done)
        pthread_cond_wait(&self->changed, &self->lock);
    bool is_done = self->is_done;
    self->is_done = false;
    *ret_result = self->result;
    pthread_mutex_unlock(&self->lock);
    self->is_in_flight = !is_done;
    return is_done;
}
