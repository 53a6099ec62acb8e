/* SPDX-License-Identifier: MIT */
/* items.c - sources and rows of lists: their order, and their figures. */
#include "draw.h"

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

/* ---- the order */

/* The first one counts if none was chosen. */
static const enum htw__sort sorts_of_sources[] = { HTW__SORT_NAME, HTW__SORT_PENDING,
                                                   HTW__SORT_RATE, HTW__SORT_MEMORY,
                                                   HTW__SORT_COUNT };
static const enum htw__sort sorts_of_sites[] = { HTW__SORT_WAKEUPS, HTW__SORT_PENDING,
                                                 HTW__SORT_CPU,     HTW__SORT_LATE,
                                                 HTW__SORT_RATE,    HTW__SORT_NAME,
                                                 HTW__SORT_COUNT };

/* Where the chosen one is among those of the page; the first one: it is not. */
static const enum htw__sort *chosen_sort(const struct htw__view *view,
                                         const enum htw__sort **ret_sorts) {
    *ret_sorts = view->page == HTW__PAGE_SITES ? sorts_of_sites : sorts_of_sources;
    for (const enum htw__sort *sort = *ret_sorts; *sort != HTW__SORT_COUNT; sort++)
        if (*sort == view->sort)
            return sort;
    return *ret_sorts;
}

enum htw__sort htw__view_sort(const struct htw__view *view) {
    const enum htw__sort *sorts;
    return *chosen_sort(view, &sorts);
}

enum htw__sort htw__view_next_sort(const struct htw__view *view) {
    const enum htw__sort *sorts, *sort = chosen_sort(view, &sorts);
    return sort[1] == HTW__SORT_COUNT ? *sorts : sort[1];
}

static int compare_items(const void *left, const void *right) {
    const struct htw__item *a = left, *b = right;
    for (size_t i = 0; i < sizeof(a->keys) / sizeof(a->keys[0]); i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? 1 : -1;
    int order = strcmp(htw__answer_string(a->now, "name"), htw__answer_string(b->now, "name"));
    if (order == 0)
        order =
            strcmp(htw__answer_string(a->now, "address"), htw__answer_string(b->now, "address"));
    return order != 0 ? order : a->place < b->place ? -1 : 1;
}

void htw__items_sort(struct htw__item *items, size_t count, bool is_reversed) {
    qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count / 2 && is_reversed; i++) {
        struct htw__item first = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = first;
    }
}

/* ---- figures */

uint64_t htw__item_growth(const struct htw__item *item, const char *member) {
    uint64_t before = htw__answer_number(item->before, member);
    uint64_t now = htw__answer_number(item->now, member);
    return item->before == NULL || now < before ? 0 : now - before;
}

static const char *format_cpu(double share, char text[HTW__FIGURE_SIZE]) {
    int decimals = share < 0.1 ? 2 : share < 1 ? 1 : 0;
    snprintf(text, HTW__FIGURE_SIZE, "%.*f%%", decimals, 100 * (share < 9999 ? share : 9999));
    return text;
}

/* Of what a row of others does not have. */
static const char *format_none(char text[HTW__FIGURE_SIZE]) {
    return strcpy(text, "-");
}

const char *htw__item_figure(const struct htw__drawing *self, const struct htw__item *item,
                             enum htw__how how, const char *member, char text[HTW__FIGURE_SIZE]) {
    const json_t *value = json_object_get(item->now, member);
    uint64_t number = htw__answer_number(item->now, member);
    double rate = self->seconds <= 0 ? 0 : (double)htw__item_growth(item, member) / self->seconds;
    bool is_total = self->view->is_total;
    switch (how) {
    case HTW__COUNT:
        return htw__figure_count(number, text);
    case HTW__RATE:
        return htw__figure_rate(rate, text);
    case HTW__CHANGE:
        return is_total ? htw__figure_count(number, text) : htw__figure_rate(rate, text);
    case HTW__CPU:
        return is_total ? htw__figure_duration(number, text) : format_cpu(rate / 1e9, text);
    case HTW__BYTES:
        return htw__figure_bytes(number, text);
    case HTW__DURATION:
        return json_is_integer(value) && json_integer_value(value) >= 0
                   ? htw__figure_duration(number, text)
                   : format_none(text);
    case HTW__SCALE:
        snprintf(text, HTW__FIGURE_SIZE, "%.3g", (double)number / 1e6);
        return value == NULL ? format_none(text) : text;
    case HTW__PLACE:
        snprintf(text, HTW__FIGURE_SIZE, "%zu", item->place);
        return text;
    case HTW__HOWS:
        break;
    }
    return format_none(text);
}
