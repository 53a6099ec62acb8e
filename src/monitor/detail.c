/* SPDX-License-Identifier: MIT */
/* detail.c - sites, wake-ups, groups and herds of a scheduler, and the queues of a journal, as JSON. */
#include "detail.h"

#include "queues.h"
#include "sites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* What cannot be read for want of memory: the whole answer is then refused. */
static void check(struct htw__answer_text *text, int error) {
    text->has_failed |= error != 0;
}

/* ---- sites */

static void write_rows(const struct htw__site_rows *self, struct htw__answer_text *text) {
    uint32_t order[HTW__ROWS_SHOWN];
    htw__greatest_sort(&self->greatest, order);
    htw__text_add(text, ",\"sites\":[");
    for (uint32_t i = 0; i < self->greatest.count; i++) {
        const struct htw__site_row *row = &self->rows[order[i]];
        htw__text_separate(text);
        htw__text_add(text, "{");
        htw__origin_write(&row->origin, text);
        htw__fields_write(htw__site_fields, &row->stats, text);
        htw__text_add(text, ",\"next_ns\":%" PRId64 "}",
                      row->stats.next_ns == HTW_NEVER_NS ? -1 : row->stats.next_ns);
    }
    htw__text_add(text, "]");
    if (!htw__site_rows_have_others(self))
        return;
    htw__text_add(text, ",\"others\":{\"sites\":%" PRIu64, self->others_count);
    htw__fields_write(htw__site_fields, &self->others, text);
    htw__text_add(text, "}");
}

static void write_sites(struct htw_scheduler *scheduler, uint32_t sources,
                        struct htw__answer_text *text) {
    struct htw__site_rows rows;
    htw__greatest_init(&rows.greatest, sources);
    size_t size = rows.greatest.most * sizeof(*rows.rows);
    rows.rows = htw__allocate(text->allocator, size);
    if (rows.rows == NULL) {
        check(text, -ENOMEM);
        return;
    }
    check(text, htw__site_rows_take(&rows, scheduler));
    write_rows(&rows, text);
    htw__release(text->allocator, rows.rows, size);
}

/* ---- wake-ups and herds */

static void write_instant(struct htw__answer_text *text, const char *member, int64_t ns,
                          uint64_t timers, const struct htw__origin *origin) {
    htw__text_separate(text);
    htw__text_add(text, "{\"%s\":%" PRId64 ",\"timers\":%" PRIu64 ",", member, ns, timers);
    htw__origin_write(origin, text);
    htw__text_add(text, "}");
}

static void write_wakeup(void *context, const struct htw_wakeup *wakeup) {
    struct htw__origin origin;
    htw__origin_take(&origin, wakeup->site, wakeup->address, wakeup->callback);
    write_instant(context, "left_ns", wakeup->left_ns, wakeup->timers, &origin);
}

static void write_herd(void *context, const struct htw_herd *herd) {
    struct htw__origin origin;
    htw__origin_take(&origin, herd->site, herd->address, herd->callback);
    write_instant(context, "ago_ns", herd->ago_ns, herd->timers, &origin);
}

/* ---- groups */

struct group {
    char name[32];
    uintptr_t address;
    uint64_t pending;
    bool is_paused;
};

struct groups {
    struct htw__greatest greatest;
    struct group of[HTW__ROWS_SHOWN];
    uint64_t others_count, others_pending;
};

static void add_other_group(struct groups *self, uint64_t pending) {
    self->others_count++;
    self->others_pending += pending;
}

static void take_group(void *context, const struct htw_group_stats *stats) {
    struct groups *self = context;
    bool is_taken;
    if (!htw__greatest_takes(&self->greatest, stats->count)) {
        add_other_group(self, stats->count);
        return;
    }
    struct group *group = &self->of[htw__greatest_place(&self->greatest, stats->count, &is_taken)];
    if (is_taken)
        add_other_group(self, group->pending);
    *group = (struct group) { .address = (uintptr_t)stats->address,
                              .pending = stats->count,
                              .is_paused = stats->paused };
    snprintf(group->name, sizeof(group->name), "%s", stats->name);
}

static void write_groups(struct htw_scheduler *scheduler, uint32_t sources,
                         struct htw__answer_text *text) {
    struct groups self = { .others_count = 0 };
    uint32_t order[HTW__ROWS_SHOWN];
    htw__greatest_init(&self.greatest, sources);
    check(text, htw_scheduler_visit_groups(scheduler, take_group, &self));
    htw__greatest_sort(&self.greatest, order);
    htw__text_add(text, ",\"groups\":[");
    for (uint32_t i = 0; i < self.greatest.count; i++) {
        const struct group *group = &self.of[order[i]];
        htw__text_separate(text);
        htw__text_add(text, "{");
        htw__text_add_string(text, "\"name\":", group->name);
        htw__text_add(text,
                      ",\"address\":\"0x%" PRIxPTR "\",\"pending\":%" PRIu64 ",\"paused\":%s}",
                      group->address, group->pending, group->is_paused ? "true" : "false");
    }
    htw__text_add(text, "]");
    if (self.others_count > 0)
        htw__text_add(text, ",\"other_groups\":{\"groups\":%" PRIu64 ",\"pending\":%" PRIu64 "}",
                      self.others_count, self.others_pending);
}

/* ---- all of it */

static void write_scheduler(struct htw_scheduler *scheduler, uint32_t sources,
                            struct htw__answer_text *text) {
    write_sites(scheduler, sources, text);
    htw__text_add(text, ",\"next_wakeups\":[");
    check(text, htw_scheduler_visit_wakeups(scheduler, write_wakeup, text));
    htw__text_add(text, "],\"herds\":[");
    check(text, htw_scheduler_visit_herds(scheduler, write_herd, text));
    htw__text_add(text, "]");
    write_groups(scheduler, sources, text);
}

static void write_queues(const struct htw_monitor_source *source, uint32_t sources,
                         struct htw__answer_text *text) {
    struct htw__queue_rows *self = htw__allocate(text->allocator, sizeof(*self));
    uint32_t order[HTW__ROWS_SHOWN];
    check(text, self == NULL ? -ENOMEM : 0);
    if (self == NULL)
        return;
    check(text, htw__queue_rows_take(self, source, sources));
    htw__greatest_sort(&self->greatest, order);
    htw__text_add(text, ",\"queue_list\":[");
    for (uint32_t i = 0; i < self->greatest.count; i++) {
        const struct htw__queue_row *row = &self->rows[order[i]];
        htw__text_separate(text);
        htw__text_add(text, "{");
        htw__text_add_string(text, "\"name\":", row->name);
        htw__fields_write(htw__queue_fields, row, text);
        htw__text_add(text, ",\"paused\":%s}", row->is_paused ? "true" : "false");
    }
    htw__text_add(text, "]");
    if (self->others_count > 0) {
        htw__text_add(text, ",\"other_queues\":{\"queues\":%" PRIu64, self->others_count);
        htw__fields_write(htw__queue_fields, &self->others, text);
        htw__text_add(text, "}");
    }
    htw__release(text->allocator, self, sizeof(*self));
}

void htw__detail_write(const struct htw__sample *sample, uint32_t sources,
                       struct htw__answer_text *text) {
    const struct htw_monitor_source *source = sample->source;
    if (source->kind == HTW__SOURCE_SCHEDULER)
        write_scheduler(source->of.scheduler, sources, text);
    else if (source->kind == HTW__SOURCE_JOURNAL)
        write_queues(source, sources, text);
}
