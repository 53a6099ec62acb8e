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
#include <unistd.h>

/* A sample, and the list of its sites or queues. */
struct kept {
    struct htw__sample sample;
    char labels[HTW_MONITOR_NAME_MAX + 16]; /* scheduler="main" */
    struct htw__row_list list;              /* without rows: none is shown */
};

struct writer {
    struct kept *kept; /* of the kind, without those that have failed */
    unsigned count;
    uint32_t sources; /* in all */
    enum htw__source_kind kind;
    struct htw__answer_text *text;
    FILE *stream; /* appends to the text */
};

static void keep(void *context, const struct htw__sample *sample) {
    struct writer *self = context;
    const struct htw_monitor_source *source = sample->source;
    if (sample->error != 0)
        return;
    struct kept *kept = &self->kept[self->count++];
    *kept = (struct kept) { .sample = *sample };
    snprintf(kept->labels, sizeof(kept->labels), "%s=\"%s\"", htw__kinds[self->kind].name,
             source->name);
    if (source->kind == HTW__SOURCE_SCHEDULER &&
        (htw_scheduler_observed(source->of.scheduler) & HTW_OBSERVE_SITES) != 0)
        htw__list_take(&kept->list, &htw__list_sites, source, self->sources, self->text);
    else if (source->kind == HTW__SOURCE_JOURNAL && source->of.journal.list_queues != NULL)
        htw__list_take(&kept->list, &htw__list_queues, source, self->sources, self->text);
}

static void write_fields(const struct writer *self) {
    const struct htw__metric *fields = htw__kinds[self->kind].fields;
    for (const struct htw__metric *field = fields; field->member != NULL; field++) {
        if (field->name == NULL)
            continue;
        htw__metric_describe(self->stream, field, fields);
        for (unsigned i = 0; i < self->count; i++)
            htw__metric_write(self->stream, field, self->kept[i].labels, &self->kept[i].sample.of);
    }
}

/* ---- sites and queues: the lists of all samples are of one kind */

/* `labels` is empty. */
static void write_row(const struct writer *self, const struct htw__metric *field,
                      const struct kept *kept, const void *row, struct htw__answer_text *labels) {
    htw__text_add(labels, "%s", kept->labels);
    if (row == htw__list_others(&kept->list))
        htw__list_add_label(labels, "site", "other");
    else
        kept->list.kind->write_labels(row, labels);
    self->text->has_failed |= labels->has_failed;
    if (!labels->has_failed)
        htw__metric_write(self->stream, field, labels->bytes, row);
    labels->size = 0;
}

static void write_rows(const struct writer *self, const struct htw__metric *field) {
    struct htw__answer_text labels;
    htw__text_init(&labels, self->text->allocator);
    for (unsigned i = 0; i < self->count; i++) {
        const struct htw__row_list *list = &self->kept[i].list;
        for (uint32_t number = 0; number < list->count; number++)
            write_row(self, field, &self->kept[i], htw__list_row(list, number), &labels);
        if (list->has_others && list->kind == &htw__list_sites)
            write_row(self, field, &self->kept[i], htw__list_others(list), &labels);
    }
    htw__text_fini(&labels);
}

static void write_queues_left_out(const struct writer *self) {
    static const struct htw__metric left_out = HTW__QUEUES_LEFT_OUT(struct kept, list.others_count);
    htw__metric_describe(self->stream, &left_out, &left_out);
    for (unsigned i = 0; i < self->count; i++)
        if (self->kept[i].list.kind != NULL)
            htw__metric_write(self->stream, &left_out, self->kept[i].labels, &self->kept[i]);
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
        htw__metric_describe(self->stream, field, kind->fields);
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
        write_lists(self);
    }
    for (unsigned i = 0; i < self->count; i++)
        htw__list_release(&self->kept[i].list);
}

static void write_kinds(struct writer *self, const struct htw_monitor *monitor) {
    size_t size = self->sources * sizeof(*self->kept);
    if (size == 0)
        return;
    self->kept = htw__allocate(&monitor->allocator, size);
    self->text->has_failed |= self->kept == NULL;
    for (unsigned kind = 0; kind < HTW__SOURCE_KINDS && self->kept != NULL; kind++)
        write_kind(self, monitor, (enum htw__source_kind)kind);
    htw__release(&monitor->allocator, self->kept, size);
}

void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    struct writer self = { .text = text,
                           .sources = monitor->source_count,
                           .stream = htw__text_stream(text) };
    if (self.stream == NULL)
        return;
    htw__text_add(text,
                  "# HELP htw_info The version of htw and the process.\n# TYPE htw_info gauge\n"
                  "htw_info{version=\"%s\",pid=\"%ld\"} 1\n",
                  htw_version(), (long)getpid());
    write_kinds(&self, monitor);
    (void)fclose(self.stream);
}
