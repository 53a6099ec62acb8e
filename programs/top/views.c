/* SPDX-License-Identifier: MIT */
/* views.c - draws the lists of a source. */
#include "views.h"

#include "figures.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a row is about */

static void describe_others(const struct htw__top_row *row, struct htw__table_row *ret_row) {
    char count[HTW__FIGURE_SIZE];
    snprintf(ret_row->subject, sizeof(ret_row->subject), "%s others",
             htw__figure_count(row->others, count));
}

/* The name, or else what is called, or else the address. */
static void describe_site(const struct htw__top_row *row, struct htw__table_row *ret_row) {
    const char *subject = *row->name != '\0'     ? row->name
                          : *row->symbol != '\0' ? row->symbol
                                                 : row->address;
    snprintf(ret_row->subject, sizeof(ret_row->subject), "%s", *subject != '\0' ? subject : "-");
    if (*row->function != '\0')
        snprintf(ret_row->where, sizeof(ret_row->where), "%s()", row->function);
    if (*row->file != '\0')
        snprintf(ret_row->place, sizeof(ret_row->place), "%s:%" PRIu32, row->file, row->line);
}

static void describe_group(const struct htw__top_row *row, struct htw__table_row *ret_row) {
    snprintf(ret_row->subject, sizeof(ret_row->subject), "%s",
             *row->name != '\0' ? row->name : row->address);
    snprintf(ret_row->where, sizeof(ret_row->where), "%s", row->is_paused ? "paused" : "");
}

static void describe_queue(const struct htw__top_row *row, struct htw__table_row *ret_row) {
    snprintf(ret_row->subject, sizeof(ret_row->subject), "%s",
             *row->name != '\0' ? row->name : "(the default queue)");
    snprintf(ret_row->where, sizeof(ret_row->where), "%s", row->is_paused ? "paused" : "");
}

/* ---- numbers */

static void distance(int64_t ns, char text[HTW__FIGURE_SIZE]) {
    if (ns < 0)
        snprintf(text, HTW__FIGURE_SIZE, "-");
    else
        htw__figure_duration((uint64_t)ns, text);
}

/* A count of all time, or how often in a second. */
static void changes(const struct htw__drawing *self, uint64_t before, uint64_t now,
                    char text[HTW__FIGURE_SIZE]) {
    if (self->view->is_total)
        htw__figure_count(now, text);
    else
        htw__figure_rate(htw__line_rate(self, before, now), text);
}

/* Of one CPU, in percent; or the time. */
static void cpu(const struct htw__drawing *self, uint64_t before_ns, uint64_t now_ns,
                char text[HTW__FIGURE_SIZE]) {
    double share = htw__line_rate(self, before_ns, now_ns) / 1e9;
    if (self->view->is_total)
        htw__figure_duration(now_ns, text);
    else
        snprintf(text, HTW__FIGURE_SIZE, "%.*f%%",
                 share < 0.1 ? 2
                 : share < 1 ? 1
                             : 0,
                 100 * (share < 9999 ? share : 9999));
}

static void scale(const struct htw__top_row *row, char text[HTW__FIGURE_SIZE]) {
    if (row->others > 0)
        snprintf(text, HTW__FIGURE_SIZE, "-");
    else
        snprintf(text, HTW__FIGURE_SIZE, "%.3g", (double)row->scale_ppm / 1e6);
}

/* How a number of a row is shown. */
enum how { COUNT, CHANGE, CPU, DISTANCE, SCALE };

static uint64_t number_at(const struct htw__top_row *row, size_t offset) {
    uint64_t number;
    memcpy(&number, (const char *)row + offset, sizeof(number));
    return number;
}

static void set_cell(const struct htw__drawing *self, const struct htw__column *column,
                     const struct htw__top_row *before, const struct htw__top_row *now,
                     char text[HTW__FIGURE_SIZE]) {
    switch ((enum how)column->how) {
    case COUNT:
        htw__figure_count(number_at(now, column->offset), text);
        break;
    case CHANGE:
        changes(self, number_at(before, column->offset), number_at(now, column->offset), text);
        break;
    case CPU:
        cpu(self, before->callback_ns, now->callback_ns, text);
        break;
    case DISTANCE:
        distance(now->distance_ns, text);
        break;
    case SCALE:
        scale(now, text);
        break;
    }
}

/* ---- lists */

struct list {
    const char *subject; /* of a row */
    const char *nothing; /* what is said if there are no rows */
    void (*describe)(const struct htw__top_row *row, struct htw__table_row *ret_row);
    unsigned column_count;
    struct htw__column columns[HTW__COLUMNS_MAX];
};

#define AT(member) offsetof(struct htw__top_row, member)
#define NEXT \
    { "next", 6, DISTANCE, 0 }
#define PENDING \
    { "pending", 7, COUNT, AT(pending) }
#define TIMERS \
    { "timers", 6, COUNT, AT(timers) }

/* `per` is "/s", where it is not of all time. */
#define SITES(per)                                                                             \
    {                                                                                          \
        "site", "no timer was armed", describe_site, 8, {                                      \
            { "wake-ups" per, 7 + sizeof(per), CHANGE, AT(wakeups) }, PENDING,                 \
                { "CPU", 6, CPU, 0 }, { "late" per, 6, CHANGE, AT(late) },                     \
                { "runs" per, 6, CHANGE, AT(expired) }, { "armed" per, 7, CHANGE, AT(armed) }, \
                { "cancelled" per, 8 + sizeof(per), CHANGE, AT(cancelled) }, NEXT              \
        }                                                                                      \
    }

static const struct list counted_sites = SITES("/s"), total_sites = SITES("");

static const struct list pending_sites = {
    "site", "no timer is pending", describe_site, 2, { PENDING, NEXT }
};

static const struct list other_lists[HTW__TOP_LISTS] = {
    [HTW__TOP_WAKEUPS] = { "the first of them",
                           "no timer is pending",
                           describe_site,
                           2,
                           { { "wakes in", 8, DISTANCE, 0 }, TIMERS } },
    [HTW__TOP_HERDS] = { "the first of them",
                         "no two timers were due at one instant in the last minute",
                         describe_site,
                         2,
                         { { "ago", 6, DISTANCE, 0 }, TIMERS } },
    [HTW__TOP_GROUPS] = { "group",
                          "no group",
                          describe_group,
                          2,
                          { PENDING, { "scale", 6, SCALE, 0 } } },
    [HTW__TOP_QUEUES] = { "queue",
                          "no queue",
                          describe_queue,
                          5,
                          { { "delayed", 7, COUNT, AT(delayed) },
                            { "ready", 6, COUNT, AT(ready) },
                            { "leased", 6, COUNT, AT(leased) },
                            { "buried", 6, COUNT, AT(buried) },
                            { "waiting", 7, COUNT, AT(waiting) } } },
};

static const struct list *list_of(const struct htw__drawing *self,
                                  const struct htw__top_source *source, enum htw__top_list list) {
    if (list != HTW__TOP_SITES)
        return &other_lists[list];
    if (!source->counts_sites)
        return &pending_sites;
    return self->view->is_total ? &total_sites : &counted_sites;
}

/* ---- the order of sites */

/* What qsort() compares has no argument for it. */
static const struct htw__drawing *sorting;
static const struct htw__top_rows *sorting_before;

/* Nothing is known to have changed in a row that was not among those before. */
static const struct htw__top_row *row_before(const struct htw__top_rows *rows,
                                             const struct htw__top_row *now) {
    const struct htw__top_row *before = htw__top_row_find(rows, now);
    return before == NULL ? now : before;
}

static uint64_t counted(const struct htw__top_row *row, enum htw__sort sort) {
    return sort == HTW__SORT_RATE   ? row->armed
           : sort == HTW__SORT_CPU  ? row->callback_ns
           : sort == HTW__SORT_LATE ? row->late
                                    : row->wakeups;
}

/* What sites are sorted by: how it has changed, or where nothing has, all of it. */
static uint64_t key(const struct htw__top_row *now, enum htw__sort sort, bool is_change) {
    if (sort == HTW__SORT_PENDING)
        return now->pending;
    uint64_t before = counted(row_before(sorting_before, now), sort);
    return is_change && counted(now, sort) >= before ? counted(now, sort) - before
                                                     : counted(now, sort);
}

static int compare_keys(const struct htw__top_row *a, const struct htw__top_row *b,
                        enum htw__sort sort) {
    for (int is_change = !sorting->view->is_total; is_change >= 0; is_change--) {
        uint64_t of_a = key(a, sort, is_change), of_b = key(b, sort, is_change);
        if (of_a != of_b)
            return of_a < of_b ? 1 : -1;
    }
    return 0;
}

/* Others are last. Equal ones: as the program tells them, by pending timers, and by name. */
static int compare_sites(const void *left, const void *right) {
    const struct htw__top_row *a = left, *b = right;
    enum htw__sort sort = htw__view_sort(sorting->view);
    int order = 0;
    if ((a->others > 0) != (b->others > 0))
        return a->others > 0 ? 1 : -1;
    if (sort != HTW__SORT_NAME)
        order = compare_keys(a, b, sort);
    if (order == 0 && sort != HTW__SORT_NAME)
        order = compare_keys(a, b, HTW__SORT_PENDING);
    if (order == 0)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = strcmp(a->address, b->address);
    return sorting->view->is_reversed ? -order : order;
}

static void sort_sites(const struct htw__drawing *self, const struct htw__top_rows *before,
                       const struct htw__top_rows *now) {
    sorting = self;
    sorting_before = before;
    qsort(now->of, now->count, sizeof(*now->of), compare_sites);
    sorting = NULL;
}

/* ---- all of it */

#define HERD_GREAT 10 /* timers, of which something is worth to be done */

/* What the table does not say. */
static void draw_hints(const struct htw__drawing *self, const struct htw__top_source *now,
                       enum htw__top_list list, uint64_t greatest) {
    const char *hint = NULL;
    bool is_counted = list == HTW__TOP_SITES || list == HTW__TOP_HERDS;
    if (is_counted && !now->tells_observed)
        hint = "This program is of a version that does not count by site.";
    else if (is_counted && !now->counts_sites)
        hint = "Nothing is counted by site. The key o switches that on, and so does "
               "htw top --observe +sites; it costs some nanoseconds for each timer.";
    else if (list == HTW__TOP_HERDS && greatest >= HERD_GREAT)
        hint =
            "What may come later, let it: htw_schedule_within(). What repeats, begin at different "
            "times. What is tried again, with jitter: htw_backoff_next(). See htw help top.";
    if (hint == NULL)
        return;
    htw__page_add(self->page, "  " HTW__WARNING);
    htw__flow_add_words(self, hint);
    htw__page_add(self->page, HTW__PLAIN);
    htw__line_end(self);
}

static void draw_nothing(const struct htw__drawing *self, const char *nothing) {
    htw__page_add(self->page, "  %s", nothing);
    htw__line_end(self);
}

void htw__view_draw_list(const struct htw__drawing *self, const struct htw__top_source *before,
                         const struct htw__top_source *now, enum htw__top_list list) {
    const struct htw__top_rows *rows = &now->lists[list];
    const struct list *form = list_of(self, now, list);
    struct htw__table_row *drawn = calloc(rows->count + 1, sizeof(*drawn));
    size_t drawn_count = 0;
    uint64_t greatest = 0; /* herd */
    if (drawn == NULL) {
        self->page->has_failed = true;
        return;
    }
    if (list == HTW__TOP_SITES)
        sort_sites(self, &before->lists[list], rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct htw__top_row *row = &rows->of[i];
        if (list == HTW__TOP_HERDS && row->timers < 2) /* one alone is none */
            continue;
        greatest = row->timers > greatest ? row->timers : greatest;
        struct htw__table_row *drawn_row = &drawn[drawn_count++];
        (row->others > 0 ? describe_others : form->describe)(row, drawn_row);
        const struct htw__top_row *as_before = row_before(&before->lists[list], row);
        for (unsigned j = 0; j < form->column_count; j++)
            set_cell(self, &form->columns[j], as_before, row, drawn_row->texts[j]);
    }
    draw_hints(self, now, list, greatest);
    if (drawn_count > 0)
        htw__table_draw(self, form->columns, form->column_count, form->subject, drawn, drawn_count);
    else
        draw_nothing(self, form->nothing);
    free(drawn);
}
