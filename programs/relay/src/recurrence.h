/* SPDX-License-Identifier: MIT */
/*
 * recurrence.h - records that come again: when, and until when.
 *
 *     htw-every     each time after so long: 15m, 1h30m; at least a second
 *     htw-cron      or: by a calendar, `0 9 * * MON-FRI`
 *     htw-zone      the time zone of the calendar; without it UTC, whatever the machine has
 *     htw-until     none comes at this time or later, in milliseconds since 1970
 *     htw-catch-up  how many missed ones come late, 0 to 1000: as `htw cron --catch-up`, 1 without it
 *
 * A record that recurs stands for its next occurrence alone. When that leaves its bucket, the one after it is filed in
 * the same transaction.
 */
#ifndef HTW_RELAY_RECURRENCE_H
#define HTW_RELAY_RECURRENCE_H

#include "record.h"

#include <htw/calendar.h>

/* Each occurrence is filed and loaded, which takes as long as that. */
#define HTW__RECURRENCE_EVERY_LEAST_MS 1000

/* No occurrence. */
#define HTW__RECURRENCE_NONE INT64_MAX

struct htw__recurrence {
    int64_t every_ms; /* 0: by the calendar */
    struct htw_calendar calendar;
    char zone[64]; /* empty: UTC */
    int64_t until_ms;
    uint32_t catch_up;
};

/* The values of the headers; NULL: it is not there. */
struct htw__recurrence_texts {
    const struct htw__bytes *every, *cron, *zone, *catch_up;
};

/* Reads them. One of `every` and `cron` is there, or both. Whether the zone exists is not known yet. Returns NULL, or why
 * they are wrong (a static phrase). */
const char *htw__recurrence_parse(const struct htw__recurrence_texts *texts,
                                  struct htw__recurrence *ret_recurrence);

/* The first occurrence after a time, or HTW__RECURRENCE_NONE. Returns 0; -ENOENT or -EINVAL: there is no such zone; another
 * error of htw_zone_create(). */
int htw__recurrence_next(const struct htw__recurrence *recurrence, int64_t after_ms,
                         int64_t *ret_next_ms);

/* The last one of those from `first_ms` on; HTW__RELAY_DEADLINE_MAX without htw-until. Returns as htw__recurrence_next(). */
int htw__recurrence_last(const struct htw__recurrence *recurrence, int64_t first_ms,
                         int64_t *ret_last_ms);

/* Of the occurrences from `first_ms`, which is due, on: the first that is to come. It is later than `now_ms` if all that
 * are due are missed and not to be caught up with. Those up to `*counted_ms` were counted before, and all come: `first_ms` if it is
 * one of them; otherwise it counts, which costs a step for each that comes, and sets `*counted_ms` to the last that is due.
 * Returns as htw__recurrence_next(). */
int htw__recurrence_due(const struct htw__recurrence *recurrence, int64_t first_ms, int64_t now_ms,
                        int64_t *counted_ms, int64_t *ret_ms);

#endif /* HTW_RELAY_RECURRENCE_H */
