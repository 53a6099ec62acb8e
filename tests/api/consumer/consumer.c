/* SPDX-License-Identifier: MIT */
/*
 * consumer.c - a program outside htw's tree: a timer, in manual time, so that nothing depends on how fast the machine
 * is. Prints the version; fails where the headers are not those of the library.
 */
#include <htw/htw.h>

#include <stdio.h>
#include <string.h>

#if HTW_VERSION_NUMBER < 0x000200
#error "the headers of another version"
#endif

static void count(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(int *)arg;
}

int main(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    int runs = 0;
    printf("%s\n", htw_version());
    options.clock = HTW_CLOCK_MANUAL;
    if (strcmp(htw_version(), HTW_VERSION) != 0 ||
        htw_scheduler_create(&scheduler, &options) != 0 ||
        htw_schedule(scheduler, HTW_SECOND, count, &runs, NULL) != 0 ||
        htw_scheduler_advance(scheduler, HTW_SECOND) != 0)
        return 1;
    htw_scheduler_destroy(scheduler);
    return runs == 1 ? 0 : 1;
}
