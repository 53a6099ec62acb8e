/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - writes samples for Prometheus: the metrics of htw_scheduler_prometheus() and
 * htw_purgatory_prometheus(), and those of htw_journal_prometheus() but histograms, with the name of the source as a label. All samples of a metric stand
 * together, as the format wants it.
 */
#include "lists.h"
#include "writers.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* A sample, and the list of its sites or queues. */
struct kept {
    struct htw__sample sample;
    struct htw__list list; /* without rows: none is shown */
};

struct writer {
    struct kept *kept; /* of the kind, without those that have failed */
    unsigned count;
    uint32_t sources; /* in all */
    enum htw__source_kind kind;
    struct htw__answer_text *text;
};

static void keep(void *context, const struct htw__sample *sample) {
    struct writer *self = context;
    const struct htw_monitor_source *source = sample->source;
    if (sample->error != 0)
        return;
    struct kept *kept = &self->kept[self->count++];
    *kept = (struct kept) { .sample = *sample };
    if (source->kind == HTW__SOURCE_SCHEDULER &&
        (htw_scheduler_observed(source->of.scheduler) & HTW_OBSERVE_SITES) != 0)
        htw__list_take(&kept->list, &htw__list_sites, source, self->sources, self->text);
    else if (source->kind == HTW__SOURCE_JOURNAL && source->of.journal.list_queues != NULL)
        htw__list_take(&kept->list, &htw__list_queues, source, self->sources, self->text);
}

static void describe(const struct writer *self, const char *metric, const char *type,
                     const char *help) {
    htw__text_add(self->text, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

static void describe_field(const struct writer *self, const struct htw__metric *field,
                           const struct htw__metric *fields) {
    if (htw__metric_is_first(field, fields))
        describe(self, field->name, htw__metric_type(field->name), field->help);
}

static void begin_value(const struct writer *self, const char *metric, const struct kept *kept) {
    htw__text_add(self->text, "%s{%s=\"%s\"", metric, htw__kinds[self->kind].name,
                  kept->sample.source->name);
}

static void end_value(const struct writer *self, const struct htw__metric *field,
                      const void *stats) {
    char value[HTW__METRIC_TEXT];
    if (field->label != NULL)
        htw__list_add_label(self->text, field->label, field->member);
    htw__text_add(self->text, "} %s\n",
                  htw__metric_text(field->name, htw__metric_value(field, stats), value));
}

static void write_fields(const struct writer *self) {
    const struct htw__metric *fields = htw__kinds[self->kind].fields;
    for (const struct htw__metric *field = fields; field->member != NULL; field++) {
        if (field->name == NULL)
            continue;
        describe_field(self, field, fields);
        for (unsigned i = 0; i < self->count; i++) {
            begin_value(self, field->name, &self->kept[i]);
            end_value(self, field, &self->kept[i].sample.of);
        }
    }
}

/* ---- histograms: counts[i] is of what is less than 2^i units, the last of all that is more */

static const struct histogram {
    enum htw__source_kind kind;
    const char *metric, *help;
    unsigned buckets;
    size_t counts, sum;                   /* where they are in a sample */
    unsigned unit_decimals, sum_decimals; /* a unit is 10^-unit_decimals seconds */
} histograms[] = {
#define OFFSET(member) offsetof(struct htw__sample, of.member)
    { HTW__SOURCE_SCHEDULER, HTW__METRIC_LATENESS, HTW_SCHEDULER_HISTOGRAM_BUCKETS,
      OFFSET(scheduler.histograms.lateness), OFFSET(scheduler.stats.lateness.sum_ns), 6, 9 },
    { HTW__SOURCE_SCHEDULER, HTW__METRIC_CALLBACK, HTW_SCHEDULER_HISTOGRAM_BUCKETS,
      OFFSET(scheduler.histograms.callback), OFFSET(scheduler.stats.callback.sum_ns), 6, 9 },
    { HTW__SOURCE_PURGATORY, HTW__METRIC_WAIT, HTW_PURGATORY_WAIT_BUCKETS, OFFSET(purgatory.waits),
      OFFSET(purgatory.waited_ms), 3, 3 },
};

static void write_seconds(const struct writer *self, uint64_t number, unsigned decimals) {
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    htw__text_add(self->text, "%" PRIu64 ".%0*" PRIu64, number / unit, (int)decimals,
                  number % unit);
}

static void write_histogram(const struct writer *self, const struct histogram *histogram,
                            const struct htw__sample *sample) {
    const char *metric = histogram->metric, *kind = htw__kinds[self->kind].name;
    const uint64_t *counts = (const void *)((const char *)sample + histogram->counts);
    const uint64_t *sum = (const void *)((const char *)sample + histogram->sum);
    uint64_t below = 0;
    for (unsigned i = 0; i + 1 < histogram->buckets; i++) {
        below += counts[i];
        htw__text_add(self->text, "%s_bucket{%s=\"%s\",le=\"", metric, kind, sample->source->name);
        write_seconds(self, (uint64_t)1 << i, histogram->unit_decimals);
        htw__text_add(self->text, "\"} %" PRIu64 "\n", below);
    }
    below += counts[histogram->buckets - 1];
    htw__text_add(self->text, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %" PRIu64 "\n%s_sum{%s=\"%s\"} ",
                  metric, kind, sample->source->name, below, metric, kind, sample->source->name);
    write_seconds(self, *sum, histogram->sum_decimals);
    htw__text_add(self->text, "\n%s_count{%s=\"%s\"} %" PRIu64 "\n", metric, kind,
                  sample->source->name, below);
}

static void write_histograms(const struct writer *self) {
    for (size_t i = 0; i < sizeof(histograms) / sizeof(histograms[0]); i++) {
        if (histograms[i].kind != self->kind)
            continue;
        describe(self, histograms[i].metric, "histogram", histograms[i].help);
        for (unsigned j = 0; j < self->count; j++)
            write_histogram(self, &histograms[i], &self->kept[j].sample);
    }
}

/* ---- sites and queues: the lists of all samples are of one kind */

static void write_row(const struct writer *self, const struct htw__metric *field,
                      const struct kept *kept, const void *row) {
    begin_value(self, field->name, kept);
    if (row == htw__list_others(&kept->list))
        htw__list_add_label(self->text, "site", "other");
    else
        kept->list.kind->write_labels(row, self->text);
    end_value(self, field, row);
}

static void write_rows(const struct writer *self, const struct htw__metric *field) {
    for (unsigned i = 0; i < self->count; i++) {
        const struct htw__list *list = &self->kept[i].list;
        for (uint32_t number = 0; number < list->count; number++)
            write_row(self, field, &self->kept[i], htw__list_row(list, number));
        if (list->has_others && list->kind == &htw__list_sites)
            write_row(self, field, &self->kept[i], htw__list_others(list));
    }
}

static void write_queues_left_out(const struct writer *self) {
    static const char metric[] = "htw_journal_queues_left_out";
    describe(self, metric, "gauge",
             "Queues that the metrics of each queue leave out: those with the fewest jobs.");
    for (unsigned i = 0; i < self->count; i++)
        if (self->kept[i].list.kind != NULL) {
            begin_value(self, metric, &self->kept[i]);
            htw__text_add(self->text, "} %" PRIu64 "\n", self->kept[i].list.others_count);
        }
}

static void write_lists(const struct writer *self) {
    const struct htw__list_kind *kind = NULL;
    for (unsigned i = 0; i < self->count; i++)
        if (self->kept[i].list.kind != NULL)
            kind = self->kept[i].list.kind;
    if (kind == NULL)
        return;
    if (kind == &htw__list_queues)
        write_queues_left_out(self);
    for (const struct htw__metric *field = kind->fields; field->member != NULL; field++) {
        describe_field(self, field, kind->fields);
        write_rows(self, field);
    }
}

/* ---- all of it */

static void write_kind(struct writer *self, const struct htw_monitor *monitor,
                       enum htw__source_kind kind) {
    self->kind = kind;
    self->count = 0;
    htw__sources_visit(monitor, kind, keep, self);
    if (self->count > 0) {
        write_fields(self);
        write_histograms(self);
        write_lists(self);
    }
    for (unsigned i = 0; i < self->count; i++)
        htw__list_release(&self->kept[i].list);
}

void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    struct writer writer = { .text = text, .sources = monitor->source_count };
    size_t size = writer.sources * sizeof(*writer.kept);
    describe(&writer, "htw_info", "gauge", "The version of htw and the process.");
    htw__text_add(text, "htw_info{version=\"%s\",pid=\"%ld\"} 1\n", htw_version(), (long)getpid());
    if (size == 0)
        return;
    writer.kept = htw__allocate(&monitor->allocator, size);
    text->has_failed |= writer.kept == NULL;
    for (unsigned kind = 0; kind < HTW__SOURCE_KINDS && writer.kept != NULL; kind++)
        write_kind(&writer, monitor, (enum htw__source_kind)kind);
    htw__release(&monitor->allocator, writer.kept, size);
}
