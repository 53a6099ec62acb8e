/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - writes samples for Prometheus: the metrics of htw_scheduler_prometheus() and
 * htw_purgatory_prometheus(), and those of htw_journal_prometheus() but histograms, with the name of the source as a label. All samples of a metric stand
 * together, as the format wants it.
 */
#include "metrics.h"

#include <inttypes.h>
#include <unistd.h>

struct writer {
    struct htw__sample *samples; /* of the kind, without those that have failed */
    unsigned count;
    enum htw__source_kind kind;
    struct htw__answer_text *text;
};

static void keep(void *context, const struct htw__sample *sample) {
    struct writer *self = context;
    if (sample->error == 0)
        self->samples[self->count++] = *sample;
}

/* The next sample, from `index` on; NULL: none. */
static const struct htw__sample *next(const struct writer *self, unsigned *index) {
    return *index < self->count ? &self->samples[(*index)++] : NULL;
}

static void describe(const struct writer *self, const char *metric, const char *type,
                     const char *help) {
    htw__text_add(self->text, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

static void write_field(const struct writer *self, const struct htw__field *field) {
    const struct htw__sample *sample;
    unsigned index = 0;
    char text[HTW__METRIC_TEXT];
    const struct htw__metric *metric = &field->metric;
    describe(self, metric->name, htw__metric_type(metric->name), metric->help);
    while ((sample = next(self, &index)) != NULL)
        htw__text_add(self->text, "%s{%s=\"%s\"} %s\n", metric->name, htw__kind_name(self->kind),
                      sample->name,
                      htw__metric_text(metric->name, htw__sample_value(sample, field), text));
}

static void write_fields(const struct writer *self) {
    for (const struct htw__field *field = htw__fields(self->kind); field->name != NULL; field++)
        if (field->metric.name != NULL)
            write_field(self, field);
}

/* ---- histograms: counts[i] is of what is less than 2^i units, the last of all that is more */

struct histogram {
    const char *metric;
    const char *name; /* of the source */
    const uint64_t *counts;
    unsigned buckets;
    unsigned unit_decimals; /* a unit is 10^-unit_decimals seconds */
    uint64_t sum;
    unsigned sum_decimals;
};

static uint64_t power_of_ten(unsigned exponent) {
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

static void write_histogram(const struct writer *self, const struct histogram *histogram) {
    const char *kind = htw__kind_name(self->kind);
    uint64_t unit = power_of_ten(histogram->unit_decimals);
    uint64_t below = 0;
    for (unsigned i = 0; i + 1 < histogram->buckets; i++) {
        uint64_t limit = (uint64_t)1 << i;
        below += histogram->counts[i];
        htw__text_add(self->text,
                      "%s_bucket{%s=\"%s\",le=\"%" PRIu64 ".%0*" PRIu64 "\"} %" PRIu64 "\n",
                      histogram->metric, kind, histogram->name, limit / unit,
                      (int)histogram->unit_decimals, limit % unit, below);
    }
    below += histogram->counts[histogram->buckets - 1];
    unit = power_of_ten(histogram->sum_decimals);
    htw__text_add(self->text,
                  "%s_bucket{%s=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
                  "%s_sum{%s=\"%s\"} %" PRIu64 ".%0*" PRIu64 "\n"
                  "%s_count{%s=\"%s\"} %" PRIu64 "\n",
                  histogram->metric, kind, histogram->name, below, histogram->metric, kind,
                  histogram->name, histogram->sum / unit, (int)histogram->sum_decimals,
                  histogram->sum % unit, histogram->metric, kind, histogram->name, below);
}

static void write_durations(const struct writer *self, bool of_callbacks) {
    const char *metric = of_callbacks ? "htw_callback_seconds" : "htw_lateness_seconds";
    const struct htw__sample *sample;
    unsigned index = 0;
    describe(self, metric, "histogram",
             of_callbacks ? "How long callbacks took."
                          : "From the deadline to the callback's start.");
    while ((sample = next(self, &index)) != NULL) {
        const struct htw_scheduler_stats *stats = &sample->of.scheduler.stats;
        const struct htw_scheduler_histograms *both = &sample->of.scheduler.histograms;
        write_histogram(self, &(struct histogram) {
                                  .metric = metric,
                                  .name = sample->name,
                                  .counts = of_callbacks ? both->callback : both->lateness,
                                  .buckets = HTW_SCHEDULER_HISTOGRAM_BUCKETS,
                                  .unit_decimals = 6,
                                  .sum = (of_callbacks ? stats->callback : stats->lateness).sum_ns,
                                  .sum_decimals = 9,
                              });
    }
}

static void write_ended(const struct writer *self) {
    const struct htw__sample *sample;
    unsigned index = 0;
    describe(self, "htw_purgatory_ended_total", "counter", "Requests that have ended.");
    while ((sample = next(self, &index)) != NULL) {
        const struct htw_purgatory_stats *stats = &sample->of.purgatory;
        const struct {
            const char *reason;
            uint64_t count;
        } ended[] = { { "completed", stats->completed },
                      { "expired", stats->expired },
                      { "cancelled", stats->cancelled },
                      { "closed", stats->closed } };
        for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++)
            htw__text_add(self->text,
                          "htw_purgatory_ended_total{purgatory=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                          sample->name, ended[i].reason, ended[i].count);
    }
}

static void write_waits(const struct writer *self) {
    const struct htw__sample *sample;
    unsigned index = 0;
    describe(self, "htw_purgatory_wait_seconds", "histogram",
             "How long requests waited; under load, of a sample.");
    while ((sample = next(self, &index)) != NULL)
        write_histogram(self, &(struct histogram) { .metric = "htw_purgatory_wait_seconds",
                                                    .name = sample->name,
                                                    .counts = sample->of.purgatory.waits,
                                                    .buckets = HTW_PURGATORY_WAIT_BUCKETS,
                                                    .unit_decimals = 3,
                                                    .sum = sample->of.purgatory.waited_ms,
                                                    .sum_decimals = 3 });
}

static void write_kind(struct writer *self, const struct htw__sources *sources,
                       enum htw__source_kind kind) {
    self->kind = kind;
    self->count = 0;
    htw__sources_visit(sources, kind, keep, self);
    if (self->count == 0)
        return;
    write_fields(self);
    if (kind == HTW__SOURCE_SCHEDULER) {
        write_durations(self, false);
        write_durations(self, true);
    } else if (kind == HTW__SOURCE_PURGATORY) {
        write_ended(self);
        write_waits(self);
    }
}

/* Without memory the text has failed. */
static void write_sources(struct htw_monitor *monitor, struct writer *writer) {
    struct htw__sources sources = htw__sources_now(monitor);
    size_t size = sources.count * sizeof(*writer->samples);
    if (size == 0)
        return;
    writer->samples = htw__allocate(&monitor->allocator, size);
    writer->text->has_failed |= writer->samples == NULL;
    if (writer->samples == NULL)
        return;
    write_kind(writer, &sources, HTW__SOURCE_SCHEDULER);
    write_kind(writer, &sources, HTW__SOURCE_PURGATORY);
    write_kind(writer, &sources, HTW__SOURCE_JOURNAL);
    write_kind(writer, &sources, HTW__SOURCE_WHEEL);
    htw__release(&monitor->allocator, writer->samples, size);
}

void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    struct writer writer = { .text = text };
    describe(&writer, "htw_info", "gauge", "The version of htw and the process.");
    htw__text_add(text, "htw_info{version=\"%s\",pid=\"%ld\"} 1\n", htw_version(), (long)getpid());
    write_sources(monitor, &writer);
}
