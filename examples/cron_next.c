/* SPDX-License-Identifier: MIT */
/*
 * cron_next.c - prints the next instants of a cron expression, as a clock in the zone shows them:
 *
 *     cron_next '30 2 * * *' Europe/Berlin 5
 *
 * Without arguments it prints, and checks, those around a change of the clocks.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/calendar.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 2024-03-30 00:00 UTC, the day before Berlin's clocks are put forward. */
#define SHOWN_NS (INT64_C(1711756800) * HTW_SECOND)

/* As "2024-03-31T03:00:00+02:00". */
static void write_instant(char text[64], const struct htw_zone *zone, int64_t instant_ns) {
    int offset = (int)htw_zone_offset(zone, instant_ns);
    time_t local = (time_t)(instant_ns / HTW_SECOND + offset);
    struct tm tm;
    size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&local, &tm));
    snprintf(text + length, 32, "%c%02d:%02d", offset < 0 ? '-' : '+', abs(offset) / 3600,
             abs(offset) / 60 % 60);
}

int main(int argc, char *argv[]) {
    static const char *const expected[] = { "2024-03-30T02:30:00+01:00",
                                            "2024-03-31T03:00:00+02:00",
                                            "2024-04-01T02:30:00+02:00" };
    const char *expression = argc > 1 ? argv[1] : "30 2 * * *";
    const char *name = argc > 2   ? argv[2]
                       : argc > 1 ? NULL
                                  : "Europe/Berlin"; /* NULL: the local one */
    int count = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 3, wrong = 0;
    int64_t at_ns = argc > 1 ? (int64_t)time(NULL) * HTW_SECOND : SHOWN_NS;
    struct htw_calendar calendar;
    struct htw_zone *zone;
    size_t position;
    if (htw_calendar_cron(&calendar, expression, &position) != 0) {
        fprintf(stderr, "%s\n%*s^ not understood\n", expression, (int)position, "");
        return 1;
    }
    int error = htw_zone_create(&zone, name);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", name != NULL ? name : "local time zone", htw_strerror(error));
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char text[64];
        at_ns = htw_calendar_next(&calendar, zone, at_ns);
        if (at_ns == HTW_NEVER_NS) {
            puts("never");
            break;
        }
        write_instant(text, zone, at_ns);
        puts(text);
        wrong |= argc == 1 && strcmp(text, expected[i]) != 0;
    }
    htw_zone_destroy(zone);
    return wrong;
}
