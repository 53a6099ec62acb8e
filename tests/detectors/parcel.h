/* SPDX-License-Identifier: MIT */
/*
 * parcel.h - what the programs for race detectors share: parcels that pass through the library.
 *
 * The programs are built and run against the installed library, as a user's would be. They
 * synchronise by the library alone wherever they can: a mutex of their own would order the threads
 * and so hide what the library fails to tell. helgrind and DRD take atomics for plain accesses, so
 * there is none.
 */
#ifndef HTW_TESTS_DETECTORS_PARCEL_H
#define HTW_TESTS_DETECTORS_PARCEL_H

#include <htw/htw.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not assert(): the programs are built with the flags of the test. */
#define REQUIRE(condition)                                                  \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(2);                                                        \
        }                                                                   \
    } while (0)

/* Written by one thread, then by another. */
struct parcel {
    long number;
    long opened; /* how often */
    htw_handle handle;
    struct htw_scheduler *scheduler;
};

static inline struct htw_scheduler *create_scheduler(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.workers = 3;
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    return scheduler;
}

static inline void destroy_scheduler(struct htw_scheduler *scheduler) {
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

static inline struct parcel *parcel_create(struct htw_scheduler *scheduler, long number) {
    struct parcel *parcel = malloc(sizeof(*parcel));
    REQUIRE(parcel != NULL);
    *parcel = (struct parcel) { .number = number, .scheduler = scheduler };
    return parcel;
}

/* Reads and writes. */
static inline void parcel_open(struct parcel *parcel) {
    REQUIRE(parcel->number >= 0);
    parcel->opened++;
}

static inline void parcel_free(void *arg) {
    parcel_open(arg);
    free(arg);
}

static inline void sleep_ms(long ms) {
    struct timespec duration = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&duration, NULL);
}

/* Does not order this thread after the callbacks. */
static inline void wait_until_none_is_pending(struct htw_scheduler *scheduler) {
    while (htw_pending(scheduler) > 0)
        sleep_ms(1);
}

#endif /* HTW_TESTS_DETECTORS_PARCEL_H */
