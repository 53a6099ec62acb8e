/* SPDX-License-Identifier: MIT */
/*
 * consumer.c - a program outside htw's tree: one timer of the wheel, one of the scheduler. Prints
 * the version; fails where the headers are not those of the library.
 */
#include <htw/htw.h>

#include <stdio.h>
#include <string.h>

#if HTW_VERSION_NUMBER < 0x000200
#error "the headers of another version"
#endif

static int expires_in_wheel(void) {
    struct htw_wheel *wheel;
    struct htw_timer timer;
    if (htw_wheel_create(&wheel, NULL) != 0)
        return 0;
    htw_timer_init(&timer);
    int right = htw_wheel_schedule(wheel, &timer, 1000) == 0 &&
                htw_wheel_poll(wheel, 999) == NULL && htw_wheel_poll(wheel, 1000) == &timer;
    htw_wheel_destroy(wheel);
    return right;
}

static void count(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(int *)arg;
}

/* In manual time, so that nothing depends on how fast the machine is. */
static int expires_in_scheduler(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    int runs = 0;
    options.clock = HTW_CLOCK_MANUAL;
    if (htw_scheduler_create(&scheduler, &options) != 0)
        return 0;
    int scheduled = htw_schedule(scheduler, HTW_SECOND, count, &runs, NULL);
    htw_scheduler_advance(scheduler, HTW_SECOND);
    htw_scheduler_destroy(scheduler);
    return scheduled == 0 && runs == 1;
}

int main(void) {
    printf("%s\n", htw_version());
    return strcmp(htw_version(), HTW_VERSION) == 0 && expires_in_wheel() && expires_in_scheduler()
               ? 0
               : 1;
}
