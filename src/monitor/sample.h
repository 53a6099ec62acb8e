/* SPDX-License-Identifier: MIT */
/* sample.h - the statistics of all sources at a time, and what each number is called. */
#ifndef HTW_SRC_MONITOR_SAMPLE_H
#define HTW_SRC_MONITOR_SAMPLE_H

#include "state.h"

struct htw__sample {
    struct htw_monitor_source *source;
    int error; /* a negative errno: there is nothing else */
    union {
        struct {
            struct htw_scheduler_stats stats;
            struct htw_scheduler_histograms histograms;
        } scheduler;
        struct htw_purgatory_stats purgatory;
        struct htw_wheel_stats wheel;
    } of;
};

/* A number of 64 bits in the struct of statistics of a kind. */
struct htw__field {
    const char *name;   /* in JSON */
    const char *metric; /* for Prometheus; NULL: not there, or apart */
    bool is_counter;    /* otherwise a gauge */
    const char *help;
    size_t offset;
};

/* All fields of a kind; the last one has no name. */
const struct htw__field *htw__fields(enum htw__source_kind kind);

uint64_t htw__sample_value(const struct htw__sample *sample, const struct htw__field *field);

/* "scheduler", "purgatory" or "wheel". */
const char *htw__kind_name(enum htw__source_kind kind);

/* A sample of each source, in the order of the list. NULL: no memory, or no source. Under the lock of
   the monitor, until it is released. */
struct htw__sample *htw__samples_take(struct htw_monitor *monitor);
void htw__samples_release(struct htw_monitor *monitor, struct htw__sample *samples);

#endif /* HTW_SRC_MONITOR_SAMPLE_H */
