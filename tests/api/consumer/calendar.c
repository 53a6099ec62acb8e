/* SPDX-License-Identifier: MIT */
/*
 * calendar.c - a program outside htw's tree that uses libhtw-calendar: the next 03:00 in a zone. Prints the
 * version.
 */
#include <htw/calendar.h>

#include <stdio.h>

int main(void) {
    const int64_t midnight_ns = INT64_C(1704067200) * HTW_SECOND; /* 2024-01-01 UTC */
    struct htw_calendar calendar;
    struct htw_zone *zone;
    printf("%s\n", htw_version());
    if (htw_calendar_cron(&calendar, "0 3 * * *", NULL) != 0 ||
        htw_zone_create(&zone, "Asia/Tokyo") != 0)
        return 1;
    int64_t next_ns = htw_calendar_next(&calendar, zone, midnight_ns);
    htw_zone_destroy(zone);
    return next_ns == midnight_ns + 18 * HTW_HOUR ? 0 : 1;
}
