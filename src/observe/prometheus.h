/* SPDX-License-Identifier: MIT */
/*
 * prometheus.h - writes metrics in the text format of Prometheus, version 0.0.4.
 *
 * Names are complete ("htw_pending"). Errors of the stream are for the caller to check at the end.
 */
#ifndef HTW_SRC_OBSERVE_PROMETHEUS_H
#define HTW_SRC_OBSERVE_PROMETHEUS_H

#include "../base/histogram.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The HELP and TYPE lines of a metric whose samples the caller writes. */
void htw__prometheus_describe(FILE *stream, const char *name, const char *type, const char *help);

/* The type of a metric of single values: what has "_total" in its name is a counter. */
static inline const char *htw__metric_type(const char *name) {
    return strstr(name, "_total") != NULL ? "counter" : "gauge";
}

/* The value of such a metric: what has "_seconds" in its name is in nanoseconds. Not printed as a floating-point number,
   whose decimal point would depend on the locale. Returns `text`. */
#define HTW__METRIC_TEXT 32
static inline char *htw__metric_text(const char *name, uint64_t value,
                                     char text[HTW__METRIC_TEXT]) {
    if (strstr(name, "_seconds") != NULL)
        snprintf(text, HTW__METRIC_TEXT, "%" PRIu64 ".%09" PRIu64, value / 1000000000,
                 value % 1000000000);
    else
        snprintf(text, HTW__METRIC_TEXT, "%" PRIu64, value);
    return text;
}

/* A whole metric of one sample. */
void htw__prometheus_value(FILE *stream, const char *name, const char *help, uint64_t value);

/* Such a metric of which the value is a uint64_t in a struct of statistics. */
struct htw__metric {
    const char *name, *help;
    size_t offset;
};

static inline uint64_t htw__metric_value(const struct htw__metric *metric, const void *stats) {
    return *(const uint64_t *)(const void *)((const char *)stats + metric->offset);
}

HTW__SHARED void htw__prometheus_values(FILE *stream, const struct htw__metric *metrics,
                                        size_t count, const void *stats);

/*
 * A histogram of durations: describe() with the type "histogram"; then bucket() for each limit in
 * ascending order, with the number of values up to that limit; then end(). `limit` is in seconds.
 * `sum` is in units of 10^-`decimals` seconds; `count` includes the values above the last limit.
 */
void htw__prometheus_bucket(FILE *stream, const char *name, const char *limit, uint64_t count);
void htw__prometheus_end(FILE *stream, const char *name, uint64_t sum, int decimals,
                         uint64_t count);

/* A whole metric of durations in nanoseconds. No thread records meanwhile. */
HTW__SHARED void htw__prometheus_histogram(FILE *stream, const char *name, const char *help,
                                           const struct htw__histogram *histogram);

#endif /* HTW_SRC_OBSERVE_PROMETHEUS_H */
