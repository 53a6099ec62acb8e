/* SPDX-License-Identifier: MIT */
/*
 * calendar.c - every kind of day that a calendar may name, in all months of both kinds of years.
 *
 *     enumerate_calendar [--quick]     --quick: some of the expressions, in one leap year and one other
 *
 * There are 14 years: leap or not, times the weekday of 1 January. In each, the instants of each
 * expression, forwards and backwards, are compared with those that an oracle finds: it goes through all days
 * of the year, one by one, and asks of each whether it matches. Then come the times of a day: each range and
 * step of hours, of minutes and of seconds.
 */
#include <htw/calendar.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second_ns = 1000000000;
static uint64_t expressions, instants;
static bool is_quick;

/* ---- the oracle: days in order, counted one by one */

struct day {
    int year, month, day, length; /* of its month */
    int weekday;                  /* 0: Sunday */
    int64_t number;               /* from 1970-01-01 */
};

static bool is_leap(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int length_of(int year, int month) {
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return month == 2 && is_leap(year) ? 29 : lengths[month - 1];
}

static void go_on(struct day *day) {
    day->number++;
    day->weekday = (day->weekday + 1) % 7;
    if (day->day++ < day->length)
        return;
    day->day = 1;
    if (day->month++ == 12) {
        day->month = 1;
        day->year++;
    }
    day->length = length_of(day->year, day->month);
}

/* ---- fields: a text, and what it means */

enum kind { ANY, EVERY_SECOND, ONE, RANGE, LAST, LAST_WORKING, NTH };

struct field {
    enum kind kind;
    int first, last; /* of NTH: the day of the week, and which (6: the last) */
    char text[16];
};

static bool is_last_working(const struct day *day) {
    struct day other = *day;
    if (day->weekday == 0 || day->weekday == 6)
        return false;
    for (go_on(&other); other.month == day->month; go_on(&other))
        if (other.weekday != 0 && other.weekday != 6)
            return false;
    return true;
}

static bool matches(const struct field *field, int lowest, int value, const struct day *day) {
    switch (field->kind) {
    case ANY:
        return true;
    case EVERY_SECOND:
        return (value - lowest) % 2 == 0;
    case ONE:
        return value == field->first;
    case RANGE:
        return value >= field->first && value <= field->last;
    case LAST:
        return day->day == day->length;
    case LAST_WORKING:
        return is_last_working(day);
    case NTH:
        return value == field->first && (field->last == 6 ? day->day + 7 > day->length
                                                          : (day->day - 1) / 7 == field->last - 1);
    }
    return false;
}

struct fields {
    struct field fields[80];
    size_t count;
};

static struct field *append(struct fields *fields, enum kind kind, int first, int last) {
    if (fields->count == sizeof(fields->fields) / sizeof(fields->fields[0]))
        abort();
    struct field *field = &fields->fields[fields->count++];
    *field = (struct field) { .kind = kind, .first = first, .last = last };
    return field;
}

/* `*`, every second value, each value alone, and one range. */
static void append_numbers(struct fields *fields, int lowest, int highest, int first, int last) {
    snprintf(append(fields, ANY, 0, 0)->text, 16, "*");
    snprintf(append(fields, EVERY_SECOND, 0, 0)->text, 16, "*/2");
    for (int value = lowest; value <= highest; value++)
        snprintf(append(fields, ONE, value, value)->text, 16, "%d", value);
    snprintf(append(fields, RANGE, first, last)->text, 16, "%d-%d", first, last);
}

/* ---- comparing */

static bool differ(const char *text, const char *what, int64_t expected, int64_t found) {
    printf("enumerate: a difference: \"%s\": %s is %" PRId64 ", not %" PRId64 "\n", text, what,
           found / second_ns, expected / second_ns);
    return false;
}

/* Whether the calendar has exactly these instants after `begin` and before `end`; backwards takes some 40
   times as long. */
static bool compare(const char *text, int64_t begin, int64_t end, const int64_t *expected,
                    size_t count, bool also_back) {
    struct htw_calendar calendar;
    size_t position = 0;
    if (htw_calendar_cron(&calendar, text, &position) != 0)
        return differ(text, "the position of an error", -1, (int64_t)position * second_ns);
    int64_t now = begin;
    for (size_t i = 0; i < count; i++, instants++) {
        int64_t next = htw_calendar_next(&calendar, NULL, now);
        if (next != expected[i])
            return differ(text, "the next instant", expected[i], next);
        now = next;
    }
    if (htw_calendar_next(&calendar, NULL, now) < end)
        return differ(text, "the next instant", end, htw_calendar_next(&calendar, NULL, now));
    now = end;
    for (size_t i = also_back ? count : 0; i-- > 0; instants++) {
        int64_t previous = htw_calendar_previous(&calendar, NULL, now);
        if (previous != expected[i])
            return differ(text, "the previous instant", expected[i], previous);
        now = previous;
    }
    return true;
}

/* ---- days */

struct year {
    struct day days[366];
    size_t count;
};

/* The first year of each kind after 2000. */
static void find_years(struct year years[14]) {
    struct day day = { 1970, 1, 1, 31, 4, 0 };
    for (int found = 0; found < 14;) {
        struct year *year = &years[(is_leap(day.year) ? 7 : 0) + day.weekday];
        bool wanted = day.year > 2000 && year->count == 0;
        int present = day.year;
        for (found += wanted; day.year == present; go_on(&day))
            if (wanted)
                year->days[year->count++] = day;
    }
}

static bool compare_year(const struct year *year, const struct field *of_day,
                         const struct field *of_month, const struct field *of_week) {
    int64_t expected[366];
    size_t count = 0;
    bool either = of_day->text[0] != '*' && of_week->text[0] != '*';
    for (size_t i = 0; i < year->count; i++) {
        const struct day *day = &year->days[i];
        bool by_day = matches(of_day, 1, day->day, day);
        bool by_week = matches(of_week, 0, day->weekday, day);
        if (matches(of_month, 1, day->month, day) &&
            (either ? by_day || by_week : by_day && by_week))
            expected[count++] = (day->number * 86400 + 45296) * second_ns;
    }
    char text[80];
    snprintf(text, sizeof(text), "56 34 12 %s %s %s", of_day->text, of_month->text, of_week->text);
    int64_t begin = year->days[0].number * 86400 * second_ns;
    return compare(text, begin, begin + (int64_t)year->count * 86400 * second_ns, expected, count,
                   of_month->kind == ANY);
}

static bool compare_days(void) {
    static struct year years[14];
    static struct fields days, months, weekdays;
    find_years(years);
    append_numbers(&days, 1, 31, 28, 31);
    snprintf(append(&days, LAST, 0, 0)->text, 16, "L");
    snprintf(append(&days, LAST_WORKING, 0, 0)->text, 16, "LW");
    append_numbers(&months, 1, 12, 2, 4);
    append_numbers(&weekdays, 0, 6, 1, 5);
    for (int weekday = 0; weekday < 7; weekday++)
        for (int which = 1; which <= 6; which++)
            snprintf(append(&weekdays, NTH, weekday, which)->text, 16, which == 6 ? "%dL" : "%d#%d",
                     weekday, which);
    for (size_t d = 0; d < days.count; d++)
        for (size_t m = 0; m < months.count; m += is_quick ? 5 : 1)
            for (size_t w = 0; w < weekdays.count; w++, expressions++)
                for (size_t y = 0; y < 14; y += is_quick ? 8 : 1)
                    if (!compare_year(&years[y], &days.fields[d], &months.fields[m],
                                      &weekdays.fields[w]))
                        return false;
    return true;
}

/* ---- times of a day: field 0 is the second, 1 the minute, 2 the hour; the others are fixed */

static bool compare_times(int which) {
    static const char *const formats[] = { "%d-%d/%d 34 12 1 1 *", "56 %d-%d/%d 12 1 1 *",
                                           "56 34 %d-%d/%d 1 1 *" };
    const int64_t widths[] = { 1, 60, 3600 };
    const int64_t begin_s = INT64_C(31536000); /* 1971-01-01 */
    const int64_t rest_s = 45296 - (which == 0 ? 56 : which == 1 ? 34 * 60 : 12 * 3600);
    int values = which == 2 ? 24 : 60;
    for (int first = 0; first < values; first++)
        for (int last = first; last < values; last++)
            for (int step = 1; step <= values; step += is_quick ? 11 : 1, expressions++) {
                int64_t expected[60];
                size_t count = 0;
                for (int value = first; value <= last; value += step)
                    expected[count++] = (begin_s + rest_s + value * widths[which]) * second_ns;
                char text[80];
                snprintf(text, sizeof(text), formats[which], first, last, step);
                if (!compare(text, (begin_s - 1) * second_ns, (begin_s + 86400) * second_ns,
                             expected, count, step < 4))
                    return false;
            }
    return true;
}

int main(int argc, char *argv[]) {
    is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    bool same = compare_days() && compare_times(0) && compare_times(1) && compare_times(2);
    printf("enumerate: calendar: %" PRIu64 " expressions, %" PRIu64 " instants, %u differences\n",
           expressions, instants, !same);
    return same ? 0 : 1;
}
