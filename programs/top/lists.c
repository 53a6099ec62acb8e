/* SPDX-License-Identifier: MIT */
/* lists.c - draws a list of a source: sites, wake-ups, herds, groups, queues, shards. */
#include "draw.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As a monitor tells them, of a list: drawing looks for each of them among those of the answer before. */
#define ROWS_MAX 64
#define SHARDS_MAX 4096

static const struct list {
    const char *member;  /* of the source */
    const char *subject; /* of a row */
    const char *nothing; /* what is said if there are no rows */
    struct htw__column columns[HTW__COLUMNS_MAX];
    const char *others, *other_count;   /* members: the sum of the rows that are not told */
    const char *unnamed;                /* a row without a name */
    const char *sorts[HTW__SORT_COUNT]; /* members to sort by; none: as the monitor tells them */
} lists[] = {
    [HTW__LIST_SITES] = { "sites",
                          "site",
                          "no timer is known",
                          { { "wake-ups/s", 10, HTW__CHANGE, "wakeups" },
                            { "pending", 7, HTW__COUNT, "pending" },
                            { "CPU", 6, HTW__CPU, "callback_ns" },
                            { "late/s", 6, HTW__CHANGE, "late" },
                            { "runs/s", 6, HTW__CHANGE, "expired" },
                            { "armed/s", 7, HTW__CHANGE, "armed" },
                            { "cancelled/s", 11, HTW__CHANGE, "cancelled" },
                            { "next", 6, HTW__DURATION, "next_ns" } },
                          .others = "others",
                          .other_count = "sites",
                          .unnamed = "-",
                          .sorts = { [HTW__SORT_PENDING] = "pending",
                                     [HTW__SORT_RATE] = "armed",
                                     [HTW__SORT_CPU] = "callback_ns",
                                     [HTW__SORT_LATE] = "late",
                                     [HTW__SORT_WAKEUPS] = "wakeups" } },
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
                           { { "pending", 7, HTW__COUNT, "pending" },
                             { "scale", 6, HTW__SCALE, "scale_ppm" } },
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
    [HTW__LIST_SHARDS] = { "shards",
                           "",
                           "no shard",
                           { { "shard", 5, HTW__PLACE, "" },
                             { "in wheels", 9, HTW__COUNT, "in_wheels" },
                             { "scheduled/s", 11, HTW__CHANGE, "scheduled" },
                             { "cancelled/s", 11, HTW__CHANGE, "cancelled" },
                             { "moved/s", 9, HTW__CHANGE, "moved" },
                             { "groups", 6, HTW__COUNT, "groups" },
                             { "memory", 8, HTW__BYTES, "memory_bytes" } },
                           .unnamed = "",
                           .sorts = { [HTW__SORT_PENDING] = "in_wheels",
                                      [HTW__SORT_RATE] = "scheduled",
                                      [HTW__SORT_MEMORY] = "memory_bytes" } },
};

/* ---- the rows */

/* Shards have no names, and stay where they are. NULL: it was not there. */
static const json_t *row_before(const json_t *array, const json_t *row, size_t place) {
    const char *name = htw__answer_string(row, "name");
    const char *address = htw__answer_string(row, "address");
    if (*name == '\0' && *address == '\0')
        return json_array_get(array, place);
    for (size_t i = 0; i < json_array_size(array) && i < ROWS_MAX; i++) {
        const json_t *before = json_array_get(array, i);
        if (strcmp(htw__answer_string(before, "address"), address) == 0 &&
            strcmp(htw__answer_string(before, "name"), name) == 0)
            return before;
    }
    return NULL;
}

/* What has happened lately counts first; then all that has, and what is pending. */
static void set_keys(const struct htw__drawing *self, const struct list *list,
                     struct htw__item *row) {
    enum htw__sort sort = htw__view_sort(self->view);
    const char *member = list->sorts[sort];
    if (member == NULL)
        return;
    bool is_change = sort != HTW__SORT_PENDING && sort != HTW__SORT_MEMORY && !self->view->is_total;
    row->keys[1] = htw__answer_number(row->now, member);
    row->keys[0] = is_change ? htw__item_growth(row, member) : row->keys[1];
    row->keys[2] = htw__answer_number(row->now, "pending");
}

static bool is_sorted(const struct list *list) {
    return list->sorts[HTW__SORT_PENDING] != NULL;
}

/* Returns how many there are, without the others. */
static size_t take_rows(const struct htw__drawing *self, const struct list *list,
                        const struct htw__item *source, struct htw__item *rows, size_t room) {
    const json_t *now = json_object_get(source->now, list->member);
    const json_t *before = json_object_get(source->before, list->member);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(now) && count < room; i++) {
        const json_t *row = json_array_get(now, i);
        if (list == &lists[HTW__LIST_HERDS] && htw__answer_number(row, "timers") < 2)
            continue; /* one alone is none */
        rows[count] = (struct htw__item) { row, row_before(before, row, i), i, { 0 } };
        set_keys(self, list, &rows[count++]);
    }
    if (is_sorted(list))
        htw__items_sort(rows, count, self->view->is_reversed);
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
    else if (!htw__answer_observes(source->now, "sites"))
        hint = "Nothing is counted by site. The key o switches that on, and so does "
               "htw top --observe +sites; it costs some nanoseconds for each timer.";
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
    bool is_counted = list != &lists[HTW__LIST_SITES] || htw__answer_observes(source->now, "sites");
    unsigned count = 0;
    for (unsigned i = 0; i < HTW__COLUMNS_MAX && list->columns[i].title != NULL; i++)
        if (is_counted || (list->columns[i].how != HTW__CHANGE && list->columns[i].how != HTW__CPU))
            columns[count++] = list->columns[i];
    return count;
}

static void draw_rows(const struct htw__drawing *self, const struct list *list,
                      const struct htw__item *source, struct htw__item *rows,
                      struct htw__table_row *drawn, size_t room) {
    struct htw__table table = { .subject = list->subject, .rows = drawn };
    const json_t *others = list->others == NULL ? NULL : json_object_get(source->now, list->others);
    size_t count = take_rows(self, list, source, rows, room);
    draw_hint(self, list, source, rows, count);
    for (size_t i = 0; i < count; i++)
        describe(list, rows[i].now, &drawn[i]);
    if (json_is_object(others)) {
        rows[count] =
            (struct htw__item) { .now = others,
                                 .before = json_object_get(source->before, list->others) };
        describe_others(list, others, &drawn[count++]);
    }
    table.column_count = choose_columns(list, source, table.columns);
    table.row_count = count;
    for (size_t i = 0; i < count; i++)
        for (unsigned j = 0; j < table.column_count; j++)
            htw__item_figure(self, &rows[i], table.columns[j].how, table.columns[j].member,
                             drawn[i].texts[j]);
    if (count > 0)
        htw__table_draw(&table, self->page, self->view->is_total);
    else
        htw__page_flow(self->page, "  %s", list->nothing);
    if (count == 0)
        htw__page_end_line(self->page);
}

void htw__list_draw(const struct htw__drawing *self, const struct htw__item *source,
                    enum htw__list kind) {
    size_t most = kind == HTW__LIST_SHARDS ? SHARDS_MAX : ROWS_MAX;
    size_t size = json_array_size(json_object_get(source->now, lists[kind].member));
    size_t room = size < most ? size : most;
    struct htw__item *rows = calloc(room + 1, sizeof(*rows));
    struct htw__table_row *drawn = calloc(room + 1, sizeof(*drawn));
    if (rows != NULL && drawn != NULL)
        draw_rows(self, &lists[kind], source, rows, drawn, room);
    else
        self->page->has_failed = true;
    free(rows);
    free(drawn);
}
