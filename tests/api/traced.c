/* SPDX-License-Identifier: MIT */
/*
 * traced.c - what trace.py traces: a line of input lets it run its timers, the end of input lets it end.
 *
 * One timer a wake-up, of two kinds in turn: with a site and without.
 */
#include <htw/scheduler.h>
#include <htw/timer.h>

#include <semaphore.h>
#include <stdio.h>

#define TIMERS 10

static void close_idle(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    sem_post(arg);
}

static void retry(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    sem_post(arg);
}

/* One after the other, so that each wakes the expirer. Returns 0, or -1. */
static int run(struct htw_scheduler *scheduler, sem_t *ended) {
    for (int i = 0; i < TIMERS; i++) {
        if (htw_schedule_here(scheduler, HTW_MILLISECOND, HTW_HERE(close_idle, "idle"), ended,
                              NULL) != 0)
            return -1;
        sem_wait(ended);
        if (htw_schedule(scheduler, HTW_MILLISECOND, retry, ended, NULL) != 0)
            return -1;
        sem_wait(ended);
    }
    return 0;
}

int main(void) {
    struct htw_scheduler *scheduler;
    sem_t ended;
    sem_init(&ended, 0, 0);
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        return 1;
    puts("ready"); /* and the page of the names of the site is in memory */
    fflush(stdout);
    int error = getchar() == EOF ? -1 : run(scheduler, &ended);
    puts("done");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    htw_scheduler_destroy(scheduler);
    return error == 0 ? 0 : 1;
}
