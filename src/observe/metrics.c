/* SPDX-License-Identifier: MIT */
/* metrics.c - writes metrics in the text format of Prometheus. */
#include "metrics.h"

#include <inttypes.h>

void htw__prometheus_describe(FILE *stream, const char *name, const char *type, const char *help) {
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void htw__prometheus_value(FILE *stream, const char *name, const char *help, uint64_t value) {
    char text[HTW__METRIC_TEXT];
    htw__prometheus_describe(stream, name, htw__metric_type(name), help);
    fprintf(stream, "%s %s\n", name, htw__metric_text(name, value, text));
}

void htw__prometheus_values(FILE *stream, const struct htw__metric *metrics, const void *stats) {
    for (const struct htw__metric *metric = metrics; metric->member != NULL; metric++) {
        char text[HTW__METRIC_TEXT];
        if (metric->name == NULL)
            continue;
        if (htw__metric_is_first(metric, metrics))
            htw__prometheus_describe(stream, metric->name, htw__metric_type(metric->name),
                                     metric->help);
        fputs(metric->name, stream);
        if (metric->label != NULL)
            fprintf(stream, "{%s=\"%s\"}", metric->label, metric->member);
        fprintf(stream, " %s\n",
                htw__metric_text(metric->name, htw__metric_value(metric, stats), text));
    }
}

void htw__prometheus_bucket(FILE *stream, const char *name, const char *limit, uint64_t count) {
    fprintf(stream, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name, limit, count);
}

void htw__prometheus_end(FILE *stream, const char *name, uint64_t sum, int decimals,
                         uint64_t count) {
    uint64_t per_second = 1;
    for (int i = 0; i < decimals; i++)
        per_second *= 10;
    htw__prometheus_bucket(stream, name, "+Inf", count);
    /* Not printed as a floating-point number: its decimal point would depend on the locale. */
    fprintf(stream, "%s_sum %" PRIu64 ".%0*" PRIu64 "\n", name, sum / per_second, decimals,
            sum % per_second);
    fprintf(stream, "%s_count %" PRIu64 "\n", name, count);
}

void htw__prometheus_histogram(FILE *stream, const char *name, const char *help,
                               const struct htw__histogram *histogram) {
    static const struct {
        const char *text;
        uint64_t ns;
    } limits[] = {
        { "1e-06", 1000 },     { "1e-05", 10000 },
        { "0.0001", 100000 },  { "0.00025", 250000 },
        { "0.0005", 500000 },  { "0.001", 1000000 },
        { "0.0025", 2500000 }, { "0.005", 5000000 },
        { "0.01", 10000000 },  { "0.025", 25000000 },
        { "0.05", 50000000 },  { "0.1", 100000000 },
        { "0.25", 250000000 }, { "0.5", 500000000 },
        { "1", 1000000000 },   { "10", UINT64_C(10000000000) },
    };
    htw__prometheus_describe(stream, name, "histogram", help);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        htw__prometheus_bucket(stream, name, limits[i].text,
                               htw__histogram_count_up_to(histogram, limits[i].ns));
    htw__prometheus_end(stream, name, htw__counter_read(&histogram->sum), 9,
                        htw__counter_read(&histogram->count));
}
