/* SPDX-License-Identifier: MIT */
/* manual_time.h - schedulers whose time a test sets. */
#ifndef TESTS_MANUAL_TIME_H
#define TESTS_MANUAL_TIME_H

#include <htw/scheduler.h>

#include <stddef.h>

/** With one shard and no threads. */
static inline struct htw_scheduler_options manual_options(int64_t start_ns) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = start_ns;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    return options;
}

/** NULL: it could not be created. */
static inline struct htw_scheduler *manual_scheduler(int64_t start_ns) {
    struct htw_scheduler *scheduler = NULL;
    struct htw_scheduler_options options = manual_options(start_ns);
    return htw_scheduler_create(&scheduler, &options) == 0 ? scheduler : NULL;
}

#endif /* TESTS_MANUAL_TIME_H */
