/* SPDX-License-Identifier: MIT */
/* draw.h - draws the answers of a monitor on a page. */
#ifndef HTW_TOP_DRAW_H
#define HTW_TOP_DRAW_H

#include "../kit/figures.h"
#include "answer.h"
#include "page.h"

/* Of sites. */
enum htw__sort {
    HTW__SORT_WAKEUPS,
    HTW__SORT_PENDING,
    HTW__SORT_CPU,
    HTW__SORT_LATE,
    HTW__SORT_RATE,
    HTW__SORT_NAME,
    HTW__SORT_COUNT
};

/* What is shown. */
enum htw__page_kind {
    HTW__PAGE_OVERVIEW,
    HTW__PAGE_SITES,
    HTW__PAGE_WAKEUPS,
    HTW__PAGE_HERDS,
    HTW__PAGE_GROUPS,
    HTW__PAGE_QUEUES,
    HTW__PAGE_COUNT
};

/* With NULL at the end. */
extern const char *const htw__sort_names[], *const htw__page_names[];

struct htw__view {
    enum htw__page_kind page;
    enum htw__sort sort;
    bool is_ascii; /* no other characters */
};

/* Draws an answer: counters as they have changed since `before`, which may be NULL. */
void htw__draw(const struct htw__view *view, const json_t *before, const json_t *now,
               struct htw__page *page);

/* ---- what its files share */

struct htw__drawing {
    const struct htw__view *view;
    const json_t *before;
    const json_t *counters; /* names of numbers that only grow */
    struct htw__page *page;
    double seconds; /* between the answers; 0: there is one only */
};

/* A source, or a row of a list, and what it was before; NULL: it was not there. */
struct htw__item {
    const json_t *now, *before;
};

/* How much a counter has grown. One that has become smaller is that of another object of the same name. */
uint64_t htw__item_growth(const struct htw__item *item, const char *member);

/* How a member is shown. */
enum htw__how {
    HTW__COUNT,
    HTW__RATE,     /* how often in a second */
    HTW__CPU,      /* percents of one CPU */
    HTW__BYTES,    /* of memory */
    HTW__DURATION, /* negative or missing: there is none */
    HTW__HOWS
};

const char *htw__item_figure(const struct htw__drawing *self, const struct htw__item *item,
                             enum htw__how how, const char *member, char text[HTW__FIGURE_SIZE]);

/* lists.c: a list of a source, as a table. */
enum htw__list {
    HTW__LIST_NONE,
    HTW__LIST_SITES,
    HTW__LIST_WAKEUPS,
    HTW__LIST_HERDS,
    HTW__LIST_GROUPS,
    HTW__LIST_QUEUES
};
void htw__list_draw(const struct htw__drawing *self, const struct htw__item *source,
                    enum htw__list list);

/* charts.c: a line with percentiles and a histogram of durations, each bar of which is twice as wide as the one before. `first_ns` is
 * the end of the first bar, which is called `first`. `totals` has what is known of all time; NULL: only the bars are known. */
struct htw__durations {
    const char *name;
    const json_t *totals, *bars_before, *bars;
    uint64_t first_ns;
    const char *first;
};
void htw__chart_durations(const struct htw__drawing *self, const struct htw__durations *durations);

/* A line for each level of the wheels. */
void htw__chart_levels(const struct htw__drawing *self, const json_t *levels);

#endif /* HTW_TOP_DRAW_H */
