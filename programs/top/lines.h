/* SPDX-License-Identifier: MIT */
/* lines.h - the lines of a source: numbers, rates, percentiles, levels. */
#ifndef HTW_TOP_LINES_H
#define HTW_TOP_LINES_H

#include "page.h"
#include "snapshot.h"

enum htw__sort {
    HTW__SORT_NAME,
    HTW__SORT_PENDING,
    HTW__SORT_RATE,
    HTW__SORT_MEMORY,
    HTW__SORT_WAKEUPS,
    HTW__SORT_CPU,
    HTW__SORT_LATE,
    HTW__SORT_COUNT
};

/* What is shown. */
enum htw__page_kind {
    HTW__PAGE_OVERVIEW,
    HTW__PAGE_SITES,
    HTW__PAGE_WAKEUPS,
    HTW__PAGE_HERDS,
    HTW__PAGE_GROUPS,
    HTW__PAGE_JOURNALS,
    HTW__PAGE_QUEUES,
    HTW__PAGE_COUNT
};

struct htw__view {
    enum htw__page_kind page;
    enum htw__sort sort; /* HTW__SORT_COUNT: none was chosen */
    bool is_reversed;
    bool is_total;  /* percentiles and histograms are of all time */
    bool is_ascii;  /* no other characters */
    unsigned width; /* columns; at least 20 count */
};

/* What this page is sorted by: as it was chosen, if that is possible. */
enum htw__sort htw__view_sort(const struct htw__view *view);

/* The next one that is possible. */
enum htw__sort htw__view_next_sort(const struct htw__view *view);

struct htw__drawing {
    const struct htw__view *view;
    const struct htw__top_snapshot *before;
    struct htw__page *page;
    double seconds; /* between the snapshots; 0: there is one only */
};

/* How often in a second. A counter that has become smaller is that of another object of the same name. */
double htw__line_rate(const struct htw__drawing *self, uint64_t before, uint64_t now);

/* Begins another line unless so many characters fit this one. */
void htw__flow_break(const struct htw__drawing *self, size_t width);

/* Adds to the line, as printf(), what belongs together; to the next line, if it does not fit this one. */
void htw__flow_add(const struct htw__drawing *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a text of any length, and words of which each may begin a line. */
void htw__flow_add_text(const struct htw__drawing *self, const char *style, const char *text);
void htw__flow_add_words(const struct htw__drawing *self, const char *words);

/* Each adds its name and a figure to the line. */
void htw__line_add_count(const struct htw__drawing *self, const char *name, uint64_t count);
void htw__line_add_rate(const struct htw__drawing *self, const char *name, uint64_t before,
                        uint64_t now);
void htw__line_add_size(const struct htw__drawing *self, const char *name, uint64_t bytes);
void htw__line_add_duration(const struct htw__drawing *self, const char *name, uint64_t ns);

/* A number that means trouble: only where it is not 0. */
void htw__line_add_trouble(const struct htw__drawing *self, const char *name, uint64_t count);

/* Percentiles: `recent` are the counts since the snapshot before; NULL: those of all time. */
void htw__line_add_percentiles(const struct htw__drawing *self, const char *name,
                               const struct htw__top_distribution *now, const uint64_t *recent);

/* Durations from 1 us to 4 s, each bucket twice as wide as the one before; one character each. */
void htw__line_add_histogram(const struct htw__drawing *self, const uint64_t *counts,
                             uint64_t least, const char *unit);

void htw__line_end(const struct htw__drawing *self);

/* Whole lines: percentiles and a histogram; a line for each level. */
void htw__line_distribution(const struct htw__drawing *self, const char *name,
                            const struct htw__top_distribution *before,
                            const struct htw__top_distribution *now);
void htw__line_levels(const struct htw__drawing *self, const struct htw__top_source *source);

#endif /* HTW_TOP_LINES_H */
