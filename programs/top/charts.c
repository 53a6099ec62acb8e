/* SPDX-License-Identifier: MIT */
/* charts.c - histograms and levels, in a line each. */
#include "draw.h"

#include <inttypes.h>
#include <string.h>

#define BUCKETS 24 /* of a histogram */
#define PARTS 64   /* of a level */
#define LEVELS 16

static void read_numbers(const json_t *array, uint64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        json_int_t value = json_integer_value(json_array_get(array, i));
        numbers[i] = value > 0 ? (uint64_t)value : 0;
    }
}

/* ---- histograms */

/* What has been counted since the answer before. False: nothing; `counts` then has what was counted in all the time. */
static bool count_bars(const struct htw__durations *durations, uint64_t counts[BUCKETS]) {
    uint64_t before[BUCKETS], now[BUCKETS], total = 0;
    read_numbers(durations->bars_before, before, BUCKETS);
    read_numbers(durations->bars, now, BUCKETS);
    for (size_t i = 0; i < BUCKETS; i++) {
        counts[i] = now[i] >= before[i] ? now[i] - before[i] : now[i];
        total += counts[i];
    }
    bool is_recent = total != 0 && durations->bars_before != NULL;
    if (!is_recent)
        memcpy(counts, now, sizeof(now));
    return is_recent;
}

/* The time below which a part (0 to 1) of what was counted lies, as if that were spread evenly within a bar. */
static uint64_t percentile_ns(const uint64_t counts[BUCKETS], uint64_t first_ns, double part) {
    double total = 0, below = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < BUCKETS; i++) {
        double count = (double)counts[i];
        if (count > 0 && below + count >= part * total) {
            double end_ns = (double)(first_ns << i), start_ns = i == 0 ? 0 : end_ns / 2;
            return (uint64_t)(start_ns + (end_ns - start_ns) * (part * total - below) / count);
        }
        below += count;
    }
    return 0;
}

static void add_duration(struct htw__page *page, const char *name, uint64_t ns) {
    char text[HTW__FIGURE_SIZE];
    htw__page_flow(page, HTW__LABEL "%s " HTW__PLAIN "%-6s ", name, htw__figure_duration(ns, text));
}

/* A bar of nine heights for a part of the greatest value. */
static void add_histogram(const struct htw__drawing *self, const uint64_t counts[BUCKETS],
                          const char *first) {
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
    uint64_t greatest = 1;
    char bars[4 * BUCKETS + 1] = "";
    for (size_t i = 0; i < BUCKETS; i++)
        greatest = counts[i] > greatest ? counts[i] : greatest;
    for (size_t i = 0; i < BUCKETS; i++) {
        double part = (double)counts[i] / (double)greatest;
        size_t height = counts[i] == 0 ? 0 : 1 + (size_t)(7.0 * part + 0.5);
        strcat(bars, (self->view->is_ascii ? letters : blocks)[height]);
    }
    htw__page_flow(self->page, HTW__LABEL "<%s|" HTW__GOOD "%s" HTW__LABEL "|" HTW__PLAIN, first,
                   bars);
}

void htw__chart_durations(const struct htw__drawing *self, const struct htw__durations *durations) {
    static const struct {
        const char *name, *member;
        double part;
    } percentiles[] = { { "p50", "p50_ns", 0.5 },
                        { "p90", "p90_ns", 0.9 },
                        { "p99", "p99_ns", 0.99 },
                        { "p99.9", "p999_ns", 0.999 } };
    uint64_t counts[BUCKETS], max_ns = htw__answer_number(durations->totals, "max_ns");
    bool has_totals = durations->totals != NULL;
    bool is_of_bars = count_bars(durations, counts) || !has_totals;
    htw__page_add(self->page, HTW__LABEL "  %-8s  ", durations->name);
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t ns = is_of_bars ? percentile_ns(counts, durations->first_ns, percentiles[i].part)
                                 : htw__answer_number(durations->totals, percentiles[i].member);
        /* No more than the maximum: that counts all of the bucket in which it lies. */
        add_duration(self->page, percentiles[i].name, has_totals && ns > max_ns ? max_ns : ns);
    }
    if (has_totals)
        add_duration(self->page, "max", max_ns);
    if (durations->bars != NULL)
        add_histogram(self, counts, durations->first);
    htw__page_end_line(self->page);
}

/* ---- levels */

/* Dark where there are no timers, hot where there are many: a degree for each power of four. */
static void add_heat(const struct htw__drawing *self, uint64_t timers) {
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
static void draw_level(const struct htw__drawing *self, unsigned number, const json_t *level) {
    const json_t *timers = json_object_get(level, "timers");
    char width[HTW__FIGURE_SIZE] = "1", reach[HTW__FIGURE_SIZE] = "";
    uint64_t counts[PARTS], ns;
    uint64_t bucket_ns = htw__answer_number(level, "bucket_ns");
    uint32_t buckets = (uint32_t)htw__answer_number(level, "buckets");
    size_t parts = json_array_size(timers) < PARTS ? json_array_size(timers) : PARTS, group = 1;
    size_t clock = parts == 0 ? 0 : (size_t)(htw__answer_number(level, "clock") % parts);
    const unsigned margin = 34;
    read_numbers(timers, counts, PARTS);
    while (parts / group > 4 && parts / group + margin > self->page->width)
        group *= 2;
    if (bucket_ns > 0) {
        htw__figure_duration(bucket_ns, width);
        if (__builtin_mul_overflow(bucket_ns, buckets, &ns))
            ns = UINT64_MAX;
        htw__figure_duration(ns, reach);
    }
    htw__page_add(self->page, HTW__LABEL "  level %u" HTW__PLAIN " %4u x %-6s " HTW__LABEL "|",
                  number, buckets, width);
    for (size_t i = 0; i < parts; i += group) {
        uint64_t sum = 0;
        for (size_t j = 0; j < group; j++) {
            uint64_t count = counts[(clock + i + j) % parts];
            sum += count < UINT32_MAX ? count : UINT32_MAX;
        }
        add_heat(self, sum);
    }
    htw__page_add(self->page, HTW__LABEL "| %s" HTW__PLAIN, reach);
    htw__page_end_line(self->page);
}

void htw__chart_levels(const struct htw__drawing *self, const json_t *levels) {
    for (unsigned i = 0; i < json_array_size(levels) && i < LEVELS; i++)
        draw_level(self, i, json_array_get(levels, i));
}
