/* SPDX-License-Identifier: MIT */
/* lines.c - the lines of a source: numbers, rates, percentiles, levels. */
#include "lines.h"

#include "bars.h"
#include "figures.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define INDENT 4u /* of lines that go on */

double htw__line_rate(const struct htw__drawing *self, uint64_t before, uint64_t now) {
    return self->seconds <= 0 || now < before ? 0 : (double)(now - before) / self->seconds;
}

/* ---- the order */

/* The first one counts if none was chosen. */
static const enum htw__sort sorts_of_sources[] = { HTW__SORT_NAME, HTW__SORT_PENDING,
                                                   HTW__SORT_RATE, HTW__SORT_MEMORY,
                                                   HTW__SORT_COUNT };
static const enum htw__sort sorts_of_sites[] = { HTW__SORT_WAKEUPS, HTW__SORT_PENDING,
                                                 HTW__SORT_CPU,     HTW__SORT_LATE,
                                                 HTW__SORT_RATE,    HTW__SORT_NAME,
                                                 HTW__SORT_COUNT };

static const enum htw__sort *sorts_of(const struct htw__view *view) {
    return view->page == HTW__PAGE_SITES ? sorts_of_sites : sorts_of_sources;
}

enum htw__sort htw__view_sort(const struct htw__view *view) {
    const enum htw__sort *sorts = sorts_of(view);
    for (size_t i = 0; sorts[i] != HTW__SORT_COUNT; i++)
        if (sorts[i] == view->sort)
            return view->sort;
    return sorts[0];
}

enum htw__sort htw__view_next_sort(const struct htw__view *view) {
    const enum htw__sort *sorts = sorts_of(view);
    size_t i = 0;
    while (sorts[i] != htw__view_sort(view))
        i++;
    return sorts[i + 1] == HTW__SORT_COUNT ? sorts[0] : sorts[i + 1];
}

/* ---- what flows */

void htw__flow_break(const struct htw__drawing *self, size_t width) {
    if (self->page->column <= INDENT || self->page->column + width <= self->view->width)
        return;
    htw__page_end_line(self->page);
    htw__page_add(self->page, "    ");
}

/* Blanks at the end need no room. */
static size_t room_for(const char *text) {
    size_t size = strlen(text), blanks = 0;
    while (blanks < size && text[size - blanks - 1] == ' ')
        blanks++;
    return htw__page_width(text) - blanks;
}

void htw__flow_add(const struct htw__drawing *self, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    htw__flow_break(self, room_for(text));
    htw__page_add(self->page, "%s", text);
}

void htw__flow_add_text(const struct htw__drawing *self, const char *style, const char *text) {
    size_t length = strlen(text),
           most = self->view->width > INDENT + 8 ? self->view->width - INDENT : 8;
    if (length == 0)
        return;
    for (; length > most; text += most, length -= most)
        htw__flow_add(self, "%s%.*s" HTW__PLAIN, style, (int)most, text);
    htw__flow_add(self, "%s%s" HTW__PLAIN "  ", style, text);
}

void htw__flow_add_words(const struct htw__drawing *self, const char *words) {
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        htw__flow_break(self, length);
        htw__page_add(self->page, "%.*s ", (int)length, words);
        words += length + (words[length] == ' ');
    }
}

/* ---- small pictures */

/* A bar of nine heights for a part of the greatest value. */
static const char *bar(const struct htw__drawing *self, uint64_t value, uint64_t greatest) {
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
    size_t height = 0;
    if (value > 0)
        height = 1 + (size_t)(7.0 * (double)value / (double)greatest + 0.5);
    return (self->view->is_ascii ? letters : blocks)[height];
}

void htw__line_add_histogram(const struct htw__drawing *self, const uint64_t *counts,
                             uint64_t least, const char *unit) {
    uint64_t greatest = 1;
    for (size_t i = 0; i < HTW__TOP_BUCKETS; i++)
        greatest = counts[i] > greatest ? counts[i] : greatest;
    char bars[4 * HTW__TOP_BUCKETS + 1] = "";
    for (size_t i = 0, size = 0; i < HTW__TOP_BUCKETS; i++)
        size += (size_t)snprintf(bars + size, sizeof(bars) - size, "%s",
                                 bar(self, counts[i], greatest));
    htw__flow_add(self, HTW__LABEL "<%" PRIu64 "%s|" HTW__GOOD "%s" HTW__LABEL "|" HTW__PLAIN,
                  least, unit, bars);
}

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
static void draw_level(const struct htw__drawing *self, unsigned number,
                       const struct htw__top_level *level) {
    char width[HTW__FIGURE_SIZE] = "1", reach[HTW__FIGURE_SIZE] = "";
    uint32_t group = 1;
    const unsigned margin = 34;
    while (level->parts / group > 4 && level->parts / group + margin > self->view->width)
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

void htw__line_levels(const struct htw__drawing *self, const struct htw__top_source *source) {
    for (unsigned i = 0; i < source->level_count; i++)
        draw_level(self, i, &source->levels[i]);
}

/* ---- lines of numbers */

void htw__line_add_count(const struct htw__drawing *self, const char *name, uint64_t count) {
    char text[HTW__FIGURE_SIZE];
    htw__flow_add(self, HTW__LABEL "%s " HTW__PLAIN "%s  ", name, htw__figure_count(count, text));
}

void htw__line_add_rate(const struct htw__drawing *self, const char *name, uint64_t before,
                        uint64_t now) {
    char text[HTW__FIGURE_SIZE];
    htw__flow_add(self, HTW__LABEL "%s " HTW__PLAIN "%s  ", name,
                  htw__figure_rate(htw__line_rate(self, before, now), text));
}

void htw__line_add_size(const struct htw__drawing *self, const char *name, uint64_t bytes) {
    char text[HTW__FIGURE_SIZE];
    htw__flow_add(self, HTW__LABEL "%s " HTW__PLAIN "%s  ", name, htw__figure_bytes(bytes, text));
}

void htw__line_add_duration(const struct htw__drawing *self, const char *name, uint64_t ns) {
    char text[HTW__FIGURE_SIZE];
    htw__flow_add(self, HTW__LABEL "%s " HTW__PLAIN "%-6s ", name, htw__figure_duration(ns, text));
}

void htw__line_end(const struct htw__drawing *self) {
    htw__page_end_line(self->page);
}

void htw__line_add_percentiles(const struct htw__drawing *self, const char *name,
                               const struct htw__top_distribution *now, const uint64_t *recent) {
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
    htw__page_add(self->page, HTW__LABEL "  %s  ", name);
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t ns = percentiles[i].total_ns;
        if (recent != NULL)
            ns = htw__bars_percentile_ns(recent, 1000, percentiles[i].part);
        /* No more than the maximum: that counts all of the bucket in which it lies. */
        htw__line_add_duration(self, percentiles[i].name, ns < now->max_ns ? ns : now->max_ns);
    }
    htw__line_add_duration(self, "max", now->max_ns);
}

void htw__line_distribution(const struct htw__drawing *self, const char *name,
                            const struct htw__top_distribution *before,
                            const struct htw__top_distribution *now) {
    uint64_t counts[HTW__TOP_BUCKETS];
    bool is_recent =
        htw__bars_since(self->view->is_total ? NULL : before->histogram, now->histogram, counts);
    htw__line_add_percentiles(self, name, now, is_recent ? counts : NULL);
    htw__line_add_histogram(self, counts, 1, "us");
    htw__line_end(self);
}

void htw__line_add_trouble(const struct htw__drawing *self, const char *name, uint64_t count) {
    char text[HTW__FIGURE_SIZE];
    if (count > 0)
        htw__flow_add(self, HTW__WARNING "%s %s  " HTW__PLAIN, name,
                      htw__figure_count(count, text));
}
