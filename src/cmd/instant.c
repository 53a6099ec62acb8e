/* SPDX-License-Identifier: MIT */
/* instant.c - reads and writes moments of the wall clock. */
#include "instant.h"

#include "decimal.h"
#include "duration.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char out_of_range[] = "later than 2262 or before 1678";

struct date {
    int year;
    int month;
    int day;
};

static bool is_leap(int year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool date_is_valid(const struct date *date) {
    static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (date->month < 1 || date->month > 12 || date->day < 1)
        return false;
    return date->day <= days[date->month - 1] + (date->month == 2 && is_leap(date->year));
}

/* Days from 1970-01-01 to a valid date of the years 0 to 9999. */
static int64_t days_since_1970(const struct date *date) {
    static const int before_month[12] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    int passed = date->year - 1; /* whole years since the year 1; the year 0 gives -1 */
    int leap_days = date->year == 0 ? -1 : passed / 4 - passed / 100 + passed / 400;
    int64_t days = (int64_t)passed * 365 + leap_days + before_month[date->month - 1];
    days += date->month > 2 && is_leap(date->year);
    return days + date->day - 1 - 719162; /* the days from 0001-01-01 to 1970-01-01 */
}

static bool read_either(struct htw__text *text, char upper, char lower) {
    return htw__text_skip(text, upper) || htw__text_skip(text, lower);
}

static bool read_date(struct htw__text *text, struct date *date) {
    return htw__text_read_fixed(text, 4, &date->year) && htw__text_skip(text, '-') &&
           htw__text_read_fixed(text, 2, &date->month) && htw__text_skip(text, '-') &&
           htw__text_read_fixed(text, 2, &date->day);
}

/* Seconds to the east of Greenwich: Z, +hh:mm or -hh:mm. */
static bool read_offset(struct htw__text *text, int *ret_seconds) {
    *ret_seconds = 0;
    if (read_either(text, 'Z', 'z'))
        return true;
    bool west = htw__text_skip(text, '-');
    int hours;
    int minutes;
    if ((!west && !htw__text_skip(text, '+')) || !htw__text_read_fixed(text, 2, &hours) ||
        !htw__text_skip(text, ':') || !htw__text_read_fixed(text, 2, &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

static const char *parse_date_time(struct htw__text *text, int64_t *ret_ns) {
    struct date date;
    int hour;
    int minute;
    int second;
    int offset;
    struct htw__decimal fraction = { .digits = NULL };
    if (!read_date(text, &date) || !read_either(text, 'T', 't') ||
        !htw__text_read_fixed(text, 2, &hour) || !htw__text_skip(text, ':') ||
        !htw__text_read_fixed(text, 2, &minute) || !htw__text_skip(text, ':') ||
        !htw__text_read_fixed(text, 2, &second))
        return "instant is not like 2026-01-01T00:00:00Z";
    if (text->at < text->end && *text->at == '.' && htw__text_read_decimal(text, &fraction) != NULL)
        return "fraction of a second expected after the point";
    if (!read_offset(text, &offset) || text->at != text->end)
        return "instant does not end with Z, +hh:mm or -hh:mm";
    if (!date_is_valid(&date))
        return "no such date";
    if (hour > 23 || minute > 59 || second > 60)
        return "no such time of day";

    int of_day = (hour * 60 + minute) * 60 + second;
    int64_t seconds = days_since_1970(&date) * 86400 + of_day - offset;
    if (second == 60 && seconds % 86400 != 0)
        return "a leap second comes only at 23:59:60 UTC";
    if (seconds >= INT64_MAX / HTW__NS_PER_S || seconds <= INT64_MIN / HTW__NS_PER_S)
        return out_of_range;
    *ret_ns = seconds * HTW__NS_PER_S + htw__decimal_times(&fraction, HTW__NS_PER_S);
    return NULL;
}

const char *htw__instant_parse(const char *text, size_t size, int64_t *ret_ns) {
    struct htw__text rest = { text, text + size };
    struct htw__decimal seconds;
    if (size > 0 && *text == '-')
        return "negative instant";
    const char *why = htw__text_read_number(&rest, &seconds);
    if (why != NULL)
        return why;
    if (rest.at < rest.end) {
        rest.at = text;
        return parse_date_time(&rest, ret_ns);
    }
    int64_t ns = htw__decimal_times(&seconds, HTW__NS_PER_S);
    if (ns == INT64_MAX)
        return out_of_range;
    *ret_ns = ns;
    return NULL;
}

const char *htw__instant_parse_after(const char *text, int64_t now_ns, int64_t *ret_ns) {
    int64_t delay_ns;
    if (*text != '+')
        return htw__instant_parse(text, strlen(text), ret_ns);
    const char *why = htw__duration_parse(text, strlen(text), &delay_ns);
    if (why != NULL)
        return why;
    int64_t ns = htw__time_add(now_ns, delay_ns);
    if (ns == INT64_MAX)
        return out_of_range;
    *ret_ns = ns;
    return NULL;
}

size_t htw__instant_format(int64_t s, int64_t ns, char text[HTW__INSTANT_FORMAT_SIZE]) {
    int64_t borrowed = ns % HTW__NS_PER_S < 0;
    time_t clock = (time_t)(s + ns / HTW__NS_PER_S - borrowed);
    int64_t us = (ns % HTW__NS_PER_S + borrowed * HTW__NS_PER_S) / HTW__NS_PER_US;
    struct tm date;
    if (gmtime_r(&clock, &date) == NULL) /* farther than what the parsers let in */
        date = (struct tm) { .tm_mday = 1 };
    int length = snprintf(text, HTW__INSTANT_FORMAT_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
                          (long long)date.tm_year + 1900, date.tm_mon + 1, date.tm_mday,
                          date.tm_hour, date.tm_min, date.tm_sec, (int)us);
    return (size_t)length;
}
