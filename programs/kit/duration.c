/* SPDX-License-Identifier: MIT */
/* duration.c - reads lengths of time: 250ms, 1.5s, 2h30m. */
#include "duration.h"

#include "decimal.h"

#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ns;
};

/* From the longest to the shortest, for writing. */
static const struct unit units[] = {
    { "w", 7 * HTW__NS_PER_DAY },  { "d", HTW__NS_PER_DAY },
    { "h", 3600 * HTW__NS_PER_S }, { "m", 60 * HTW__NS_PER_S },
    { "s", HTW__NS_PER_S },        { "ms", HTW__NS_PER_MS },
    { "us", HTW__NS_PER_US },      { "ns", 1 },
    { "min", 60 * HTW__NS_PER_S }, /* for reading only */
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

/* Reads letters up to the next number; 0 when they name no unit. */
static int64_t read_unit(struct htw__text *text) {
    const char *name = text->at;
    while (text->at < text->end && !htw__text_at_digit(text) && *text->at != '.')
        text->at++;
    size_t size = (size_t)(text->at - name);
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (size == strlen(units[i].name) && memcmp(name, units[i].name, size) == 0)
            return units[i].ns;
    return 0;
}

const char *htw__duration_parse(const char *text, size_t size, int64_t *ret_ns) {
    struct htw__text rest = { text, text + size };
    if (size > 0 && *text == '-')
        return "negative delay";
    htw__text_skip(&rest, '+');
    int64_t sum_ns = 0;
    bool first = true;
    do {
        struct htw__decimal number;
        const char *why = htw__text_read_number(&rest, &number);
        if (why != NULL)
            return why;
        bool bare = rest.at == rest.end;
        if (bare && !first)
            return "unit missing after the last number";
        int64_t unit_ns = bare ? HTW__NS_PER_S : read_unit(&rest);
        if (unit_ns == 0)
            return "unknown unit (w d h m min s ms us ns are known)";
        sum_ns = htw__time_add(sum_ns, htw__decimal_times(&number, unit_ns));
        if (sum_ns == INT64_MAX)
            return "delay too long";
        first = false;
    } while (rest.at < rest.end);
    *ret_ns = sum_ns;
    return NULL;
}

void htw__duration_format(uint64_t ns, char text[HTW__DURATION_FORMAT_SIZE]) {
    /* Not in weeks: days are easier to read. */
    const struct unit *unit = &units[1];
    while (unit->ns > 1 && ns < (uint64_t)unit->ns)
        unit++;
    double number = (double)ns / (double)unit->ns;
    int decimals = unit->ns == 1 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
    snprintf(text, HTW__DURATION_FORMAT_SIZE, "%.*f %s", decimals, number, unit->name);
}
