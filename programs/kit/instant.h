/* SPDX-License-Identifier: MIT */
/* instant.h - moments of the wall clock in text. */
#ifndef HTW_KIT_INSTANT_H
#define HTW_KIT_INSTANT_H

#include "times.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a moment: seconds since 1970 with an optional fraction (1767225600.5) and exponent, or a
 * date and time as in RFC 3339 (2026-01-01T00:00:00.5+01:00). A fraction is rounded up to a whole
 * nanosecond; the leap second 23:59:60 is the second that follows it.
 *
 * `*ret_ns` counts from 1970-01-01T00:00:00Z and may be negative. Moments from 1678 to 2262 are accepted. Returns
 * NULL, or why the text is no moment (a static phrase; `*ret_ns` then does not change).
 */
const char *htw__instant_parse(const char *text, size_t size, int64_t *ret_ns);

/* The same, or +DURATION: so long after `now_ns`. */
const char *htw__instant_parse_after(const char *text, int64_t now_ns, int64_t *ret_ns);

/* The bytes that htw__instant_format() needs at most, with the final NUL. */
#define HTW__INSTANT_FORMAT_SIZE 48

/* Writes a moment, in seconds and nanoseconds since 1970, of which either may hold all of it, as
 * 2026-01-01T00:00:00.000000Z, rounded down; returns its length. */
size_t htw__instant_format(int64_t s, int64_t ns, char text[HTW__INSTANT_FORMAT_SIZE]);

#endif /* HTW_KIT_INSTANT_H */
