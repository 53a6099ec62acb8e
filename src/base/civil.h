/* SPDX-License-Identifier: MIT */
/* civil.h - days since 1970-01-01 as years, months and days of the Gregorian calendar, and back. */
#ifndef HTW_SRC_BASE_CIVIL_H
#define HTW_SRC_BASE_CIVIL_H

#include <stdint.h>

#define HTW__DAY_S INT64_C(86400)

struct htw__date {
    int year;            /* 1 to 9999 */
    unsigned month, day; /* from 1 */
};

/* The days from 0000-03-01 to 1970-01-01. Years that begin in March have the leap day at their end. */
#define HTW__CIVIL_EPOCH 719468

/* The first day of the year that begins in March of `year`, counted from 0000-03-01. */
static inline int64_t htw__civil_year_start(int64_t year) {
    return 365 * year + year / 4 - year / 100 + year / 400;
}

/* The first day of a month, counted from March (0 to 11), in its year. 153 days are five months. */
static inline unsigned htw__civil_month_start(unsigned month) {
    return (153 * month + 2) / 5;
}

static inline int64_t htw__days_of(struct htw__date date) {
    int64_t year = date.year - (date.month < 3);
    return htw__civil_year_start(year) + htw__civil_month_start((date.month + 9) % 12) + date.day -
           1 - HTW__CIVIL_EPOCH;
}

static inline struct htw__date htw__date_of(int64_t days) {
    int64_t since = days + HTW__CIVIL_EPOCH;
    int64_t year = since * 400 / 146097; /* or the year after it: never two, and never too late */
    year += htw__civil_year_start(year + 1) <= since;
    unsigned day = (unsigned)(since - htw__civil_year_start(year));
    unsigned month = (5 * day + 2) / 153;
    return (struct htw__date) {
        .year = (int)year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day - htw__civil_month_start(month) + 1,
    };
}

static inline unsigned htw__days_of_month(int year, unsigned month) {
    if (month == 2)
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* 0 is Sunday. 1970-01-01 was a Thursday. */
static inline unsigned htw__weekday_of(int64_t days) {
    return (unsigned)(((days + 4) % 7 + 7) % 7);
}

#endif /* HTW_SRC_BASE_CIVIL_H */
