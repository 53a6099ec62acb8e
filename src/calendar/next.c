/* SPDX-License-Identifier: MIT */
/*
 * next.c - the instants of a calendar in a time zone: the rules for gaps and folds.
 *
 * Two rules, which the head of htw/calendar.h explains to users. They differ only where the offset
 * of the zone changes:
 *
 *   fixed hours    every local time has one instant, which htw__zone_instant() says. Later local
 *                  times never have earlier instants. So the search goes through local times.
 *   any hour       an instant counts if a clock on the wall shows a time that matches. So the search
 *                  goes through instants, from one change of the offset to the next.
 */
#include "fields.h"
#include "zone.h"

/* Whole seconds here; the range of their nanoseconds. */
#define LAST_S (INT64_MAX / HTW_SECOND)
#define FIRST_S (INT64_MIN / HTW_SECOND)
#define BEFORE_S (FIRST_S - 1) /* floor_s(INT64_MIN): the first instant is after it */

static int64_t floor_s(int64_t instant_ns) {
    return instant_ns / HTW_SECOND - (instant_ns % HTW_SECOND < 0);
}

/* The first instant after `after_s`; INT64_MAX: there is none. Likewise below. */
static int64_t next_of_fixed_hours(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                   int64_t after_s) {
    /* This local time and all earlier ones have instants up to `after_s`. */
    int64_t from_s = after_s + htw__zone_offset(zone, after_s) + 1, local_s;
    while (htw__calendar_match(calendar, from_s, &local_s)) {
        int64_t instant_s = htw__zone_instant(zone, local_s, &from_s);
        if (instant_s > after_s)
            return instant_s;
        /* Second pass of a fold: all of its local times have passed. Goes on at its end. */
    }
    return INT64_MAX;
}

static int64_t next_of_any_hour(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                int64_t after_s) {
    const int64_t margin_s = 2 * HTW_DAY / HTW_SECOND; /* more than any change of an offset */
    int64_t from_s = after_s + 1, local_s;
    for (;;) {
        int32_t offset_s = htw__zone_offset(zone, from_s);
        if (!htw__calendar_match(calendar, from_s + offset_s, &local_s))
            return INT64_MAX;
        int64_t instant_s = local_s - offset_s;
        int64_t change_s = htw__zone_next_change(zone, from_s);
        if (instant_s < change_s)
            return instant_s;
        /* If the change is far, no clock shows an earlier time again, so nothing matches between the
           change and shortly before that instant, whatever the offset is then. */
        bool is_far = change_s - from_s > margin_s && instant_s - margin_s > change_s;
        from_s = is_far ? instant_s - margin_s : change_s;
    }
}

static int64_t next_s(const struct htw_calendar *calendar, const struct htw_zone *zone,
                      int64_t after_s) {
    int64_t instant_s = calendar->_flags & HTW__ANY_HOUR
                            ? next_of_any_hour(calendar, zone, after_s)
                            : next_of_fixed_hours(calendar, zone, after_s);
    return instant_s <= LAST_S ? instant_s : INT64_MAX;
}

int64_t htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                          int64_t after_ns) {
    if (calendar == NULL || htw__calendar_is_empty(calendar))
        return HTW_NEVER_NS;
    int64_t instant_s = next_s(calendar, zone, floor_s(after_ns));
    return instant_s == INT64_MAX ? HTW_NEVER_NS : instant_s * HTW_SECOND;
}

/* By halves: the next instant after an earlier time is never later than that after a later one. */
int64_t htw_calendar_previous(const struct htw_calendar *calendar, const struct htw_zone *zone,
                              int64_t before_ns) {
    if (calendar == NULL || htw__calendar_is_empty(calendar))
        return INT64_MIN;
    /* The instants up to `end_s` are before `before_ns`. */
    int64_t end_s = floor_s(before_ns) - (before_ns % HTW_SECOND == 0);
    int64_t early_s = end_s, found_s = INT64_MAX;
    for (int64_t step_s = 60; found_s > end_s; step_s *= 2) {
        if (early_s == BEFORE_S)
            return INT64_MIN;
        early_s = early_s - BEFORE_S > step_s ? early_s - step_s : BEFORE_S;
        found_s = next_s(calendar, zone, early_s);
    }
    /* `found_s` is an instant; there is none after `late_s`. */
    for (int64_t late_s = end_s; found_s < late_s;) {
        int64_t middle_s = found_s + (late_s - found_s) / 2;
        int64_t next = next_s(calendar, zone, middle_s);
        if (next <= end_s)
            found_s = next;
        else
            late_s = middle_s;
    }
    return found_s * HTW_SECOND;
}
