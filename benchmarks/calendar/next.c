/* SPDX-License-Identifier: MIT */
/*
 * next.c - nanoseconds that the next instant of a calendar takes, in UTC and in a zone with daylight saving:
 * one after the other, and after instants at random in forty years.
 */
#include "../common/clock.h"

#include <htw/calendar.h>

#include <inttypes.h>
#include <stdio.h>

/* Rounds are short, so that the best one was not interrupted. */
enum { CALLS = 2000, ROUNDS = 500 };

static const int64_t start_ns = INT64_C(1704067200) * HTW_SECOND; /* 2024-01-01 */

/* What one call takes, in the best round. `sum` is what the calls returned. */
static double measure(const struct htw_calendar *calendar, const struct htw_zone *zone,
                      int at_random, uint64_t *sum) {
    int64_t best_ns = INT64_MAX;
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t at_ns = start_ns, begin_ns = clock_now_ns();
        for (int i = 0; i < CALLS; i++) {
            if (at_random) {
                random = random * UINT64_C(6364136223846793005) + 1;
                at_ns = start_ns + (int64_t)(random >> 33) % (40 * 365 * 86400LL) * HTW_SECOND;
            }
            at_ns = htw_calendar_next(calendar, zone, at_ns);
            *sum += (uint64_t)at_ns;
            if (at_ns > start_ns + 80 * 365 * HTW_DAY)
                at_ns = start_ns;
        }
        int64_t took_ns = clock_now_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    return (double)best_ns / CALLS;
}

int main(void) {
    static const char *const expressions[] = { "0 3 * * *",    "0 3 * * 1-5", "0 3 L * *",
                                               "*/15 * * * *", "30 * * * *",  "0 12 29 2 *" };
    struct htw_zone *berlin;
    uint64_t sum = 0;
    if (htw_zone_create(&berlin, "Europe/Berlin") != 0)
        return 1;
    printf("%-16s %8s %8s %8s\n", "", "UTC", "Berlin", "random");
    for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
        struct htw_calendar calendar;
        if (htw_calendar_cron(&calendar, expressions[i], NULL) != 0)
            return 1;
        printf("%-16s %8.0f %8.0f %8.0f\n", expressions[i], measure(&calendar, NULL, 0, &sum),
               measure(&calendar, berlin, 0, &sum), measure(&calendar, berlin, 1, &sum));
    }
    struct htw_calendar calendar;
    int64_t begin_ns = clock_now_ns();
    if (htw_calendar_cron(&calendar, "0 0 30 2 *", NULL) != 0)
        return 1;
    for (int i = 0; i < 100; i++)
        sum += (uint64_t)htw_calendar_next(&calendar, berlin, start_ns + i);
    printf("%-16s %26.0f\n", "0 0 30 2 *", (double)(clock_now_ns() - begin_ns) / 100);
    htw_zone_destroy(berlin);
    return sum == 0;
}
