/* SPDX-License-Identifier: MIT */
/* views.h - the lists of a source: sites, wake-ups, herds, groups, queues. */
#ifndef HTW_TOP_VIEWS_H
#define HTW_TOP_VIEWS_H

#include "lines.h"

/* Draws a list of a source, of which `before` may be an empty one. Sorts sites. */
void htw__view_draw_list(const struct htw__drawing *self, const struct htw__top_source *before,
                         const struct htw__top_source *now, enum htw__top_list list);

#endif /* HTW_TOP_VIEWS_H */
