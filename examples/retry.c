/* SPDX-License-Identifier: MIT */
/*
 * retry.c - exponential backoff: a request to a server that is down for a while.
 *
 * The callback of the timer makes the attempt. When it fails, it schedules the same timer again, each
 * time for about twice as long. No thread sleeps meanwhile, so a million such requests may wait.
 */
#include <htw/backoff.h>
#include <htw/scheduler.h>

#include <semaphore.h>
#include <stdio.h>

#define ATTEMPTS_MAX 8

struct request {
    struct htw_backoff backoff;
    int64_t not_before_ns; /* when the next attempt may be made */
    unsigned attempts;
    bool succeeded, too_early;
    sem_t over;
};

/* What may fail: here, the server is up again at the fifth attempt. */
static bool send_request(const struct request *request) {
    return request->attempts == 5;
}

/* Whether another attempt follows. */
static bool try_again_later(struct request *request, const struct htw_expiration *expiration) {
    if (htw_backoff_attempts(&request->backoff) + 1 >= ATTEMPTS_MAX)
        return false; /* enough attempts */
    int64_t delay_ns = htw_backoff_next(&request->backoff);
    request->not_before_ns = htw_scheduler_now(expiration->scheduler) + delay_ns;
    printf("attempt %u failed; the next one in %.1f ms\n", request->attempts,
           (double)delay_ns / 1e6);
    /* From its own callback, this gives the timer another life under the same handle, by which
       others can cancel it. It fails only when the scheduler is being stopped, or is full. */
    return htw_reschedule(expiration->scheduler, expiration->handle, delay_ns) == HTW_MOVED;
}

static void attempt(void *arg, const struct htw_expiration *expiration) {
    struct request *request = arg;
    if (htw_scheduler_now(expiration->scheduler) < request->not_before_ns)
        request->too_early = true;
    request->attempts++;
    request->succeeded = send_request(request);
    if (!request->succeeded && try_again_later(request, expiration))
        return; /* another thread may be in the next attempt already */
    sem_post(&request->over);
}

int main(void) {
    struct htw_scheduler *scheduler;
    struct request request = { .attempts = 0 };
    struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
    options.initial_ns = 20 * HTW_MILLISECOND;
    options.cap_ns = HTW_SECOND;
    options.seed = 2026; /* each client its own, so that they do not return all together */
    if (sem_init(&request.over, 0, 0) != 0 || htw_backoff_init(&request.backoff, &options) != 0 ||
        htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_schedule(scheduler, 0, attempt, &request, NULL) != 0)
        return 1;
    sem_wait(&request.over);
    htw_scheduler_destroy(scheduler); /* waits for the callback to return */
    printf("attempt %u %s\n", request.attempts, request.succeeded ? "succeeded" : "was the last");
    return request.succeeded && request.attempts == 5 && !request.too_early ? 0 : 1;
}
