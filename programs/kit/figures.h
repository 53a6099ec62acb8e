/* SPDX-License-Identifier: MIT */
/* figures.h - numbers for people, in few characters. */
#ifndef HTW_KIT_FIGURES_H
#define HTW_KIT_FIGURES_H

#include <stdint.h>

#define HTW__FIGURE_SIZE 16

/* Each returns `text`. */

/* 0 to 99999 as it is, then 123k, 12.3M and so on. */
char *htw__figure_count(uint64_t count, char text[HTW__FIGURE_SIZE]);

/* How often in a second: 0, 0.25, 12.3, 12345, 123k. */
char *htw__figure_rate(double rate, char text[HTW__FIGURE_SIZE]);

/* 0ns to 999ns, 1.23us, 12.3ms, 1.50s, 2.5m, 3.2h, 4.1d, 250y. */
char *htw__figure_duration(uint64_t ns, char text[HTW__FIGURE_SIZE]);

/* 0B, 1023B, 1.5K, 12.3M. */
char *htw__figure_bytes(uint64_t bytes, char text[HTW__FIGURE_SIZE]);

#endif /* HTW_KIT_FIGURES_H */
