/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - writes samples for Prometheus: the metrics of htw_scheduler_prometheus() and
 * htw_purgatory_prometheus(), and those of htw_journal_prometheus() but histograms, with the name of the source as a label. All samples of a metric stand
 * together, as the format wants it.
 */
#include "metrics.h"

#include "queues.h"
#include "sites.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* A sample, and what is shown of its parts. */
struct kept {
    struct htw__sample sample;
    struct htw__site_rows sites;    /* without rows: they are not counted */
    struct htw__queue_rows *queues; /* NULL: none */
};

struct writer {
    struct kept *kept; /* of the kind, without those that have failed */
    unsigned count;
    uint32_t sources; /* in all */
    enum htw__source_kind kind;
    struct htw__answer_text *text;
};

static void keep_sites(struct writer *self, struct kept *kept) {
    struct htw_scheduler *scheduler = kept->sample.source->of.scheduler;
    if ((htw_scheduler_observed(scheduler) & HTW_OBSERVE_SITES) == 0)
        return;
    htw__greatest_init(&kept->sites.greatest, self->sources);
    kept->sites.rows =
        htw__allocate(self->text->allocator, kept->sites.greatest.most * sizeof(*kept->sites.rows));
    self->text->has_failed |=
        kept->sites.rows == NULL || htw__site_rows_take(&kept->sites, scheduler) != 0;
}

static void keep_queues(struct writer *self, struct kept *kept) {
    if (kept->sample.source->of.journal.list_queues == NULL)
        return;
    kept->queues = htw__allocate(self->text->allocator, sizeof(*kept->queues));
    self->text->has_failed |=
        kept->queues == NULL ||
        htw__queue_rows_take(kept->queues, kept->sample.source, self->sources) != 0;
}

static void keep(void *context, const struct htw__sample *sample) {
    struct writer *self = context;
    if (sample->error != 0)
        return;
    struct kept *kept = &self->kept[self->count++];
    *kept = (struct kept) { .sample = *sample };
    if (self->kind == HTW__SOURCE_SCHEDULER)
        keep_sites(self, kept);
    else if (self->kind == HTW__SOURCE_JOURNAL)
        keep_queues(self, kept);
}

static void release_kept(const struct writer *self, const struct kept *kept) {
    htw__release(self->text->allocator, kept->sites.rows,
                 kept->sites.greatest.most * sizeof(*kept->sites.rows));
    htw__release(self->text->allocator, kept->queues, sizeof(*kept->queues));
}

/* The next sample, from `index` on; NULL: none. */
static const struct htw__sample *next(const struct writer *self, unsigned *index) {
    return *index < self->count ? &self->kept[(*index)++].sample : NULL;
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
                      htw__metric_text(metric->name, htw__metric_value(metric, &sample->of), text));
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

/* ---- sites */

static void add_label(const struct writer *self, const char *name, const char *value) {
    if (*value == '\0')
        return;
    htw__text_add(self->text, ",%s=\"", name);
    htw__text_add_escaped(self->text, value);
    htw__text_add(self->text, "\"");
}

/* No two sites of a scheduler have the same labels. */
static void add_labels(const struct writer *self, const struct htw__origin *origin) {
    char address[24], line[16] = "";
    const char *site = *origin->name != '\0'       ? origin->name
                       : *origin->function != '\0' ? origin->function
                       : *origin->symbol != '\0'   ? origin->symbol
                                                   : address;
    snprintf(address, sizeof(address), "0x%" PRIxPTR, origin->address);
    if (origin->line != 0)
        snprintf(line, sizeof(line), "%" PRIu32, origin->line);
    add_label(self, "site", site);
    add_label(self, "function", origin->function);
    add_label(self, "file", origin->file);
    add_label(self, "line", line);
    add_label(self, "callback", origin->symbol);
}

static void write_site(const struct writer *self, const struct htw__metric *metric,
                       const char *scheduler, const struct htw__origin *origin,
                       const struct htw_site_stats *stats) {
    char value[HTW__METRIC_TEXT];
    htw__text_add(self->text, "%s{scheduler=\"%s\"", metric->name, scheduler);
    if (origin != NULL)
        add_labels(self, origin);
    else
        add_label(self, "site", "other");
    htw__text_add(self->text, "} %s\n",
                  htw__metric_text(metric->name, htw__metric_value(metric, stats), value));
}

static void write_site_metric(const struct writer *self, const struct htw__metric *metric) {
    describe(self, metric->name, htw__metric_type(metric->name), metric->help);
    for (unsigned i = 0; i < self->count; i++) {
        const struct htw__site_rows *sites = &self->kept[i].sites;
        const char *scheduler = self->kept[i].sample.name;
        for (uint32_t j = 0; j < sites->greatest.count; j++)
            write_site(self, metric, scheduler, &sites->rows[j].origin, &sites->rows[j].stats);
        if (sites->rows != NULL && htw__site_rows_have_others(sites))
            write_site(self, metric, scheduler, NULL, &sites->others);
    }
}

static void write_sites(const struct writer *self) {
    bool are_counted = false;
    for (unsigned i = 0; i < self->count; i++)
        are_counted |= self->kept[i].sites.rows != NULL;
    for (const struct htw__field *field = htw__site_fields; are_counted && field->name != NULL;
         field++)
        write_site_metric(self, &field->metric);
}

/* ---- queues: named as by `htw serve --http` */

static void write_queue(const struct writer *self, const struct htw__field *field,
                        const char *journal, const struct htw__queue_row *row) {
    const char *metric = field->metric.name;
    htw__text_add(self->text, "%s{journal=\"%s\",queue=\"",
                  metric != NULL ? metric : "htw_journal_queue_jobs", journal);
    htw__text_add_escaped(self->text, row->name);
    htw__text_add(self->text, "\"");
    add_label(self, "state", metric != NULL ? "" : field->name);
    htw__text_add(self->text, "} %" PRIu64 "\n", htw__metric_value(&field->metric, row));
}

static void write_queue_field(const struct writer *self, const struct htw__field *field) {
    for (unsigned i = 0; i < self->count; i++) {
        const struct htw__queue_rows *queues = self->kept[i].queues;
        for (uint32_t j = 0; queues != NULL && j < queues->greatest.count; j++)
            write_queue(self, field, self->kept[i].sample.name, &queues->rows[j]);
    }
}

static void write_queues(const struct writer *self) {
    bool are_shown = false;
    for (unsigned i = 0; i < self->count; i++)
        are_shown |= self->kept[i].queues != NULL;
    if (!are_shown)
        return;
    describe(self, "htw_journal_queues_left_out", "gauge",
             "Queues that the metrics of each queue leave out: those with the fewest jobs.");
    for (unsigned i = 0; i < self->count; i++)
        if (self->kept[i].queues != NULL)
            htw__text_add(self->text, "htw_journal_queues_left_out{journal=\"%s\"} %" PRIu64 "\n",
                          self->kept[i].sample.name, self->kept[i].queues->others_count);
    describe(self, "htw_journal_queue_jobs", "gauge", "Jobs of a queue now.");
    for (const struct htw__field *field = htw__queue_fields; field->name != NULL; field++) {
        if (field->metric.name != NULL)
            describe(self, field->metric.name, "gauge", field->metric.help);
        write_queue_field(self, field);
    }
}

/* ---- all of it */

static void write_metrics(const struct writer *self) {
    write_fields(self);
    if (self->kind == HTW__SOURCE_SCHEDULER) {
        write_durations(self, false);
        write_durations(self, true);
        write_sites(self);
    } else if (self->kind == HTW__SOURCE_PURGATORY) {
        write_ended(self);
        write_waits(self);
    } else if (self->kind == HTW__SOURCE_JOURNAL) {
        write_queues(self);
    }
}

static void write_kind(struct writer *self, const struct htw__sources *sources,
                       enum htw__source_kind kind) {
    self->kind = kind;
    self->count = 0;
    htw__sources_visit(sources, kind, keep, self);
    if (self->count > 0)
        write_metrics(self);
    for (unsigned i = 0; i < self->count; i++)
        release_kept(self, &self->kept[i]);
}

/* Without memory the text has failed. */
static void write_sources(struct htw_monitor *monitor, struct writer *writer) {
    struct htw__sources sources = htw__sources_now(monitor);
    size_t size = sources.count * sizeof(*writer->kept);
    if (size == 0)
        return;
    writer->sources = sources.count;
    writer->kept = htw__allocate(&monitor->allocator, size);
    writer->text->has_failed |= writer->kept == NULL;
    if (writer->kept == NULL)
        return;
    write_kind(writer, &sources, HTW__SOURCE_SCHEDULER);
    write_kind(writer, &sources, HTW__SOURCE_PURGATORY);
    write_kind(writer, &sources, HTW__SOURCE_JOURNAL);
    write_kind(writer, &sources, HTW__SOURCE_WHEEL);
    htw__release(&monitor->allocator, writer->kept, size);
}

void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    struct writer writer = { .text = text };
    describe(&writer, "htw_info", "gauge", "The version of htw and the process.");
    htw__text_add(text, "htw_info{version=\"%s\",pid=\"%ld\"} 1\n", htw_version(), (long)getpid());
    write_sources(monitor, &writer);
}
