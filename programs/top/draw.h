/* SPDX-License-Identifier: MIT */
/* draw.h - draws snapshots of a program on a page. */
#ifndef HTW_TOP_DRAW_H
#define HTW_TOP_DRAW_H

#include "lines.h"

/* With NULL at the end. */
extern const char *const htw__sort_names[], *const htw__page_names[];

/* Draws a snapshot: counters as they have changed since `before`, which may be an empty one. Sorts the
   sources and shards of `now`. */
void htw__draw(const struct htw__view *view, const struct htw__top_snapshot *before,
               struct htw__top_snapshot *now, struct htw__page *page);

#endif /* HTW_TOP_DRAW_H */
