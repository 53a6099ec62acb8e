/* SPDX-License-Identifier: MIT */
/* hello.c - the smallest program: of two timers one runs, and one is cancelled. */
#include <htw/scheduler.h>
#include <stdio.h>
#include <unistd.h>

/* Runs in a thread of the scheduler. */
static void greet(void *arg, const struct htw_expiration *expiration) {
    printf("hello, %s: %lld us late\n", (const char *)arg, (long long)expiration->late_ns / 1000);
}

int main(void) {
    struct htw_scheduler *scheduler;
    htw_handle handle;
    if (htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_schedule(scheduler, 50 * HTW_MILLISECOND, greet, "world", NULL) != 0 ||
        htw_schedule(scheduler, 60 * HTW_SECOND, greet, "stranger", &handle) != 0)
        return 1;
    sleep(1);
    int outcome = htw_cancel(scheduler, handle); /* HTW_CANCELLED: it does not run */
    htw_scheduler_destroy(scheduler);
    return outcome == HTW_CANCELLED ? 0 : 1;
}
