/* SPDX-License-Identifier: MIT */
/* duration.h - lengths of time as people write them: 250ms, 1.5s, 2h30m, 3d, 0.25. */
#ifndef HTW_KIT_DURATION_H
#define HTW_KIT_DURATION_H

#include "times.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a duration: numbers with a unit each (w d h m or min, s ms us ns), added up, or one
 * number without a unit, in seconds. A number may have a fraction, which is rounded up to a
 * whole nanosecond, and an exponent. A leading + is allowed. The most is 292 years. `text` needs no terminator.
 *
 * Returns NULL, or why it is none (a static phrase; `*ret_ns` then does not change).
 */
const char *htw__duration_parse(const char *text, size_t size, int64_t *ret_ns);

/* The bytes that htw__duration_format() needs at most, with the final NUL. */
#define HTW__DURATION_FORMAT_SIZE 32

/* Writes a duration for people: three digits or more and one unit. */
void htw__duration_format(uint64_t ns, char text[HTW__DURATION_FORMAT_SIZE]);

#endif /* HTW_KIT_DURATION_H */
