/* SPDX-License-Identifier: MIT */
/* fields.c - which local times match a calendar. */
#include "fields.h"

#include "../base/civil.h"
#include "../base/compiler.h"

/* After the last instant that an int64_t of nanoseconds can hold. */
enum { YEAR_END = 2263 };

bool htw__calendar_is_empty(const struct htw_calendar *calendar) {
    return calendar->_months == 0; /* and so is everything else: only zeros have no month */
}

/* ---- days */

/* The days of a month of `length` days, the first of which is a `weekday`, that match `_weekdays`. */
static uint64_t days_by_weekday(uint64_t weekdays, unsigned weekday, unsigned length) {
    uint64_t days = 0;
    if (weekdays == HTW__EVERY_WEEKDAY)
        return HTW__ALL_BITS(1, length);
    for (unsigned first = 1; first <= 7; first++, weekday = (weekday + 1) % 7) {
        uint64_t bits = weekdays >> weekday * HTW__WEEKDAY_BITS;
        for (unsigned day = first; day <= length; day += 7, bits >>= 1)
            days |= (bits & 1) << day;
        /* Four or five times. What is left begins with the bit of the fifth or of the last. */
        bits >>= length >= first + 28 ? 0 : 1;
        days |= (bits & 1) << (length - (length - first) % 7);
    }
    return days;
}

static uint64_t days_by_number(uint64_t numbers, unsigned weekday, unsigned length) {
    uint64_t days = numbers & HTW__ALL_BITS(1, length);
    if (numbers & HTW__DAY_LAST)
        days |= UINT64_C(1) << length;
    if (numbers & HTW__DAY_LAST_WORKING) {
        unsigned last = (weekday + length - 1) % 7;
        unsigned rest = last == 6 ? 1 : last == 0 ? 2 : 0; /* Saturday, Sunday */
        days |= UINT64_C(1) << (length - rest);
    }
    return days;
}

/* The days of a month that match, as bits from 1. */
static uint64_t matching_days(const struct htw_calendar *calendar, int year, unsigned month) {
    if (!(calendar->_months >> month & 1))
        return 0;
    unsigned length = htw__days_of_month(year, month);
    unsigned weekday = htw__weekday_of(htw__days_of((struct htw__date) { year, month, 1 }));
    uint64_t by_number = days_by_number(calendar->_days, weekday, length);
    uint64_t by_weekday = days_by_weekday(calendar->_weekdays, weekday, length);
    return calendar->_flags & (HTW__ANY_DAY | HTW__ANY_WEEKDAY) ? by_number & by_weekday
                                                                : by_number | by_weekday;
}

/* Finds the first day that matches, from `date` on. */
static bool match_day(const struct htw_calendar *calendar, struct htw__date date,
                      int64_t *ret_days) {
    while (date.year < YEAR_END) {
        uint64_t days = matching_days(calendar, date.year, date.month) & UINT64_MAX << date.day;
        if (days != 0) {
            date.day = htw__lowest_bit(days);
            *ret_days = htw__days_of(date);
            return true;
        }
        date.year += date.month == 12;
        date.month = date.month % 12 + 1;
        date.day = 1;
    }
    return false;
}

/* ---- times of day */

/* Makes `*value` the lowest bit that is not below it; false: there is none. */
static bool match_bit(uint64_t bits, unsigned *value) {
    bits &= UINT64_MAX << *value;
    if (bits == 0)
        return false;
    *value = htw__lowest_bit(bits);
    return true;
}

/* Finds the first time of day, from `second` on, in seconds; false: there is none on this day. */
static bool match_time(const struct htw_calendar *calendar, unsigned second, unsigned *ret_second) {
    unsigned of_hour = second / 3600, of_minute = second / 60 % 60, of_second = second % 60;
    unsigned hour = of_hour, minute = of_minute;
    if (!match_bit(calendar->_seconds, &of_second))
        minute++;
    if (!match_bit(calendar->_minutes, &minute))
        hour++;
    if (!match_bit(calendar->_hours, &hour))
        return false;
    if (hour > of_hour)
        minute = htw__lowest_bit(calendar->_minutes);
    if (hour > of_hour || minute > of_minute)
        of_second = htw__lowest_bit(calendar->_seconds);
    *ret_second = hour * 3600 + minute * 60 + of_second;
    return true;
}

bool htw__calendar_match(const struct htw_calendar *calendar, int64_t local_s, int64_t *ret_s) {
    int64_t start = local_s / HTW__DAY_S - (local_s % HTW__DAY_S < 0), days;
    unsigned second = 0;
    if (!match_day(calendar, htw__date_of(start), &days))
        return false;
    if (days > start || !match_time(calendar, (unsigned)(local_s - start * HTW__DAY_S), &second)) {
        if (days == start && !match_day(calendar, htw__date_of(start + 1), &days))
            return false;
        (void)match_time(calendar, 0, &second);
    }
    *ret_s = days * HTW__DAY_S + second;
    return true;
}
