/* SPDX-License-Identifier: MIT */
/* instant.h - moments of the wall clock in text. */
#ifndef HTW_SRC_CMD_INSTANT_H
#define HTW_SRC_CMD_INSTANT_H

#include "times.h"

#include <stddef.h>

/*
 * Reads a moment: seconds since 1970 with an optional fraction (1767225600.5) and exponent, or a
 * date and time as in RFC 3339 (2026-01-01T00:00:00.5+01:00). A fraction is rounded up to a whole
 * nanosecond; the leap second 23:59:60 is the second that follows it.
 *
 * `*ret_time` counts from 1970-01-01T00:00:00Z and may be negative. Returns NULL, or why the
 * text is no moment (a static phrase; `*ret_time` then does not change).
 */
const char *htw__instant_parse(const char *text, size_t size, struct htw__time *ret_time);

/* The same, or +DURATION: so long after `now`. */
const char *htw__instant_parse_after(const char *text, struct htw__time now,
                                     struct htw__time *ret_time);

/* The same in nanoseconds, refused where 64 bits end: in 2262. */
const char *htw__instant_parse_ns(const char *text, struct htw__time now, int64_t *ret_ns);

/* The bytes that htw__instant_format() needs at most, with the final NUL. */
#define HTW__INSTANT_FORMAT_SIZE 48

/* Writes a moment as 2026-01-01T00:00:00.000000Z, rounded down; returns its length. */
size_t htw__instant_format(struct htw__time time, char text[HTW__INSTANT_FORMAT_SIZE]);

#endif /* HTW_SRC_CMD_INSTANT_H */
