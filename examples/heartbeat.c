/* SPDX-License-Identifier: MIT */
/*
 * heartbeat.c - a heartbeat every 20 ms, to a receiver that once takes 110 ms to accept it.
 *
 * At a fixed rate the beats are planned for start + n * period, so that they never drift. Beats that
 * pass while one is still being sent are skipped, not sent in a burst afterwards. The next beat gets
 * their number and sends it.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/observe.h>
#include <htw/scheduler.h>

#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#define PERIOD_NS (20 * HTW_MILLISECOND)
#define BEATS 10
#define SLOW_BEAT 4

struct heart {
    unsigned beats;
    uint64_t missed;
    int64_t first_ns;    /* for when the first beat was planned */
    bool slow_was_seen;  /* the beat after the slow one knew of at least four that were missed */
    bool drifted, early; /* must not be */
    sem_t enough;
};

/* The receiver, which may be slow. */
static void send_beat(unsigned number) {
    if (number == SLOW_BEAT)
        nanosleep(&(struct timespec) { .tv_nsec = 110 * HTW_MILLISECOND }, NULL);
}

/* Never runs twice at a time, so nothing here needs a lock. */
static void beat(void *arg, const struct htw_expiration *expiration) {
    struct heart *heart = arg;
    if (heart->beats == 0)
        heart->first_ns = expiration->deadline_ns;
    heart->beats++;
    heart->missed += expiration->missed;
    if (heart->beats == SLOW_BEAT + 1)
        heart->slow_was_seen = expiration->missed >= 4;
    int64_t periods = (int64_t)(heart->beats - 1 + heart->missed);
    heart->drifted =
        heart->drifted || expiration->deadline_ns - heart->first_ns != periods * PERIOD_NS;
    heart->early =
        heart->early || htw_scheduler_now(expiration->scheduler) < expiration->deadline_ns;
    printf("beat %2u, %4.1f ms late", heart->beats, (double)expiration->late_ns / 1e6);
    if (expiration->missed > 0)
        printf(", %" PRIu64 " missed", expiration->missed);
    putchar('\n');
    send_beat(heart->beats);
    if (heart->beats == BEATS)
        sem_post(&heart->enough);
}

int main(void) {
    struct htw_scheduler *scheduler;
    struct heart heart = { .beats = 0 };
    htw_handle handle;
    if (sem_init(&heart.enough, 0, 0) != 0 || htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_schedule_every(scheduler, PERIOD_NS, PERIOD_NS, HTW_REPEAT_SKIP, beat, &heart,
                           &handle) != 0)
        return 1;
    sem_wait(&heart.enough);
    /* One cancel ends it, also between two beats. After this none runs any more, so that `heart`
       may be read here, and might be freed. */
    int outcome = htw_cancel_wait(scheduler, handle);
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    htw_scheduler_get_stats(scheduler, &stats);
    printf("%" PRIu64 " beats, %" PRIu64 " missed\n", stats.runs, stats.missed);
    htw_scheduler_destroy(scheduler);
    bool ended = outcome == HTW_CANCELLED || outcome == HTW_RUNNING;
    return ended && heart.slow_was_seen && !heart.drifted && !heart.early ? 0 : 1;
}
