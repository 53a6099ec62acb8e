/* SPDX-License-Identifier: MIT */
/* rows.c - the rows of each kind of list: sites and groups of a scheduler, queues of a journal. */
#include "../base/clock.h"
#include "lists.h"
#include "origin.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- sites */

struct site_row {
    struct htw_site_stats stats; /* without a site */
    struct htw__origin origin;
};

static const struct htw__metric site_fields[] = {
#define SITE(metric, member, help) HTW__METRIC(struct htw_site_stats, metric, member, help)
    SITE("htw_site_pending", pending, "Timers of a site that are pending."),
    SITE("htw_site_armed_total", armed, "Timers armed at a site."),
    SITE("htw_site_cancelled_total", cancelled, "Timers of a site cancelled."),
    SITE("htw_site_expired_total", expired, "Callbacks of a site started."),
    SITE("htw_site_late_total", late, "Callbacks of a site that started late."),
    SITE("htw_site_callback_seconds_total", callback_ns, "Time in callbacks of a site."),
    SITE("htw_site_wakeups_total", wakeups, "Times a timer of a site woke an expirer."),
    HTW__METRICS_END,
};

/* How much a site does: its timers, what was counted of them, and the microseconds in its callbacks. */
static uint64_t weight_of_site(const struct htw_site_stats *stats) {
    return stats->pending + stats->armed + stats->expired + stats->wakeups + stats->late +
           stats->callback_ns / 1000;
}

/* Adds a site to one that is the same for a reader, if there is one. */
static bool merge_site(struct htw__row_list *list, const struct site_row *row) {
    for (uint32_t i = 0; i < list->count; i++) {
        struct site_row *twin = htw__list_row(list, i);
        if (!htw__origin_is_like(&twin->origin, &row->origin))
            continue;
        htw__fields_add(site_fields, &twin->stats, &row->stats);
        if (row->stats.next_ns < twin->stats.next_ns)
            twin->stats.next_ns = row->stats.next_ns;
        list->weights[i] = weight_of_site(&twin->stats);
        return true;
    }
    return false;
}

static void take_site(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    struct htw__row_list *list = context;
    struct site_row row = { .stats = *stats };
    uint64_t weight = weight_of_site(stats);
    if (stats->origin.address == NULL && stats->origin.callback == NULL) {
        if (weight > 0) /* of those that found no room in the tables of the scheduler */
            htw__list_add_to_others(list, stats);
        return;
    }
    if (htw__list_has_place(list, weight)) { /* to find the origin takes longer */
        htw__origin_take(&row.origin, &stats->origin);
        if (merge_site(list, &row))
            return;
    }
    htw__list_add(list, &row, weight);
}

static int take_sites(struct htw__row_list *list, const struct htw_monitor_source *source) {
    return htw_scheduler_visit(source->of.scheduler, HTW_VISIT_SITES, 0, take_site, list);
}

static void write_site(const void *row, struct htw__answer_text *text) {
    const struct site_row *site = row;
    int64_t next_ns = site->stats.next_ns;
    htw__origin_write(&site->origin, text);
    htw__text_add(text, ",\"next_ns\":%" PRId64, next_ns == HTW_NEVER_NS ? -1 : next_ns);
}

/* No two sites of a scheduler have the same labels. */
static void label_site(const void *row, struct htw__answer_text *text) {
    const struct htw__origin *origin = &((const struct site_row *)row)->origin;
    char address[24], line[16] = "";
    const char *site = *origin->name != '\0'       ? origin->name
                       : *origin->function != '\0' ? origin->function
                       : *origin->symbol != '\0'   ? origin->symbol
                                                   : address;
    snprintf(address, sizeof(address), "0x%" PRIxPTR, origin->address);
    if (origin->line != 0)
        snprintf(line, sizeof(line), "%" PRIu32, origin->line);
    htw__list_add_label(text, "site", site);
    htw__list_add_label(text, "function", origin->function);
    htw__list_add_label(text, "file", origin->file);
    htw__list_add_label(text, "line", line);
    htw__list_add_label(text, "callback", origin->symbol);
}

const struct htw__list_kind htw__list_sites = {
    "sites",    "others",   "sites",   site_fields, sizeof(struct site_row),
    take_sites, write_site, label_site
};

/* ---- groups */

struct group_row {
    uint64_t pending;
    char name[32];
    uintptr_t address;
    bool is_paused;
};

static const struct htw__metric group_fields[] = {
    HTW__METRIC(struct group_row, NULL, pending, NULL),
    HTW__METRICS_END,
};

static void take_group(void *context, const union htw_visited *visited) {
    const struct htw_group_stats *stats = &visited->group;
    struct group_row row = { .pending = stats->count,
                             .address = (uintptr_t)stats->address,
                             .is_paused = stats->paused };
    snprintf(row.name, sizeof(row.name), "%s", stats->name);
    htw__list_add(context, &row, row.pending);
}

static int take_groups(struct htw__row_list *list, const struct htw_monitor_source *source) {
    return htw_scheduler_visit(source->of.scheduler, HTW_VISIT_GROUPS, 0, take_group, list);
}

static void write_group(const void *row, struct htw__answer_text *text) {
    const struct group_row *group = row;
    htw__text_add_string(text, "\"name\":", group->name);
    htw__text_add(text, ",\"address\":\"0x%" PRIxPTR "\",\"paused\":%s", group->address,
                  group->is_paused ? "true" : "false");
}

const struct htw__list_kind htw__list_groups = {
    "groups",    "other_groups", "groups", group_fields, sizeof(struct group_row),
    take_groups, write_group,    NULL
};

/* ---- queues */

struct queue_row {
    uint64_t delayed, ready, leased, buried, waiting;
    char name[HTW_QUEUE_NAME_MAX + 1]; /* "": the default queue */
    bool is_paused;
};

static const struct htw__metric queue_fields[] = {
    HTW__QUEUE_METRICS(struct queue_row),
    HTW__METRICS_END,
};

/* The journal holds its lock. */
static bool take_queue(void *context, const struct htw_queue_stats *stats) {
    struct queue_row row = { .delayed = stats->delayed,
                             .ready = stats->ready,
                             .leased = stats->leased,
                             .buried = stats->buried,
                             .waiting = stats->waiting,
                             .is_paused = stats->paused_until_ns > htw__clock_realtime_ns() };
    snprintf(row.name, sizeof(row.name), "%s", stats->name != NULL ? stats->name : "");
    htw__list_add(context, &row, row.delayed + row.ready + row.leased + row.buried + row.waiting);
    return true;
}

static int take_queues(struct htw__row_list *list, const struct htw_monitor_source *source) {
    return source->of.journal.list_queues == NULL
               ? 0
               : source->of.journal.list_queues(source->of.journal.journal, take_queue, list);
}

static void write_queue(const void *row, struct htw__answer_text *text) {
    const struct queue_row *queue = row;
    htw__text_add_string(text, "\"name\":", queue->name);
    htw__text_add(text, ",\"paused\":%s", queue->is_paused ? "true" : "false");
}

static void label_queue(const void *row, struct htw__answer_text *text) {
    htw__text_add(text, ",queue=\"");
    htw__text_add_escaped(text, ((const struct queue_row *)row)->name);
    htw__text_add(text, "\"");
}

const struct htw__list_kind htw__list_queues = {
    "queue_list", "other_queues", "queues",   queue_fields, sizeof(struct queue_row),
    take_queues,  write_queue,    label_queue
};
