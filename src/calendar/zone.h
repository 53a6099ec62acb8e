/* SPDX-License-Identifier: MIT */
/*
 * zone.h - what the calendar asks a time zone: offsets, changes of the offset, and which instants a
 * local time is. The rules come from the library cctz, which only zone.cc knows.
 *
 * NULL is UTC everywhere. No function here fails or allocates.
 */
#ifndef HTW_SRC_CALENDAR_ZONE_H
#define HTW_SRC_CALENDAR_ZONE_H

#include <htw/calendar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps a zone alive until htw_zone_destroy() is called once more. Returns the zone. */
struct htw_zone *htw__zone_retain(const struct htw_zone *zone);

/* The offset at an instant, in seconds. */
int32_t htw__zone_offset(const struct htw_zone *zone, int64_t instant_s);

/* When the offset changes next after an instant; INT64_MAX: never again. */
int64_t htw__zone_next_change(const struct htw_zone *zone, int64_t instant_s);

/*
 * The first instant of a local time: in a gap, the first one after it; in a fold, that before the
 * clocks are put back. `*ret_later_s` is a later local time: all between the two have instants that
 * are not before the returned one, and, in a gap or fold, are in the same one.
 */
int64_t htw__zone_instant(const struct htw_zone *zone, int64_t local_s, int64_t *ret_later_s);

#ifdef __cplusplus
}
#endif

#endif /* HTW_SRC_CALENDAR_ZONE_H */
