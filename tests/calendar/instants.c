/* SPDX-License-Identifier: MIT */
/*
 * instants.c - for oracle.py: prints the instants of calendars, and the offsets of zones.
 *
 * Each line of the input is "next ZONE FROM TO EXPRESSION", for the instants from FROM to before TO, or
 * "offsets ZONE INSTANT..."; all in seconds. The answer is a line of numbers. The instants are found
 * twice, forwards and backwards, which must be the same.
 */
#include <htw/calendar.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANTS_MAX = 1 << 20 };

static void fail(const char *what, const char *line) {
    fprintf(stderr, "instants: %s: %s\n", what, line);
    exit(1);
}

static struct htw_zone *open_zone(const char *name) {
    struct htw_zone *zone;
    int error = htw_zone_create(&zone, name);
    if (error != 0)
        fail(htw_strerror(error), name);
    return zone;
}

static void print_next(const char *line, int at) {
    static int64_t instants[INSTANTS_MAX];
    char name[64];
    int64_t from_s, to_s;
    int length;
    struct htw_calendar calendar;
    if (sscanf(line + at, "%63s %" SCNd64 " %" SCNd64 " %n", name, &from_s, &to_s, &length) != 3 ||
        htw_calendar_cron(&calendar, line + at + length, NULL) != 0)
        fail("not understood", line);
    struct htw_zone *zone = open_zone(name);
    size_t count = 0;
    int64_t from_ns = from_s * HTW_SECOND, to_ns = to_s * HTW_SECOND, next_ns;
    for (next_ns = htw_calendar_next(&calendar, zone, from_ns - 1);
         next_ns < to_ns && count < INSTANTS_MAX;
         next_ns = htw_calendar_next(&calendar, zone, next_ns)) {
        instants[count++] = next_ns;
        printf(" %" PRId64, next_ns / HTW_SECOND);
    }
    putchar('\n');
    size_t left = count;
    for (int64_t last_ns = htw_calendar_previous(&calendar, zone, to_ns); last_ns >= from_ns;
         last_ns = htw_calendar_previous(&calendar, zone, last_ns))
        if (left == 0 || instants[--left] != last_ns)
            fail("backwards there are others than forwards", line);
    if (left != 0)
        fail("backwards there are fewer than forwards", line);
    htw_zone_destroy(zone);
}

static void print_offsets(const char *line, int at) {
    char name[64];
    int length;
    int64_t instant_s;
    if (sscanf(line + at, "%63s %n", name, &length) != 1)
        fail("not understood", line);
    struct htw_zone *zone = open_zone(name);
    for (at += length; sscanf(line + at, "%" SCNd64 " %n", &instant_s, &length) == 1; at += length)
        printf(" %" PRId32, htw_zone_offset(zone, instant_s * HTW_SECOND));
    putchar('\n');
    htw_zone_destroy(zone);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        line[length - 1] = '\0';
        if (strncmp(line, "next ", 5) == 0)
            print_next(line, 5);
        else if (strncmp(line, "offsets ", 8) == 0)
            print_offsets(line, 8);
        else
            fail("not understood", line);
    }
    free(line);
    return 0;
}
