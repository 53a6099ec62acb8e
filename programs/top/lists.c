/* SPDX-License-Identifier: MIT */
/* lists.c - draws a list of a source: sites, wake-ups, herds, groups, queues. */
#include "draw.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As a monitor tells them, of a list: drawing looks for each of them among those of the answer before. */
#define ROWS_MAX 64

static const struct list {
    const char *member;  /* of the source */
    const char *subject; /* of a row */
    const char *nothing; /* what is said if there are no rows */
    struct htw__column columns[HTW__COLUMNS_MAX];
    const char *others, *other_count; /* members: the sum of the rows that are not told */
    const char *unnamed;              /* a row without a name */
} lists[] = {
    [HTW__LIST_SITES] = { "sites",
                          "site",
                          "no timer is known",
                          { { "wake-ups/s", 10, HTW__RATE, "wakeups" },
                            { "pending", 7, HTW__COUNT, "pending" },
                            { "CPU", 6, HTW__CPU, "callback_ns" },
                            { "late/s", 6, HTW__RATE, "late" },
                            { "runs/s", 6, HTW__RATE, "expired" },
                            { "armed/s", 7, HTW__RATE, "armed" },
                            { "cancelled/s", 11, HTW__RATE, "cancelled" },
                            { "next", 6, HTW__DURATION, "next_ns" } },
                          .others = "others",
                          .other_count = "sites",
                          .unnamed = "-" },
    [HTW__LIST_WAKEUPS] = { "next_wakeups",
                            "the first of them",
                            "no timer is pending",
                            { { "wakes in", 8, HTW__DURATION, "left_ns" },
                              { "timers", 6, HTW__COUNT, "timers" } },
                            .unnamed = "-" },
    [HTW__LIST_HERDS] = { "herds",
                          "the first of them",
                          "no two timers were due at one instant in the last minute",
                          { { "ago", 6, HTW__DURATION, "ago_ns" },
                            { "timers", 6, HTW__COUNT, "timers" } },
                          .unnamed = "-" },
    [HTW__LIST_GROUPS] = { "groups",
                           "group",
                           "no group",
                           { { "pending", 7, HTW__COUNT, "pending" } },
                           .others = "other_groups",
                           .other_count = "groups",
                           .unnamed = "-" },
    [HTW__LIST_QUEUES] = { "queue_list",
                           "queue",
                           "no queue",
                           { { "delayed", 7, HTW__COUNT, "delayed" },
                             { "ready", 6, HTW__COUNT, "ready" },
                             { "leased", 6, HTW__COUNT, "leased" },
                             { "buried", 6, HTW__COUNT, "buried" },
                             { "waiting", 7, HTW__COUNT, "waiting" } },
                           .others = "other_queues",
                           .other_count = "queues",
                           .unnamed = "(the default queue)" },
};

/* ---- the rows */

static int compare_member(const json_t *a, const json_t *b, const char *member) {
    return strcmp(htw__answer_string(a, member), htw__answer_string(b, member));
}

/* NULL: it was not there. */
static const json_t *row_before(const json_t *array, const json_t *row) {
    for (size_t i = 0; i < json_array_size(array) && i < ROWS_MAX; i++) {
        const json_t *before = json_array_get(array, i);
        if (compare_member(before, row, "address") == 0 && compare_member(before, row, "name") == 0)
            return before;
    }
    return NULL;
}

/* How two sites are sorted: what has happened lately counts first, then all that has, and what is pending. */
static int compare_sites(enum htw__sort sort, const struct htw__item *a,
                         const struct htw__item *b) {
    static const char *const members[HTW__SORT_COUNT] = { "wakeups", "pending", "callback_ns",
                                                          "late",    "armed",   "" };
    const char *member = members[sort];
    uint64_t keys[][2] = {
        { htw__item_growth(a, member), htw__item_growth(b, member) },
        { htw__answer_number(a->now, member), htw__answer_number(b->now, member) },
        { htw__answer_number(a->now, "pending"), htw__answer_number(b->now, "pending") },
    };
    if (sort == HTW__SORT_PENDING)
        keys[0][0] = keys[0][1] = 0;
    for (size_t i = 0; i < 3 && sort != HTW__SORT_NAME; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? 1 : -1;
    int order = compare_member(a->now, b->now, "name");
    return order != 0 ? order : compare_member(a->now, b->now, "address");
}

/* They are few, and those that are alike stay in their order. */
static void sort_sites(enum htw__sort sort, struct htw__item *rows, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t at = i; at > 0 && compare_sites(sort, &rows[at - 1], &rows[at]) > 0; at--) {
            struct htw__item row = rows[at];
            rows[at] = rows[at - 1];
            rows[at - 1] = row;
        }
}

/* Returns how many there are, without the others. */
static size_t take_rows(const struct htw__drawing *self, const struct list *list,
                        const struct htw__item *source, struct htw__item *rows) {
    const json_t *now = json_object_get(source->now, list->member);
    const json_t *before = json_object_get(source->before, list->member);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(now) && count < ROWS_MAX; i++) {
        const json_t *row = json_array_get(now, i);
        if (list == &lists[HTW__LIST_HERDS] && htw__answer_number(row, "timers") < 2)
            continue; /* one alone is none */
        rows[count++] = (struct htw__item) { row, row_before(before, row) };
    }
    if (list == &lists[HTW__LIST_SITES])
        sort_sites(self->view->sort, rows, count);
    return count;
}

/* The name, or else what is called, or else the address. */
static void describe(const struct list *list, const json_t *row, struct htw__table_row *drawn) {
    static const char *const names[] = { "name", "symbol", "address" };
    char text[HTW__ANSWER_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && *drawn->subject == '\0'; i++)
        htw__answer_text(row, names[i], drawn->subject);
    if (*drawn->subject == '\0')
        strcpy(drawn->subject, list->unnamed);
    if (*htw__answer_text(row, "function", text) != '\0')
        snprintf(drawn->where, sizeof(drawn->where), "%s()", text);
    else if (json_is_true(json_object_get(row, "paused")))
        strcpy(drawn->where, "paused");
    if (*htw__answer_text(row, "file", text) != '\0')
        snprintf(drawn->place, sizeof(drawn->place), "%s:%" PRIu64, text,
                 htw__answer_number(row, "line"));
}

static void describe_others(const struct list *list, const json_t *others,
                            struct htw__table_row *drawn) {
    char text[HTW__FIGURE_SIZE];
    uint64_t count = htw__answer_number(others, list->other_count);
    htw__figure_count(count == 0 ? 1 : count, text); /* of an unknown number */
    snprintf(drawn->subject, sizeof(drawn->subject), "%s others", text);
}

/* ---- the table */

#define HERD_GREAT 10 /* timers, of which something is worth to be done */

/* What the table does not say. */
static void draw_hint(const struct htw__drawing *self, const struct list *list,
                      const struct htw__item *source, const struct htw__item *rows, size_t count) {
    bool is_herds = list == &lists[HTW__LIST_HERDS];
    const char *hint = NULL;
    uint64_t greatest = 0; /* herd */
    for (size_t i = 0; i < count && is_herds; i++)
        if (htw__answer_number(rows[i].now, "timers") > greatest)
            greatest = htw__answer_number(rows[i].now, "timers");
    if (!is_herds && list != &lists[HTW__LIST_SITES])
        return;
    if (!json_is_array(json_object_get(source->now, "observed")))
        hint = "This program is of a version that does not count by site.";
    else if (!htw__answer_has(json_object_get(source->now, "observed"), "sites"))
        hint = "Nothing is counted by site. htw top --observe +sites switches that on; it costs "
               "some nanoseconds for each timer.";
    else if (greatest >= HERD_GREAT)
        hint =
            "What may come later, let it: htw_schedule_within(). What repeats, begin at different "
            "times. What is tried again, with jitter: htw_backoff_next(). See htw help top.";
    if (hint == NULL)
        return;
    htw__page_add(self->page, "  " HTW__WARNING);
    htw__page_flow_words(self->page, hint);
    htw__page_add(self->page, HTW__PLAIN);
    htw__page_end_line(self->page);
}

/* Without what is counted by site, where nothing is. */
static unsigned choose_columns(const struct list *list, const struct htw__item *source,
                               struct htw__column columns[HTW__COLUMNS_MAX]) {
    bool is_counted = list != &lists[HTW__LIST_SITES] ||
                      htw__answer_has(json_object_get(source->now, "observed"), "sites");
    unsigned count = 0;
    for (unsigned i = 0; i < HTW__COLUMNS_MAX && list->columns[i].title != NULL; i++)
        if (is_counted || (list->columns[i].how != HTW__RATE && list->columns[i].how != HTW__CPU))
            columns[count++] = list->columns[i];
    return count;
}

void htw__list_draw(const struct htw__drawing *self, const struct htw__item *source,
                    enum htw__list kind) {
    const struct list *list = &lists[kind];
    struct htw__item rows[ROWS_MAX + 1] = { { NULL, NULL } };
    struct htw__table_row *drawn = calloc(ROWS_MAX + 1, sizeof(*drawn));
    struct htw__table table = { .subject = list->subject, .rows = drawn };
    const json_t *others = list->others == NULL ? NULL : json_object_get(source->now, list->others);
    self->page->has_failed |= drawn == NULL;
    if (drawn == NULL)
        return;
    size_t count = take_rows(self, list, source, rows);
    draw_hint(self, list, source, rows, count);
    for (size_t i = 0; i < count; i++)
        describe(list, rows[i].now, &drawn[i]);
    if (json_is_object(others)) {
        rows[count] = (struct htw__item) { others, json_object_get(source->before, list->others) };
        describe_others(list, others, &drawn[count++]);
    }
    table.column_count = choose_columns(list, source, table.columns);
    table.row_count = count;
    for (size_t i = 0; i < count; i++)
        for (unsigned j = 0; j < table.column_count; j++)
            htw__item_figure(self, &rows[i], table.columns[j].how, table.columns[j].member,
                             drawn[i].texts[j]);
    if (count > 0) {
        htw__table_draw(&table, self->page);
    } else {
        htw__page_flow(self->page, "  %s", list->nothing);
        htw__page_end_line(self->page);
    }
    free(drawn);
}
