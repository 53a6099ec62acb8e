/* SPDX-License-Identifier: MIT */
/*
 * fields.h - the private members of struct htw_calendar, and local times that match them.
 *
 * A local time is counted in seconds from 1970-01-01 00:00 of the same clock on the wall: what UTC
 * would show then. No daylight saving is in it; next.c adds the zone.
 */
#ifndef HTW_SRC_CALENDAR_FIELDS_H
#define HTW_SRC_CALENDAR_FIELDS_H

#include <htw/calendar.h>

/*
 * `_seconds`, `_minutes` and `_hours` have a bit for each value from 0, `_months` from 1.
 * `_days` has bits 1 to 31, and two more. `_weekdays` has six bits for each day from Sunday: its first
 * to fifth in a month, and its last.
 */
#define HTW__DAY_LAST (UINT64_C(1) << 0)          /* the last day of the month */
#define HTW__DAY_LAST_WORKING (UINT64_C(1) << 32) /* the last day from Monday to Friday */

#define HTW__WEEKDAY_BITS 6u
#define HTW__WEEKDAY_LAST UINT64_C(0x20)
#define HTW__WEEKDAY_EVERY UINT64_C(0x1f)

/* Which fields began with `*`, in `_flags`. */
#define HTW__ANY_HOUR 1u
#define HTW__ANY_DAY 2u
#define HTW__ANY_WEEKDAY 4u

/* All values from `lowest` to `highest`. */
#define HTW__ALL_BITS(lowest, highest) ((UINT64_MAX >> (63 - (highest))) & (UINT64_MAX << (lowest)))

/* Bits of `_weekdays`: those of one day, and of all. */
static inline uint64_t htw__weekday_bits(unsigned weekday, uint64_t bits) {
    return bits << weekday * HTW__WEEKDAY_BITS;
}

#define HTW__EVERY_WEEKDAY (HTW__WEEKDAY_EVERY * UINT64_C(0x1041041041))

/* Whether the calendar is filled with zeros. */
bool htw__calendar_is_empty(const struct htw_calendar *calendar);

/*
 * Finds the first local time, from `local_s` on, that matches the calendar, which is not empty;
 * false: there is none until the year 2263.
 */
bool htw__calendar_match(const struct htw_calendar *calendar, int64_t local_s, int64_t *ret_s);

#endif /* HTW_SRC_CALENDAR_FIELDS_H */
