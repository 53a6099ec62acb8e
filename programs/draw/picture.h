/* SPDX-License-Identifier: MIT */
/* picture.h - a wheel as an SVG picture. */
#ifndef HTW_DRAW_PICTURE_H
#define HTW_DRAW_PICTURE_H

#include "run.h"

#include <stdio.h>

/*
 * Writes the picture: the levels with how full their buckets are, the clock, the next wake-up, and the first
 * buckets of the delay queue. It is 830 wide, and readable on a light and on a dark page. Its size is bounded:
 * of a level with many buckets it shows groups. The same wheel gives the same bytes. No timer of it may be due.
 * Whether writing has failed, the stream knows.
 */
void htw__picture_write(struct htw_wheel *wheel, int64_t tick_ns, FILE *stream);

#endif /* HTW_DRAW_PICTURE_H */
