/* SPDX-License-Identifier: MIT */
/* draw.c - draws snapshots of a program: rates, distributions, levels, shards. */
#include "draw.h"

#include "bars.h"
#include "figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct drawing {
    const struct htw__view *view;
    const struct htw__top_snapshot *before;
    struct htw__page *page;
    double seconds; /* between the snapshots; 0: there is one only */
};

const char *const htw__sort_names[] = { "name", "pending", "rate", "memory", NULL };
_Static_assert(sizeof(htw__sort_names) / sizeof(htw__sort_names[0]) == HTW__SORT_COUNT + 1,
               "one each");

/* A counter that has become smaller is that of another object of the same name. */
static double rate(const struct drawing *self, uint64_t before, uint64_t now) {
    return self->seconds <= 0 || now < before ? 0 : (double)(now - before) / self->seconds;
}

static const struct htw__top_source *source_before(const struct drawing *self,
                                                   const struct htw__top_source *now) {
    static const struct htw__top_source none;
    const struct htw__top_source *before = htw__top_snapshot_find(self->before, now);
    return before == NULL ? &none : before;
}

/* ---- the order */

/* What qsort() compares has no argument for it. */
static const struct drawing *sorting;

static uint64_t activity(const struct htw__top_source *source) {
    return source->scheduled + source->submitted;
}

static int compare_numbers(double a, double b) {
    return a < b ? -1 : a > b;
}

/* The greatest number first, names in ascending order. */
static int compare_sources(const void *left, const void *right) {
    const struct htw__top_source *a = left, *b = right;
    int order = 0;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (sorting->view->sort) {
    case HTW__SORT_PENDING:
        order = compare_numbers((double)b->pending, (double)a->pending);
        break;
    case HTW__SORT_RATE:
        order = compare_numbers(rate(sorting, activity(source_before(sorting, b)), activity(b)),
                                rate(sorting, activity(source_before(sorting, a)), activity(a)));
        break;
    case HTW__SORT_MEMORY:
        order = compare_numbers((double)b->memory, (double)a->memory);
        break;
    case HTW__SORT_NAME:
    case HTW__SORT_COUNT:
        break;
    }
    order = order != 0 ? order : strcmp(a->name, b->name);
    return sorting->view->is_reversed ? -order : order;
}

/* A shard, and what it was before. */
struct row {
    const struct htw__top_shard *now;
    struct htw__top_shard before;
};

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int order = 0;
    switch (sorting->view->sort) {
    case HTW__SORT_PENDING:
        order = compare_numbers((double)b->now->in_wheels, (double)a->now->in_wheels);
        break;
    case HTW__SORT_RATE:
        order = compare_numbers(rate(sorting, b->before.scheduled, b->now->scheduled),
                                rate(sorting, a->before.scheduled, a->now->scheduled));
        break;
    case HTW__SORT_MEMORY:
        order = compare_numbers((double)b->now->memory, (double)a->now->memory);
        break;
    case HTW__SORT_NAME:
    case HTW__SORT_COUNT:
        break;
    }
    order = order != 0 ? order : a->now->number < b->now->number ? -1 : 1;
    return sorting->view->is_reversed ? -order : order;
}

/* ---- small pictures */

/* A bar of nine heights for a part of the greatest value. */
static const char *bar(const struct drawing *self, uint64_t value, uint64_t greatest) {
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
    size_t height = 0;
    if (value > 0)
        height = 1 + (size_t)(7.0 * (double)value / (double)greatest + 0.5);
    return (self->view->is_ascii ? letters : blocks)[height];
}

/* Durations from 1 us to 4 s, each bucket twice as wide as the one before; one character each. */
static void add_histogram(const struct drawing *self, const uint64_t *counts, uint64_t least,
                          const char *unit) {
    uint64_t greatest = 1;
    for (size_t i = 0; i < HTW__TOP_BUCKETS; i++)
        greatest = counts[i] > greatest ? counts[i] : greatest;
    htw__page_add(self->page, HTW__LABEL "<%" PRIu64 "%s|" HTW__GOOD, least, unit);
    for (size_t i = 0; i < HTW__TOP_BUCKETS; i++)
        htw__page_add(self->page, "%s", bar(self, counts[i], greatest));
    htw__page_add(self->page, HTW__LABEL "|" HTW__PLAIN);
}

/* Dark where there are no timers, hot where there are many: a degree for each power of four. */
static void add_heat(const struct drawing *self, uint64_t timers) {
    static const char *const shades[] = { " ", "·", "░", "▒", "▓", "█" };
    static const char *const letters[] = { " ", ".", ":", "+", "#", "@" };
    static const enum htw__style styles[] = { HTW__STYLE_COOL, HTW__STYLE_COOL, HTW__STYLE_COOL,
                                              HTW__STYLE_WARM, HTW__STYLE_WARM, HTW__STYLE_HOT };
    size_t degree = 0;
    for (uint64_t left = timers; left > 0 && degree < 5; left /= 4)
        degree++;
    htw__page_add(self->page, "%c%s", styles[degree],
                  (self->view->is_ascii ? letters : shades)[degree]);
}

/* From the present time on, so that what is due next is at the left. Several parts are one character
   where the line is short. */
static void draw_level(const struct drawing *self, unsigned number,
                       const struct htw__top_level *level) {
    char width[HTW__FIGURE_SIZE] = "1", reach[HTW__FIGURE_SIZE] = "";
    uint32_t group = 1;
    const unsigned margin = 32;
    while (level->parts / group > 8 && level->parts / group + margin > self->view->width)
        group *= 2;
    if (level->bucket_ns > 0) {
        htw__figure_duration(level->bucket_ns, width);
        uint64_t ns;
        if (__builtin_mul_overflow(level->bucket_ns, level->buckets, &ns))
            ns = UINT64_MAX;
        htw__figure_duration(ns, reach);
    }
    htw__page_add(self->page, HTW__LABEL "  level %u" HTW__PLAIN " %4u x %-6s " HTW__LABEL "|",
                  number, level->buckets, width);
    for (uint32_t i = 0; i < level->parts; i += group) {
        uint64_t timers = 0;
        for (uint32_t j = 0; j < group; j++)
            timers += level->timers[(level->clock + i + j) % level->parts];
        add_heat(self, timers);
    }
    htw__page_add(self->page, HTW__LABEL "| %s" HTW__PLAIN, reach);
    htw__page_end_line(self->page);
}

static void draw_levels(const struct drawing *self, const struct htw__top_source *source) {
    for (unsigned i = 0; i < source->level_count; i++)
        draw_level(self, i, &source->levels[i]);
}

/* ---- lines of numbers */

static void add_count(const struct drawing *self, const char *name, uint64_t count) {
    char text[HTW__FIGURE_SIZE];
    htw__page_add(self->page, HTW__LABEL "%s " HTW__PLAIN "%s  ", name,
                  htw__figure_count(count, text));
}

static void add_rate(const struct drawing *self, const char *name, uint64_t before, uint64_t now) {
    char text[HTW__FIGURE_SIZE];
    htw__page_add(self->page, HTW__LABEL "%s " HTW__PLAIN "%s  ", name,
                  htw__figure_rate(rate(self, before, now), text));
}

static void add_bytes(const struct drawing *self, uint64_t bytes) {
    char text[HTW__FIGURE_SIZE];
    htw__page_add(self->page, HTW__LABEL "memory " HTW__PLAIN "%s  ",
                  htw__figure_bytes(bytes, text));
}

static void add_duration(const struct drawing *self, const char *name, uint64_t ns) {
    char text[HTW__FIGURE_SIZE];
    htw__page_add(self->page, HTW__LABEL "%s " HTW__PLAIN "%-6s ", name,
                  htw__figure_duration(ns, text));
}

static void end_line(const struct drawing *self) {
    htw__page_end_line(self->page);
}

static void draw_distribution(const struct drawing *self, const char *name,
                              const struct htw__top_distribution *before,
                              const struct htw__top_distribution *now) {
    const struct {
        const char *name;
        double part;
        uint64_t total_ns;
    } percentiles[] = {
        { "p50", 0.5, now->p50_ns },
        { "p90", 0.9, now->p90_ns },
        { "p99", 0.99, now->p99_ns },
        { "p99.9", 0.999, now->p999_ns },
    };
    uint64_t counts[HTW__TOP_BUCKETS];
    bool is_recent =
        htw__bars_since(self->view->is_total ? NULL : before->histogram, now->histogram, counts);
    htw__page_add(self->page, HTW__LABEL "  %s  ", name);
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t ns = percentiles[i].total_ns;
        if (is_recent)
            ns = htw__bars_percentile_ns(counts, 1000, percentiles[i].part);
        /* No more than the maximum: that counts all of the bucket in which it lies. */
        add_duration(self, percentiles[i].name, ns < now->max_ns ? ns : now->max_ns);
    }
    add_duration(self, "max", now->max_ns);
    add_histogram(self, counts, 1, "us");
    end_line(self);
}

/* ---- sources */

static void draw_shards(const struct drawing *self, const struct htw__top_source *before,
                        const struct htw__top_source *now) {
    struct row *rows = calloc(now->shard_count + 1, sizeof(*rows));
    if (rows == NULL) {
        self->page->has_failed = true;
        return;
    }
    for (size_t i = 0; i < now->shard_count; i++) {
        rows[i].now = &now->shards[i];
        if (now->shards[i].number < before->shard_count)
            rows[i].before = before->shards[now->shards[i].number];
    }
    qsort(rows, now->shard_count, sizeof(*rows), compare_rows);
    htw__page_add(self->page, HTW__LABEL "  shard  in wheels  scheduled/s  cancelled/s    moved/s  "
                                         "groups    memory" HTW__PLAIN);
    end_line(self);
    for (size_t i = 0; i < now->shard_count; i++) {
        const struct row *row = &rows[i];
        char texts[6][HTW__FIGURE_SIZE];
        htw__page_add(
            self->page, "  %5" PRIu32 "  %9s  %11s  %11s  %9s  %6s  %8s", row->now->number,
            htw__figure_count(row->now->in_wheels, texts[0]),
            htw__figure_rate(rate(self, row->before.scheduled, row->now->scheduled), texts[1]),
            htw__figure_rate(rate(self, row->before.cancelled, row->now->cancelled), texts[2]),
            htw__figure_rate(rate(self, row->before.moved, row->now->moved), texts[3]),
            htw__figure_count(row->now->groups, texts[4]),
            htw__figure_bytes(row->now->memory, texts[5]));
        end_line(self);
    }
    free(rows);
}

/* Shows a number that means trouble only where it is not 0. */
static void add_trouble(const struct drawing *self, const char *name, uint64_t count) {
    char text[HTW__FIGURE_SIZE];
    if (count > 0)
        htw__page_add(self->page, HTW__WARNING "%s %s  " HTW__PLAIN, name,
                      htw__figure_count(count, text));
}

static void draw_scheduler(const struct drawing *self, const struct htw__top_source *before,
                           const struct htw__top_source *now) {
    uint64_t groups = 0;
    for (size_t i = 0; i < now->shard_count; i++)
        groups += now->shards[i].groups;
    htw__page_add(self->page, "  ");
    add_count(self, "pending", now->pending);
    add_count(self, "running", now->running);
    add_count(self, "groups", groups);
    add_bytes(self, now->memory);
    add_trouble(self, "late", now->late);
    add_trouble(self, "missed periods", now->missed);
    add_trouble(self, "refused", now->refused);
    end_line(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    add_rate(self, "scheduled", before->scheduled, now->scheduled);
    add_rate(self, "fired", before->fired, now->fired);
    add_rate(self, "cancelled", before->cancelled, now->cancelled);
    add_rate(self, "moved", before->moved, now->moved);
    add_rate(self, "demoted", before->demoted, now->demoted);
    end_line(self);
    htw__page_add(self->page, HTW__LABEL "              ");
    add_rate(self, "runs", before->runs, now->runs);
    add_rate(self, "wake-ups", before->wakeups, now->wakeups);
    add_rate(self, "of these with nothing due", before->empty_wakeups, now->empty_wakeups);
    end_line(self);
    draw_distribution(self, "lateness", &before->lateness, &now->lateness);
    draw_distribution(self, "callback", &before->callback, &now->callback);
    draw_levels(self, now);
    draw_shards(self, before, now);
}

static void draw_purgatory(const struct drawing *self, const struct htw__top_source *before,
                           const struct htw__top_source *now) {
    uint64_t counts[HTW__TOP_BUCKETS];
    htw__page_add(self->page, "  ");
    add_count(self, "pending", now->pending);
    add_count(self, "keys", now->keys);
    add_count(self, "watches", now->watched);
    add_count(self, "with a timeout", now->delayed);
    add_bytes(self, now->memory);
    end_line(self);
    /* The scheduler counts these as its own, and a group for each purgatory. */
    htw__page_add(self->page, "  ");
    add_count(self, "in its scheduler: timers", now->alarms);
    add_count(self, "groups", 1);
    end_line(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    add_rate(self, "submitted", before->submitted, now->submitted);
    add_rate(self, "completed", before->completed, now->completed);
    add_rate(self, "expired", before->expired, now->expired);
    add_rate(self, "cancelled", before->cancelled, now->cancelled);
    end_line(self);
    htw__page_add(self->page, HTW__LABEL "  waits     ");
    htw__bars_since(self->view->is_total ? NULL : before->waits, now->waits, counts);
    add_duration(self, "p50", htw__bars_percentile_ns(counts, 1000000, 0.50));
    add_duration(self, "p90", htw__bars_percentile_ns(counts, 1000000, 0.90));
    add_duration(self, "p99", htw__bars_percentile_ns(counts, 1000000, 0.99));
    add_histogram(self, counts, 1, "ms");
    end_line(self);
}

static void draw_wheel(const struct drawing *self, const struct htw__top_source *before,
                       const struct htw__top_source *now) {
    htw__page_add(self->page, "  ");
    add_count(self, "pending", now->pending);
    add_bytes(self, now->memory);
    if (now->age_ns > 2000000000) /* its owner has not slept since, or copies when it is asked */
        add_duration(self, "as of", now->age_ns);
    if (now->age_ns > 2000000000)
        htw__page_add(self->page, HTW__LABEL "ago" HTW__PLAIN);
    end_line(self);
    htw__page_add(self->page, HTW__LABEL "  per second: ");
    add_rate(self, "scheduled", before->scheduled, now->scheduled);
    add_rate(self, "expired", before->expired, now->expired);
    add_rate(self, "cancelled", before->cancelled, now->cancelled);
    add_rate(self, "moved", before->moved, now->moved);
    add_rate(self, "demoted", before->demoted, now->demoted);
    end_line(self);
    draw_levels(self, now);
}

static void draw_source(const struct drawing *self, const struct htw__top_source *now) {
    static const char *const kinds[] = { [HTW__TOP_SCHEDULER] = "scheduler",
                                         [HTW__TOP_PURGATORY] = "purgatory",
                                         [HTW__TOP_WHEEL] = "wheel" };
    const struct htw__top_source *before = source_before(self, now);
    end_line(self);
    htw__page_add(self->page, HTW__TITLE "%s %s" HTW__PLAIN, kinds[now->kind], now->name);
    if (*now->error != '\0')
        htw__page_add(self->page, HTW__WARNING "  %s" HTW__PLAIN, now->error);
    end_line(self);
    if (*now->error != '\0')
        return;
    if (now->kind == HTW__TOP_SCHEDULER)
        draw_scheduler(self, before, now);
    else if (now->kind == HTW__TOP_PURGATORY)
        draw_purgatory(self, before, now);
    else
        draw_wheel(self, before, now);
}

void htw__draw(const struct htw__view *view, const struct htw__top_snapshot *before,
               struct htw__top_snapshot *now, struct htw__page *page) {
    char age[HTW__FIGURE_SIZE];
    struct drawing self = { .view = view, .before = before, .page = page };
    if (before->clock_ns > 0 && now->clock_ns > before->clock_ns)
        self.seconds = (double)(now->clock_ns - before->clock_ns) / 1e9;
    sorting = &self;
    qsort(now->sources, now->source_count, sizeof(*now->sources), compare_sources);
    uint64_t open_ns =
        now->clock_ns > now->opened_ns ? (uint64_t)(now->clock_ns - now->opened_ns) : 0;
    htw__page_add(page, HTW__TITLE "%s" HTW__PLAIN " (process %" PRId64 ", htw %s), open for %s",
                  now->program, now->pid, now->version, htw__figure_duration(open_ns, age));
    end_line(&self);
    for (size_t i = 0; i < now->source_count; i++)
        draw_source(&self, &now->sources[i]);
    if (now->source_count == 0) {
        htw__page_add(page, "the program shows nothing yet");
        end_line(&self);
    }
    sorting = NULL;
}
