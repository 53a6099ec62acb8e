/* SPDX-License-Identifier: MIT */
/* draw.c - draws snapshots of a program: its sources, in their order. */
#include "draw.h"

#include "bars.h"
#include "figures.h"
#include "table.h"
#include "views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const htw__sort_names[] = { "name",    "pending", "rate", "memory",
                                        "wakeups", "cpu",     "late", NULL };
_Static_assert(sizeof(htw__sort_names) / sizeof(htw__sort_names[0]) == HTW__SORT_COUNT + 1,
               "one each");

const char *const htw__page_names[] = { "overview", "sites",    "wakeups", "herds",
                                        "groups",   "journals", "queues",  NULL };
_Static_assert(sizeof(htw__page_names) / sizeof(htw__page_names[0]) == HTW__PAGE_COUNT + 1,
               "one each");

static const struct htw__top_source *source_before(const struct htw__drawing *self,
                                                   const struct htw__top_source *now) {
    static const struct htw__top_source none;
    const struct htw__top_source *before = htw__top_snapshot_find(self->before, now);
    return before == NULL ? &none : before;
}

/* ---- the order */

/* What qsort() compares has no argument for it. */
static const struct htw__drawing *sorting;

static uint64_t activity(const struct htw__top_source *source) {
    return source->scheduled + source->submitted + source->put;
}

/* The greatest number first; where there is none to sort by, all have the same. */
static int compare_numbers(double left, double right) {
    return left > right ? -1 : left < right;
}

static double source_number(const struct htw__top_source *source) {
    enum htw__sort sort = htw__view_sort(sorting->view);
    return sort == HTW__SORT_PENDING  ? (double)source->pending
           : sort == HTW__SORT_MEMORY ? (double)source->memory_bytes
           : sort == HTW__SORT_RATE
               ? htw__line_rate(sorting, activity(source_before(sorting, source)), activity(source))
               : 0;
}

static int compare_sources(const void *left, const void *right) {
    const struct htw__top_source *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int order = compare_numbers(source_number(a), source_number(b));
    order = order != 0 ? order : strcmp(a->name, b->name);
    return sorting->view->is_reversed ? -order : order;
}

/* A shard, and what it was before. */
struct row {
    const struct htw__top_shard *now;
    struct htw__top_shard before;
};

static double row_number(const struct row *row) {
    enum htw__sort sort = htw__view_sort(sorting->view);
    return sort == HTW__SORT_PENDING  ? (double)row->now->in_wheels
           : sort == HTW__SORT_MEMORY ? (double)row->now->memory_bytes
           : sort == HTW__SORT_RATE
               ? htw__line_rate(sorting, row->before.scheduled, row->now->scheduled)
               : 0;
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int order = compare_numbers(row_number(a), row_number(b));
    order = order != 0 ? order : a->now->number < b->now->number ? -1 : 1;
    return sorting->view->is_reversed ? -order : order;
}

/* ---- sources */

static void set_shard(const struct htw__drawing *self, const struct row *row,
                      struct htw__table_row *drawn) {
    const struct htw__top_shard *now = row->now;
    snprintf(drawn->texts[0], sizeof(drawn->texts[0]), "%" PRIu32, now->number);
    htw__figure_count(now->in_wheels, drawn->texts[1]);
    htw__figure_rate(htw__line_rate(self, row->before.scheduled, now->scheduled), drawn->texts[2]);
    htw__figure_rate(htw__line_rate(self, row->before.cancelled, now->cancelled), drawn->texts[3]);
    htw__figure_rate(htw__line_rate(self, row->before.moved, now->moved), drawn->texts[4]);
    htw__figure_count(now->groups, drawn->texts[5]);
    htw__figure_bytes(now->memory_bytes, drawn->texts[6]);
}

static void draw_shards(const struct htw__drawing *self, const struct htw__top_source *before,
                        const struct htw__top_source *now) {
    static const struct htw__column columns[] = {
        { .title = "shard", .width = 5 },        { .title = "in wheels", .width = 9 },
        { .title = "scheduled/s", .width = 11 }, { .title = "cancelled/s", .width = 11 },
        { .title = "moved/s", .width = 9 },      { .title = "groups", .width = 6 },
        { .title = "memory", .width = 8 },
    };
    struct row *rows = calloc(now->shard_count + 1, sizeof(*rows));
    struct htw__table_row *drawn = calloc(now->shard_count + 1, sizeof(*drawn));
    for (size_t i = 0; rows != NULL && drawn != NULL && i < now->shard_count; i++) {
        rows[i].now = &now->shards[i];
        if (now->shards[i].number < before->shard_count)
            rows[i].before = before->shards[now->shards[i].number];
    }
    self->page->has_failed |= rows == NULL || drawn == NULL;
    if (rows != NULL && drawn != NULL) {
        qsort(rows, now->shard_count, sizeof(*rows), compare_rows);
        for (size_t i = 0; i < now->shard_count; i++)
            set_shard(self, &rows[i], &drawn[i]);
        htw__table_draw(self, columns, sizeof(columns) / sizeof(columns[0]), "", drawn,
                        now->shard_count);
    }
    free(drawn);
    free(rows);
}

static void draw_scheduler(const struct htw__drawing *self, const struct htw__top_source *before,
                           const struct htw__top_source *now) {
    uint64_t groups = 0;
    for (size_t i = 0; i < now->shard_count; i++)
        groups += now->shards[i].groups;
    htw__page_add(self->page, "  ");
    htw__line_add_count(self, "pending", now->pending);
    htw__line_add_count(self, "running", now->running);
    htw__line_add_count(self, "groups", groups);
    htw__line_add_size(self, "memory", now->memory_bytes);
    htw__line_add_trouble(self, "late", now->late);
    htw__line_add_trouble(self, "missed periods", now->missed);
    htw__line_add_trouble(self, "refused", now->refused);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    htw__line_add_rate(self, "scheduled", before->scheduled, now->scheduled);
    htw__line_add_rate(self, "fired", before->fired, now->fired);
    htw__line_add_rate(self, "cancelled", before->cancelled, now->cancelled);
    htw__line_add_rate(self, "moved", before->moved, now->moved);
    htw__line_add_rate(self, "demoted", before->demoted, now->demoted);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "              ");
    htw__line_add_rate(self, "runs", before->runs, now->runs);
    htw__line_add_rate(self, "wake-ups", before->wakeups, now->wakeups);
    htw__line_add_rate(self, "of these with nothing due", before->empty_wakeups,
                       now->empty_wakeups);
    htw__line_end(self);
    htw__line_distribution(self, "lateness", &before->lateness, &now->lateness);
    htw__line_distribution(self, "callback", &before->callback, &now->callback);
    htw__line_levels(self, now);
    draw_shards(self, before, now);
}

static void draw_purgatory(const struct htw__drawing *self, const struct htw__top_source *before,
                           const struct htw__top_source *now) {
    uint64_t counts[HTW__TOP_BUCKETS];
    htw__page_add(self->page, "  ");
    htw__line_add_count(self, "pending", now->pending);
    htw__line_add_count(self, "keys", now->keys);
    htw__line_add_count(self, "watches", now->watched);
    htw__line_add_count(self, "with a timeout", now->delayed);
    htw__line_add_size(self, "memory", now->memory_bytes);
    htw__line_end(self);
    /* The scheduler counts these as its own, and a group for each purgatory. */
    htw__page_add(self->page, "  ");
    htw__line_add_count(self, "in its scheduler: timers", now->alarms);
    htw__line_add_count(self, "groups", 1);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    htw__line_add_rate(self, "submitted", before->submitted, now->submitted);
    htw__line_add_rate(self, "completed", before->completed, now->completed);
    htw__line_add_rate(self, "expired", before->expired, now->expired);
    htw__line_add_rate(self, "cancelled", before->cancelled, now->cancelled);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "  waits     ");
    htw__bars_since(self->view->is_total ? NULL : before->waits, now->waits, counts);
    htw__line_add_duration(self, "p50", htw__bars_percentile_ns(counts, 1000000, 0.50));
    htw__line_add_duration(self, "p90", htw__bars_percentile_ns(counts, 1000000, 0.90));
    htw__line_add_duration(self, "p99", htw__bars_percentile_ns(counts, 1000000, 0.99));
    htw__line_add_histogram(self, counts, 1, "ms");
    htw__line_end(self);
}

static void draw_journal(const struct htw__drawing *self, const struct htw__top_source *before,
                         const struct htw__top_source *now) {
    const struct {
        const char *name;
        const struct htw__top_distribution *durations;
    } distributions[] = { { "commit  ", &now->commit },
                          { "durable ", &now->durable },
                          { "lateness", &now->lateness } };
    htw__page_add(self->page, "  ");
    htw__line_add_count(self, "delayed", now->delayed);
    htw__line_add_count(self, "ready", now->ready);
    htw__line_add_count(self, "leased", now->leased);
    htw__line_add_count(self, "buried", now->buried);
    htw__line_add_trouble(self, "stopped", now->stopped);
    htw__line_add_trouble(self, "refused", now->refused);
    htw__line_add_trouble(self, "failed", now->failed);
    htw__line_end(self);
    htw__page_add(self->page, "  ");
    htw__line_add_duration(self, "oldest in memory", now->oldest_ns);
    htw__line_add_count(self, "requests", now->requests);
    htw__line_add_count(self, "queues", now->queues);
    htw__line_add_count(self, "done", now->kept);
    htw__line_add_size(self, "log", now->log_bytes);
    htw__line_add_size(self, "memory", now->memory_bytes);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    htw__line_add_rate(self, "commits", before->commits, now->commits);
    htw__line_add_rate(self, "put", before->put, now->put);
    htw__line_add_rate(self, "done", before->done, now->done);
    htw__line_add_rate(self, "cancelled", before->cancelled, now->cancelled);
    htw__line_add_rate(self, "replaced", before->replaced, now->replaced);
    htw__line_add_rate(self, "delivered", before->delivered, now->delivered);
    htw__line_end(self);
    for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++) {
        if (distributions[i].durations->count == 0)
            continue;
        htw__line_add_percentiles(self, distributions[i].name, distributions[i].durations, NULL);
        htw__line_end(self);
    }
}

static void draw_wheel(const struct htw__drawing *self, const struct htw__top_source *before,
                       const struct htw__top_source *now) {
    htw__page_add(self->page, "  ");
    htw__line_add_count(self, "pending", now->pending);
    htw__line_add_size(self, "memory", now->memory_bytes);
    if (now->age_ns > 2000000000) /* its owner has not slept since, or copies when it is asked */
        htw__line_add_duration(self, "as of", now->age_ns);
    if (now->age_ns > 2000000000)
        htw__page_add(self->page, HTW__LABEL "ago" HTW__PLAIN);
    htw__line_end(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    htw__line_add_rate(self, "scheduled", before->scheduled, now->scheduled);
    htw__line_add_rate(self, "expired", before->expired, now->expired);
    htw__line_add_rate(self, "cancelled", before->cancelled, now->cancelled);
    htw__line_add_rate(self, "moved", before->moved, now->moved);
    htw__line_add_rate(self, "demoted", before->demoted, now->demoted);
    htw__line_end(self);
    htw__line_levels(self, now);
}

/* ---- the page */

static const struct {
    const char *name;
    void (*draw)(const struct htw__drawing *self, const struct htw__top_source *before,
                 const struct htw__top_source *now);
} kinds[] = { [HTW__TOP_SCHEDULER] = { "scheduler", draw_scheduler },
              [HTW__TOP_PURGATORY] = { "purgatory", draw_purgatory },
              [HTW__TOP_JOURNAL] = { "journal", draw_journal },
              [HTW__TOP_WHEEL] = { "wheel", draw_wheel } };

/* A page of one kind of source: all that is known of it, or a list. */
static const struct {
    enum htw__top_kind kind;
    enum htw__top_list list; /* HTW__TOP_LISTS: all */
    const char *nothing;
} pages[HTW__PAGE_COUNT] = {
    [HTW__PAGE_SITES] = { HTW__TOP_SCHEDULER, HTW__TOP_SITES, "no scheduler is shown" },
    [HTW__PAGE_WAKEUPS] = { HTW__TOP_SCHEDULER, HTW__TOP_WAKEUPS, "no scheduler is shown" },
    [HTW__PAGE_HERDS] = { HTW__TOP_SCHEDULER, HTW__TOP_HERDS, "no scheduler is shown" },
    [HTW__PAGE_GROUPS] = { HTW__TOP_SCHEDULER, HTW__TOP_GROUPS, "no scheduler is shown" },
    [HTW__PAGE_JOURNALS] = { HTW__TOP_JOURNAL, HTW__TOP_LISTS, "no journal is shown" },
    [HTW__PAGE_QUEUES] = { HTW__TOP_JOURNAL, HTW__TOP_QUEUES, "no journal is shown" },
};

static bool is_on_page(enum htw__page_kind page, const struct htw__top_source *source) {
    return page == HTW__PAGE_OVERVIEW || pages[page].kind == source->kind;
}

static void draw_source(const struct htw__drawing *self, const struct htw__top_source *now) {
    enum htw__page_kind page = self->view->page;
    const struct htw__top_source *before = source_before(self, now);
    htw__line_end(self);
    htw__page_add(self->page, HTW__TITLE "%s " HTW__PLAIN, kinds[now->kind].name);
    htw__flow_add_text(self, HTW__TITLE, now->name);
    if (*now->observed != '\0')
        htw__flow_add(self, HTW__LABEL "observed " HTW__PLAIN "%s", now->observed);
    if (*now->error != '\0')
        htw__flow_add_text(self, HTW__WARNING, now->error);
    htw__line_end(self);
    if (*now->error != '\0')
        return;
    if (page == HTW__PAGE_OVERVIEW || pages[page].list == HTW__TOP_LISTS)
        kinds[now->kind].draw(self, before, now);
    else
        htw__view_draw_list(self, before, now, pages[page].list);
}

static void draw_program(const struct htw__drawing *self, const struct htw__top_snapshot *now) {
    char age[HTW__FIGURE_SIZE];
    uint64_t open_ns =
        now->clock_ns > now->opened_ns ? (uint64_t)(now->clock_ns - now->opened_ns) : 0;
    htw__flow_add(self, HTW__TITLE "%s " HTW__PLAIN, now->program);
    htw__flow_add(self, "(process %" PRId64 ", htw %s), ", now->pid, now->version);
    htw__flow_add(self, "open for %s", htw__figure_duration(open_ns, age));
    htw__line_end(self);
}

void htw__draw(const struct htw__view *view, const struct htw__top_snapshot *before,
               struct htw__top_snapshot *now, struct htw__page *page) {
    struct htw__drawing self = { .view = view, .before = before, .page = page };
    size_t shown = 0;
    if (before->clock_ns > 0 && now->clock_ns > before->clock_ns)
        self.seconds = (double)(now->clock_ns - before->clock_ns) / 1e9;
    sorting = &self;
    qsort(now->sources, now->source_count, sizeof(*now->sources), compare_sources);
    draw_program(&self, now);
    for (size_t i = 0; i < now->source_count; i++) {
        if (!is_on_page(view->page, &now->sources[i]))
            continue;
        draw_source(&self, &now->sources[i]);
        shown++;
    }
    if (shown == 0) {
        htw__page_add(page, "%s",
                      pages[view->page].nothing != NULL ? pages[view->page].nothing
                                                        : "the program shows nothing yet");
        htw__line_end(&self);
    }
    sorting = NULL;
}
