/* SPDX-License-Identifier: MIT */
/* items.c - the figures of sources and of rows of lists. */
#include "draw.h"

#include <string.h>

const char *const htw__sort_names[] = { "wakeups", "pending", "cpu", "late", "rate", "name", NULL };
_Static_assert(sizeof(htw__sort_names) / sizeof(htw__sort_names[0]) == HTW__SORT_COUNT + 1,
               "one each");

const char *const htw__page_names[] = { "overview", "sites",  "wakeups", "herds",
                                        "groups",   "queues", NULL };
_Static_assert(sizeof(htw__page_names) / sizeof(htw__page_names[0]) == HTW__PAGE_COUNT + 1,
               "one each");

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
    switch (how) {
    case HTW__COUNT:
        return htw__figure_count(number, text);
    case HTW__RATE:
        return htw__figure_rate(rate, text);
    case HTW__CPU:
        return format_cpu(rate / 1e9, text);
    case HTW__BYTES:
        return htw__figure_bytes(number, text);
    case HTW__DURATION:
        return json_is_integer(value) && json_integer_value(value) >= 0
                   ? htw__figure_duration(number, text)
                   : format_none(text);
    case HTW__HOWS:
        break;
    }
    return format_none(text);
}
