/* SPDX-License-Identifier: MIT */
/* times.c - reads and writes lengths of time, 250ms, 1.5s, 2h30m, and moments of the wall clock. */
#include "times.h"

#include "../../src/base/civil.h"

#include <stdio.h>
#include <string.h>

/* ---- decimal numbers, in text that has no terminator */

/* The rest of a text that is being read. */
struct text {
    const char *at, *end;
};

/* A number that is not negative, as it stands in the text. */
struct decimal {
    const char *digits, *end; /* with a point, or none */
    int64_t whole; /* how many of the digits are before the point when the exponent has moved it */
};

/* Moves the point out of any text. */
#define EXPONENT_MAX INT64_C(1000000000000)

static bool at_digit(const struct text *text) {
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

static bool skip(struct text *text, char wanted) {
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static unsigned take_digit(struct text *text) {
    return (unsigned)(*text->at++ - '0');
}

static bool read_fixed(struct text *text, unsigned digits, int *ret_number) {
    int number = 0;
    for (unsigned i = 0; i < digits; i++) {
        if (!at_digit(text))
            return false;
        number = number * 10 + (int)take_digit(text);
    }
    *ret_number = number;
    return true;
}

static const char *read_decimal(struct text *text, struct decimal *ret_decimal) {
    struct decimal decimal = { .digits = text->at };
    for (; at_digit(text); text->at++)
        decimal.whole++;
    bool some = decimal.whole > 0;
    if (skip(text, '.'))
        for (some = at_digit(text); at_digit(text);)
            text->at++;
    if (!some)
        return "number expected";
    decimal.end = text->at;
    *ret_decimal = decimal;
    return NULL;
}

/* Reads e, a sign, and digits: all of these or, if they are not all there, nothing. */
static int64_t read_exponent(struct text *text) {
    struct text rest = *text;
    if (!skip(&rest, 'e') && !skip(&rest, 'E'))
        return 0;
    bool is_negative = skip(&rest, '-');
    if (!is_negative)
        skip(&rest, '+');
    if (!at_digit(&rest))
        return 0;
    int64_t exponent = 0;
    while (at_digit(&rest)) {
        exponent = exponent * 10 + take_digit(&rest);
        if (exponent > EXPONENT_MAX)
            exponent = EXPONENT_MAX;
    }
    *text = rest;
    return is_negative ? -exponent : exponent;
}

static const char *read_number(struct text *text, struct decimal *ret_decimal) {
    const char *why = read_decimal(text, ret_decimal);
    if (why == NULL)
        ret_decimal->whole += read_exponent(text);
    return why;
}

/* The digits behind the point, from the last one on: rounding up at each of them is rounding up once. */
static uint64_t times_fraction(const struct decimal *decimal, uint64_t unit_ns) {
    uint64_t ns = 0;
    int64_t place = 0; /* of the digit, from the left */
    for (const char *at = decimal->digits; at < decimal->end; at++)
        place += *at != '.';
    for (const char *at = decimal->end; at > decimal->digits && place > decimal->whole;) {
        if (*--at == '.')
            continue;
        ns = ((uint64_t)(*at - '0') * unit_ns + ns + 9) / 10;
        place--;
    }
    for (; place > decimal->whole && ns > 1; place--)
        ns = (ns + 9) / 10;
    return ns;
}

static int64_t multiply(const struct decimal *decimal, int64_t unit_ns) {
    uint64_t number = 0;
    int64_t place = 0, ns;
    bool is_too_much = false;
    for (const char *at = decimal->digits; at < decimal->end && place < decimal->whole; at++) {
        if (*at == '.')
            continue;
        is_too_much = is_too_much || __builtin_mul_overflow(number, 10, &number) ||
                      __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number);
        place++;
    }
    for (; place < decimal->whole && number > 0 && !is_too_much; place++)
        is_too_much = __builtin_mul_overflow(number, 10, &number);
    if (is_too_much || __builtin_mul_overflow(number, unit_ns, &ns) ||
        __builtin_add_overflow(ns, times_fraction(decimal, (uint64_t)unit_ns), &ns))
        return INT64_MAX;
    return ns;
}

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    { "w", 7 * HTW_DAY },      { "d", HTW_DAY },           { "h", HTW_HOUR },
    { "m", 60 * HTW_SECOND },  { "min", 60 * HTW_SECOND }, { "s", HTW_SECOND },
    { "ms", HTW_MILLISECOND }, { "us", HTW_MICROSECOND },  { "ns", 1 },
};

/* Reads letters up to the next number; 0 when they name no unit. */
static int64_t read_unit(struct text *text) {
    const char *name = text->at;
    while (text->at < text->end && !at_digit(text) && *text->at != '.')
        text->at++;
    size_t size = (size_t)(text->at - name);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (size == strlen(units[i].name) && memcmp(name, units[i].name, size) == 0)
            return units[i].ns;
    return 0;
}

const char *htw__duration_parse(const char *text, size_t size, int64_t *ret_ns) {
    struct text rest = { text, text + size };
    if (size > 0 && *text == '-')
        return "negative delay";
    skip(&rest, '+');
    int64_t sum_ns = 0;
    bool first = true;
    do {
        struct decimal number;
        const char *why = read_number(&rest, &number);
        if (why != NULL)
            return why;
        bool bare = rest.at == rest.end;
        if (bare && !first)
            return "unit missing after the last number";
        int64_t unit_ns = bare ? HTW_SECOND : read_unit(&rest);
        if (unit_ns == 0)
            return "unknown unit (w d h m min s ms us ns are known)";
        sum_ns = htw__time_add(sum_ns, multiply(&number, unit_ns));
        if (sum_ns == INT64_MAX)
            return "delay too long";
        first = false;
    } while (rest.at < rest.end);
    *ret_ns = sum_ns;
    return NULL;
}

static const char out_of_range[] = "later than 2262 or before 1678";

static bool read_either(struct text *text, char upper, char lower) {
    return skip(text, upper) || skip(text, lower);
}

static bool read_date(struct text *text, struct htw__date *ret_date) {
    int month, day;
    if (!read_fixed(text, 4, &ret_date->year) || !skip(text, '-') || !read_fixed(text, 2, &month) ||
        !skip(text, '-') || !read_fixed(text, 2, &day))
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
static bool read_offset(struct text *text, int *ret_seconds) {
    *ret_seconds = 0;
    if (read_either(text, 'Z', 'z'))
        return true;
    bool west = skip(text, '-');
    int hours;
    int minutes;
    if ((!west && !skip(text, '+')) || !read_fixed(text, 2, &hours) || !skip(text, ':') ||
        !read_fixed(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

static const char *parse_date_time(struct text *text, int64_t *ret_ns) {
    struct htw__date date;
    int hour, minute, second, offset;
    struct decimal fraction = { .digits = NULL };
    if (!read_date(text, &date) || !read_either(text, 'T', 't') || !read_fixed(text, 2, &hour) ||
        !skip(text, ':') || !read_fixed(text, 2, &minute) || !skip(text, ':') ||
        !read_fixed(text, 2, &second))
        return "instant is not like 2026-01-01T00:00:00Z";
    if (text->at < text->end && *text->at == '.' && read_decimal(text, &fraction) != NULL)
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
    if (__builtin_mul_overflow(seconds, HTW_SECOND, &ns) ||
        __builtin_add_overflow(ns, multiply(&fraction, HTW_SECOND), &ns) || ns == INT64_MAX)
        return out_of_range;
    *ret_ns = ns;
    return NULL;
}

const char *htw__instant_parse(const char *text, size_t size, int64_t *ret_ns) {
    struct text rest = { text, text + size };
    struct decimal seconds;
    if (size > 0 && *text == '-')
        return "negative instant";
    const char *why = read_number(&rest, &seconds);
    if (why != NULL)
        return why;
    if (rest.at < rest.end) {
        rest.at = text;
        return parse_date_time(&rest, ret_ns);
    }
    int64_t ns = multiply(&seconds, HTW_SECOND);
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
    int64_t borrowed = ns % HTW_SECOND < 0;
    int64_t us = (ns % HTW_SECOND + borrowed * HTW_SECOND) / HTW_MICROSECOND;
    s += ns / HTW_SECOND - borrowed;
    int64_t of_day = (s % HTW__DAY_S + HTW__DAY_S) % HTW__DAY_S;
    int64_t days = (s - of_day) / HTW__DAY_S;
    /* Before the year 0 there is no date; no parser lets that in. */
    struct htw__date date = htw__date_of(days > -HTW__CIVIL_EPOCH ? days : -HTW__CIVIL_EPOCH);
    int length = snprintf(text, HTW__INSTANT_FORMAT_SIZE, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                          date.year, date.month, date.day, (int)(of_day / 3600),
                          (int)(of_day / 60 % 60), (int)(of_day % 60), (int)us);
    return (size_t)length;
}

const char *htw__instant_or_never(int64_t deadline_ns, char text[HTW__INSTANT_FORMAT_SIZE]) {
    if (deadline_ns == HTW_NEVER_NS)
        snprintf(text, HTW__INSTANT_FORMAT_SIZE, "never");
    else
        htw__instant_format(0, deadline_ns, text);
    return text;
}
