/* SPDX-License-Identifier: MIT */
/*
 * times.h - times of the commands: nanoseconds in 64 bits, as lengths of time up to 292 years, and as moments
 * from 1678 to 2262. Nothing here overflows: what 64 bits do not hold becomes the most or the least that they can.
 */
#ifndef HTW_KIT_TIMES_H
#define HTW_KIT_TIMES_H

#include <htw/scheduler.h>

#include <stddef.h>
#include <stdint.h>

static inline int64_t htw__time_add(int64_t a_ns, int64_t b_ns) {
    if (b_ns > 0 && a_ns > INT64_MAX - b_ns)
        return INT64_MAX;
    return b_ns < 0 && a_ns < INT64_MIN - b_ns ? INT64_MIN : a_ns + b_ns;
}

static inline int64_t htw__time_subtract(int64_t a_ns, int64_t b_ns) {
    return b_ns == INT64_MIN ? INT64_MAX : htw__time_add(a_ns, -b_ns);
}

static inline int64_t htw__time_later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* A tick lasts `tick_ns`, up to a day. Times are not negative. */

/* The beginning of a tick. */
static inline int64_t htw__time_of_tick(uint64_t tick, int64_t tick_ns) {
    return tick > (uint64_t)(INT64_MAX / tick_ns) ? INT64_MAX : (int64_t)tick * tick_ns;
}

/* The first tick that begins at a time or after it. */
static inline uint64_t htw__time_tick_after(int64_t time_ns, int64_t tick_ns) {
    return ((uint64_t)time_ns + (uint64_t)tick_ns - 1) / (uint64_t)tick_ns;
}

/* The tick in which a time lies. INT64_MAX stands for all later times, too: a simulated run that waits for the
   last tick gets no further. */
static inline uint64_t htw__time_tick_before(int64_t time_ns, int64_t tick_ns) {
    return time_ns == INT64_MAX ? htw__time_tick_after(time_ns, tick_ns)
                                : (uint64_t)time_ns / (uint64_t)tick_ns;
}

/* The deadline of what is due then: what is due already need not wait for the tick to end. */
static inline uint64_t htw__time_deadline(int64_t due_ns, int64_t now_ns, int64_t tick_ns) {
    return due_ns <= now_ns ? htw__time_tick_before(now_ns, tick_ns)
                            : htw__time_tick_after(due_ns, tick_ns);
}

/*
 * Reads a duration: numbers with a unit each (w d h m or min, s ms us ns), added up, or one
 * number without a unit, in seconds. A number may have a fraction, which is rounded up to a
 * whole nanosecond, and an exponent. A leading + is allowed. The most is 292 years. `text` needs no terminator.
 *
 * Returns NULL, or why it is none (a static phrase; `*ret_ns` then does not change).
 */
const char *htw__duration_parse(const char *text, size_t size, int64_t *ret_ns);

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

/* The same for a deadline: "never" for HTW_NEVER_NS. Returns `text`. */
const char *htw__instant_or_never(int64_t instant_ns, char text[HTW__INSTANT_FORMAT_SIZE]);

#endif /* HTW_KIT_TIMES_H */
