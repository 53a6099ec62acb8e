/* SPDX-License-Identifier: MIT */
/* instant.c - reads and writes moments of the wall clock. */
#include "instant.h"

#include "../../src/base/civil.h"
#include "decimal.h"
#include "duration.h"

#include <stdio.h>
#include <string.h>

static const char out_of_range[] = "later than 2262 or before 1678";

static bool read_either(struct htw__text *text, char upper, char lower) {
    return htw__text_skip(text, upper) || htw__text_skip(text, lower);
}

static bool read_date(struct htw__text *text, struct htw__date *ret_date) {
    int month, day;
    if (!htw__text_read_fixed(text, 4, &ret_date->year) || !htw__text_skip(text, '-') ||
        !htw__text_read_fixed(text, 2, &month) || !htw__text_skip(text, '-') ||
        !htw__text_read_fixed(text, 2, &day))
        return false;
    ret_date->month = (unsigned)month;
    ret_date->day = (unsigned)day;
    return true;
}

static bool date_is_valid(struct htw__date date) {
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= htw__days_of_month(date.year, date.month);
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
    struct htw__date date;
    int hour, minute, second, offset;
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
    if (!date_is_valid(date))
        return "no such date";
    if (hour > 23 || minute > 59 || second > 60)
        return "no such time of day";
    int of_day = (hour * 60 + minute) * 60 + second;
    int64_t seconds = htw__days_of(date) * HTW__DAY_S + of_day - offset;
    if (second == 60 && seconds % HTW__DAY_S != 0)
        return "a leap second comes only at 23:59:60 UTC";
    int64_t ns;
    if (__builtin_mul_overflow(seconds, HTW__NS_PER_S, &ns) ||
        __builtin_add_overflow(ns, htw__decimal_times(&fraction, HTW__NS_PER_S), &ns) ||
        ns == INT64_MAX)
        return out_of_range;
    *ret_ns = ns;
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
    int64_t us = (ns % HTW__NS_PER_S + borrowed * HTW__NS_PER_S) / HTW__NS_PER_US;
    s += ns / HTW__NS_PER_S - borrowed;
    int64_t of_day = (s % HTW__DAY_S + HTW__DAY_S) % HTW__DAY_S;
    int64_t days = (s - of_day) / HTW__DAY_S;
    /* Before the year 0 there is no date; no parser lets that in. */
    struct htw__date date = htw__date_of(days > -HTW__CIVIL_EPOCH ? days : -HTW__CIVIL_EPOCH);
    int length = snprintf(text, HTW__INSTANT_FORMAT_SIZE, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                          date.year, date.month, date.day, (int)(of_day / 3600),
                          (int)(of_day / 60 % 60), (int)(of_day % 60), (int)us);
    return (size_t)length;
}
