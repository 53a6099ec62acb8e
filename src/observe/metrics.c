/* SPDX-License-Identifier: MIT */
/* metrics.c - writes metrics in the text format of Prometheus. */
#include "metrics.h"

#include <inttypes.h>
#include <string.h>

#define NUMBER_SIZE 32

void htw__prometheus_describe(FILE *stream, const char *name, const char *help, const char *type) {
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void htw__metric_describe(FILE *stream, const struct htw__metric *metric,
                          const struct htw__metric *table) {
    const char *type = metric->buckets > 0                      ? "histogram"
                       : strstr(metric->name, "_total") != NULL ? "counter"
                                                                : "gauge";
    if (metric == table || metric[-1].name == NULL || strcmp(metric->name, metric[-1].name) != 0)
        htw__prometheus_describe(stream, metric->name, metric->help, type);
}

/* Not printed as a floating-point number, whose decimal point would depend on the locale. Returns `text`. */
static const char *format_seconds(uint64_t number, unsigned decimals, char text[NUMBER_SIZE]) {
    uint64_t second = 1;
    for (unsigned i = 0; i < decimals; i++)
        second *= 10;
    snprintf(text, NUMBER_SIZE, "%" PRIu64 ".%0*" PRIu64, number / second, (int)decimals,
             number % second);
    return text;
}

/* Begins a sample: the number follows. `label` NULL: it has no more than `labels`. */
static void begin_sample(FILE *stream, const char *name, const char *suffix, const char *labels,
                         const char *label, const char *value) {
    fprintf(stream, "%s%s", name, suffix);
    if (label != NULL)
        fprintf(stream, "{%s%s%s=\"%s\"} ", labels, *labels != '\0' ? "," : "", label, value);
    else
        fprintf(stream, *labels != '\0' ? "{%s} " : "%s ", labels);
}

static void write_histogram(FILE *stream, const struct htw__metric *metric, const char *labels,
                            const char *stats) {
    const uint64_t *counts = (const void *)(stats + metric->offset);
    const uint64_t *sum = (const void *)(stats + metric->sum);
    char text[NUMBER_SIZE];
    uint64_t count = 0;
    for (unsigned i = 0; i < metric->buckets; i++) {
        const char *limit = format_seconds((uint64_t)1 << i, metric->decimals, text);
        count += counts[i];
        begin_sample(stream, metric->name, "_bucket", labels, "le",
                     i + 1 < metric->buckets ? limit : "+Inf");
        fprintf(stream, "%" PRIu64 "\n", count);
    }
    begin_sample(stream, metric->name, "_sum", labels, NULL, NULL);
    fprintf(stream, "%s\n", format_seconds(*sum, metric->sum_decimals, text));
    begin_sample(stream, metric->name, "_count", labels, NULL, NULL);
    fprintf(stream, "%" PRIu64 "\n", count);
}

void htw__metric_write(FILE *stream, const struct htw__metric *metric, const char *labels,
                       const void *stats) {
    char text[NUMBER_SIZE];
    if (metric->buckets > 0) {
        write_histogram(stream, metric, labels, stats);
        return;
    }
    uint64_t value = htw__metric_value(metric, stats);
    begin_sample(stream, metric->name, "", labels, metric->label, metric->member);
    if (strstr(metric->name, "_seconds") != NULL) /* it is in nanoseconds */
        fprintf(stream, "%s\n", format_seconds(value, 9, text));
    else
        fprintf(stream, "%" PRIu64 "\n", value);
}

void htw__prometheus_values(FILE *stream, const struct htw__metric *metrics, const void *stats) {
    for (const struct htw__metric *metric = metrics; metric->member != NULL; metric++)
        if (metric->name != NULL) {
            htw__metric_describe(stream, metric, metrics);
            htw__metric_write(stream, metric, "", stats);
        }
}

void htw__prometheus_histogram(FILE *stream, const char *name, const char *help,
                               const struct htw__histogram *histogram, unsigned decimals) {
    struct copy {
        uint64_t counts[HTW_SCHEDULER_HISTOGRAM_BUCKETS], sum;
    } copy = { .sum = htw__counter_read(&histogram->sum) };
    const struct htw__metric metric = { .name = name,
                                        .help = help,
                                        .sum = offsetof(struct copy, sum),
                                        .buckets = HTW_SCHEDULER_HISTOGRAM_BUCKETS,
                                        .decimals = decimals - 3,
                                        .sum_decimals = decimals };
    htw__histogram_copy(histogram, copy.counts);
    htw__metric_describe(stream, &metric, &metric);
    htw__metric_write(stream, &metric, "", &copy);
}
