/* SPDX-License-Identifier: MIT */
/* rows.c - reads the lists of a source. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

/* Of a list, as a monitor tells them: drawing looks for each of them among those of the answer before. */
#define ROWS_MAX ((size_t)64)

static const struct {
    const char *list, *others, *other_count, *distance;
} names[] = {
    [HTW__TOP_SITES] = { "sites", "others", "sites", "next_ns" },
    [HTW__TOP_WAKEUPS] = { "next_wakeups", NULL, NULL, "left_ns" },
    [HTW__TOP_HERDS] = { "herds", NULL, NULL, "ago_ns" },
    [HTW__TOP_GROUPS] = { "groups", "other_groups", "groups", "" },
    [HTW__TOP_QUEUES] = { "queue_list", "other_queues", "queues", "" },
};

uint64_t htw__top_number(const json_t *object, const char *name) {
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 ? (uint64_t)value : 0;
}

void htw__top_numbers_read(const json_t *object, const struct htw__top_member *members,
                           size_t count, void *into) {
    for (size_t i = 0; i < count; i++) {
        uint64_t number = htw__top_number(object, members[i].name);
        memcpy((char *)into + members[i].offset, &number, sizeof(number));
    }
}

void htw__top_clean(char *text) {
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

void htw__top_text(const json_t *object, const char *name, char *into, size_t size) {
    const char *value = json_string_value(json_object_get(object, name));
    snprintf(into, size, "%s", value == NULL ? "" : value);
    htw__top_clean(into);
}

static const json_t *others_of(const json_t *source, enum htw__top_list list) {
    return names[list].others == NULL ? NULL : json_object_get(source, names[list].others);
}

/* Without the others. */
static size_t listed(const json_t *source, enum htw__top_list list) {
    size_t count = json_array_size(json_object_get(source, names[list].list));
    return count < ROWS_MAX ? count : ROWS_MAX;
}

size_t htw__top_rows_count(const json_t *source, enum htw__top_list list) {
    return listed(source, list) + json_is_object(others_of(source, list));
}

static void read_row(const json_t *object, const char *distance, struct htw__top_row *row) {
#define M(name) HTW__TOP_MEMBER(struct htw__top_row, name)
    static const struct htw__top_member members[] = {
        M(pending), M(armed),   M(cancelled), M(expired), M(late),   M(callback_ns), M(wakeups),
        M(timers),  M(delayed), M(ready),     M(leased),  M(buried), M(waiting),     M(scale_ppm)
    };
#undef M
    const json_t *instant = json_object_get(object, distance);
    *row = (struct htw__top_row) {
        .line = (uint32_t)htw__top_number(object, "line"),
        .distance_ns = json_is_integer(instant) ? json_integer_value(instant) : -1,
        .is_paused = json_is_true(json_object_get(object, "paused")),
    };
    htw__top_numbers_read(object, members, sizeof(members) / sizeof(members[0]), row);
    htw__top_text(object, "name", row->name, sizeof(row->name));
    htw__top_text(object, "function", row->function, sizeof(row->function));
    htw__top_text(object, "file", row->file, sizeof(row->file));
    htw__top_text(object, "symbol", row->symbol, sizeof(row->symbol));
    htw__top_text(object, "address", row->address, sizeof(row->address));
}

size_t htw__top_rows_read(const json_t *source, enum htw__top_list list, struct htw__top_row *rows,
                          size_t room) {
    const json_t *array = json_object_get(source, names[list].list);
    const json_t *others = others_of(source, list);
    size_t count = 0, most = listed(source, list);
    for (; count < most && count < room; count++)
        read_row(json_array_get(array, count), names[list].distance, &rows[count]);
    if (json_is_object(others) && count < room) {
        read_row(others, "", &rows[count]);
        rows[count].others = htw__top_number(others, names[list].other_count);
        rows[count].others += rows[count].others == 0; /* of an unknown number */
        count++;
    }
    return count;
}

const struct htw__top_row *htw__top_row_find(const struct htw__top_rows *rows,
                                             const struct htw__top_row *like) {
    for (size_t i = 0; i < rows->count; i++) {
        const struct htw__top_row *row = &rows->of[i];
        if ((row->others > 0) == (like->others > 0) && strcmp(row->address, like->address) == 0 &&
            strcmp(row->name, like->name) == 0)
            return row;
    }
    return NULL;
}
