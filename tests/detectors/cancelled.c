/* SPDX-License-Identifier: MIT */
/*
 * cancelled.c - threads are cancelled while they wait in htw_cancel_wait(): helgrind and DRD, which
 * do not see that such a thread holds its mutex again, must be silent with the suppression file.
 */
#define _GNU_SOURCE
#include <htw/scheduler.h>

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_running, may_end;

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    pthread_mutex_lock(&mutex);
    is_running = true;
    pthread_cond_broadcast(&changed);
    while (!may_end)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

struct wait {
    struct htw_scheduler *scheduler;
    htw_handle handle;
};

static void *wait_until_cancelled(void *arg) {
    struct wait *wait = arg;
    htw_cancel_wait(wait->scheduler, wait->handle);
    return arg;
}

int main(void) {
    struct wait wait = { NULL, 0 };
    if (htw_scheduler_create(&wait.scheduler, NULL) != 0 ||
        htw_schedule(wait.scheduler, 0, run, NULL, &wait.handle) != 0)
        return 2;
    pthread_mutex_lock(&mutex);
    while (!is_running)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, wait_until_cancelled, &wait) != 0)
            return 2;
        usleep(20000); /* so that it most likely waits */
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            return 2;
    }
    pthread_mutex_lock(&mutex);
    may_end = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return htw_scheduler_destroy(wait.scheduler) == 0 ? 0 : 2;
}
