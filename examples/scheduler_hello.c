/* SPDX-License-Identifier: MIT */
/* scheduler_hello.c - of three timers one runs, one is cancelled, and stop hands one back. */
#include <htw/scheduler.h>

#include <semaphore.h>
#include <stdio.h>

static sem_t greeted;

static void greet(void *arg,
                  const struct htw_expiration *expiration) { /* in a thread of the scheduler */
    (void)expiration; /* it also says how late it is, and its own handle */
    printf("hello, %s\n", (const char *)arg);
    sem_post(&greeted);
}

static void not_greeted(void *context, const struct htw_unexpired *unexpired) {
    printf("no time for %s\n", (const char *)unexpired->arg);
    ++*(int *)context;
}

int main(void) {
    struct htw_scheduler *scheduler;
    htw_handle handle;
    int left = 0;
    if (sem_init(&greeted, 0, 0) != 0 || htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_schedule(scheduler, 50 * HTW_MILLISECOND, greet, "world", NULL) != 0 ||
        htw_schedule(scheduler, 60 * HTW_SECOND, greet, "stranger", &handle) != 0 ||
        htw_schedule(scheduler, 3600 * HTW_SECOND, greet, "sleeper", NULL) != 0)
        return 1;
    bool cancelled = htw_cancel(scheduler, handle) == HTW_CANCELLED; /* it will not run */
    sem_wait(&greeted);
    htw_scheduler_stop(scheduler, not_greeted, &left); /* gives back what is left */
    htw_scheduler_destroy(scheduler);
    return cancelled && left == 1 ? 0 : 1;
}
