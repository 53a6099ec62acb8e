/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cron.c - a fuzz target: what the input says as a cron expression, and its instants in a zone that
 * the first byte selects.
 */
/* holds: calendar-1, calendar-5 */
#include "fuzz.h"

#include <htw/calendar.h>

#include <stdlib.h>
#include <string.h>

static const struct htw_zone *zone_of(uint8_t selector) {
    static const char *const names[] = { "UTC", "Australia/Lord_Howe", "Pacific/Apia",
                                         "Africa/Casablanca", "Europe/Dublin" };
    static struct htw_zone *zones[sizeof(names) / sizeof(names[0])];
    size_t number = selector % (sizeof(names) / sizeof(names[0]));
    if (zones[number] == NULL && htw_zone_create(&zones[number], names[number]) != 0)
        abort();
    return zones[number];
}

/* Later instants come after earlier ones, and backwards the same ones come. */
static void check_instants(const struct htw_calendar *calendar, const struct htw_zone *zone,
                           int64_t at_ns) {
    int64_t last_ns = INT64_MIN;
    for (unsigned i = 0; i < 4; i++) {
        int64_t next_ns = htw_calendar_next(calendar, zone, at_ns);
        FUZZ_CHECK(next_ns > at_ns || next_ns == HTW_NEVER_NS);
        if (next_ns == HTW_NEVER_NS)
            break;
        FUZZ_CHECK(htw_calendar_next(calendar, zone, next_ns - 1) == next_ns);
        FUZZ_CHECK(last_ns == INT64_MIN ||
                   htw_calendar_previous(calendar, zone, next_ns) == last_ns);
        last_ns = at_ns = next_ns;
    }
}

static void run(const uint8_t *data, size_t size) {
    struct htw_calendar calendar, again;
    char text[HTW_CALENDAR_TEXT_MAX];
    size_t position = SIZE_MAX;
    int64_t at_ns;
    if (size < 1 + sizeof(at_ns))
        return;
    memcpy(&at_ns, data + 1, sizeof(at_ns));
    const struct htw_zone *zone = zone_of(data[0]);
    char *expression = fuzz_text(data + 1 + sizeof(at_ns), size - 1 - sizeof(at_ns));
    if (htw_calendar_cron(&calendar, expression, &position) == 0) {
        int length = htw_calendar_format(&calendar, text, sizeof(text));
        FUZZ_CHECK(length > 0 && (size_t)length < sizeof(text) && (size_t)length == strlen(text));
        FUZZ_CHECK(htw_calendar_cron(&again, text, NULL) == 0);
        FUZZ_CHECK(memcmp(&calendar, &again, sizeof(calendar)) == 0);
        check_instants(&calendar, zone, at_ns);
    } else {
        FUZZ_CHECK(position <= strlen(expression));
    }
    free(expression);
}

/* The head: a zone, and an instant in the year 2022. */
#define HEAD "\1ABCDEFG\27"

static const struct fuzz_attack attacks[] = {
    { "a list of numbers", HEAD "0 0 1 1 0", "", { ",1" } },
    { "a list of steps", HEAD "0 0 * * 0", "", { ",*/1" } },
    { "a list of names", HEAD "0 0 * * 0", "", { ",sun-sat" } },
    { "blanks", HEAD "0 0 * *", "", { " " } },
    { "fields", HEAD, "", { "* " } },
    { "digits", HEAD "0 0 1 1 0", "", { "0" } },
    { "a macro", HEAD "@", "", { "daily" } },
    { "a day that comes once in 28 years", HEAD "0 0 29 2 */7", "", { " " } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "cron",
    .run = run,
    .memory = { 1 << 20, 2 },
    .steps = { 2000000, 60 },
    .kept = 256 << 10, /* zones, once each */
    .attacks = attacks,
};
