/* SPDX-License-Identifier: MIT */
/* figures.c - numbers for people. */
#include "figures.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct unit {
    double size;
    const char *name;
};

/* Three digits and a unit: the last one that is not larger than the value. The first has no fraction. */
static char *scale(double value, const struct unit *units, size_t count, char *text) {
    size_t i = 0;
    while (i + 1 < count && value >= units[i + 1].size)
        i++;
    value /= units[i].size;
    int decimals = i == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, HTW__FIGURE_SIZE, "%.*f%s", decimals, value, units[i].name);
    return text;
}

static const struct unit counts[] = {
    { 1, "" },     { 1e3, "k" },  { 1e6, "M" },  { 1e9, "G" },
    { 1e12, "T" }, { 1e15, "P" }, { 1e18, "E" },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

char *htw__figure_count(uint64_t count, char text[HTW__FIGURE_SIZE]) {
    if (count > 99999)
        return scale((double)count, counts, COUNT_OF(counts), text);
    snprintf(text, HTW__FIGURE_SIZE, "%" PRIu64, count);
    return text;
}

char *htw__figure_rate(double rate, char text[HTW__FIGURE_SIZE]) {
    if (rate >= 99999.5)
        return scale(rate, counts, COUNT_OF(counts), text);
    int decimals = rate <= 0 || rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2;
    snprintf(text, HTW__FIGURE_SIZE, "%.*f", decimals, rate);
    return text;
}

char *htw__figure_duration(uint64_t ns, char text[HTW__FIGURE_SIZE]) {
    static const struct unit units[] = {
        { 1, "ns" },   { 1e3, "us" },   { 1e6, "ms" },    { 1e9, "s" },
        { 60e9, "m" }, { 3600e9, "h" }, { 86400e9, "d" }, { 365.25 * 86400e9, "y" },
    };
    return scale((double)ns, units, COUNT_OF(units), text);
}

char *htw__figure_bytes(uint64_t bytes, char text[HTW__FIGURE_SIZE]) {
    static const struct unit units[] = {
        { 1, "B" },      { 0x1p10, "K" }, { 0x1p20, "M" },
        { 0x1p30, "G" }, { 0x1p40, "T" }, { 0x1p50, "P" },
    };
    return scale((double)bytes, units, COUNT_OF(units), text);
}
