/* SPDX-License-Identifier: MIT */
/* decimal.c - reads decimal numbers in text that has no terminator. */
#include "decimal.h"

#include "times.h"

#include <string.h>

#define FRACTION_DIGITS 18
#define FRACTION_ONE INT64_C(1000000000000000000)
#define WHOLE_DIGITS 19
#define NS_PER_S ((uint64_t)HTW__NS_PER_S)
#define EXPONENT_MAX INT64_C(1000000000000)

bool htw__text_at_digit(const struct htw__text *text) {
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

bool htw__text_skip(struct htw__text *text, char wanted) {
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static unsigned take_digit(struct htw__text *text) {
    return (unsigned)(*text->at++ - '0');
}

bool htw__text_read_fixed(struct htw__text *text, unsigned digits, int *ret_number) {
    int number = 0;
    for (unsigned i = 0; i < digits; i++) {
        if (!htw__text_at_digit(text))
            return false;
        number = number * 10 + (int)take_digit(text);
    }
    *ret_number = number;
    return true;
}

/* Digits beyond the eighteenth cannot be kept; they round up, so that nothing is early. */
static uint64_t read_fraction(struct htw__text *text) {
    uint64_t fraction = 0;
    bool more = false;
    int digits = 0;
    for (; htw__text_at_digit(text); digits++) {
        unsigned digit = take_digit(text);
        if (digits < FRACTION_DIGITS)
            fraction = fraction * 10 + digit;
        else
            more = more || digit != 0;
    }
    for (; digits < FRACTION_DIGITS; digits++)
        fraction *= 10;
    return fraction + more;
}

const char *htw__text_read_decimal(struct htw__text *text, struct htw__decimal *ret_decimal) {
    struct htw__decimal decimal = { 0, 0 };
    bool some = htw__text_at_digit(text);
    while (htw__text_at_digit(text)) {
        if (decimal.whole > (UINT64_MAX - 9) / 10)
            return "number too large";
        decimal.whole = decimal.whole * 10 + take_digit(text);
    }
    if (htw__text_skip(text, '.')) {
        some = htw__text_at_digit(text);
        decimal.fraction = read_fraction(text);
    }
    if (!some)
        return "number expected";
    *ret_decimal = decimal;
    return NULL;
}

/* Reads e, a sign, and digits: all of these or, if they are not all there, nothing. */
static bool read_exponent(struct htw__text *text, int64_t *ret_exponent) {
    struct htw__text rest = *text;
    if (!htw__text_skip(&rest, 'e') && !htw__text_skip(&rest, 'E'))
        return false;
    bool is_negative = htw__text_skip(&rest, '-');
    if (!is_negative)
        htw__text_skip(&rest, '+');
    if (!htw__text_at_digit(&rest))
        return false;
    int64_t exponent = 0;
    while (htw__text_at_digit(&rest)) {
        exponent = exponent * 10 + take_digit(&rest);
        if (exponent > EXPONENT_MAX) /* moves the point out of any text */
            exponent = EXPONENT_MAX;
    }
    *ret_exponent = is_negative ? -exponent : exponent;
    *text = rest;
    return true;
}

static uint64_t power_of_ten(int64_t exponent) {
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Adds digit * 10^place. False when that is too large. */
static bool add_digit(struct htw__decimal *decimal, unsigned digit, int64_t place, bool *more) {
    if (digit == 0)
        return true;
    if (place < -FRACTION_DIGITS) {
        *more = true;
    } else if (place < 0) {
        decimal->fraction += digit * power_of_ten(place + FRACTION_DIGITS);
    } else {
        if (place >= WHOLE_DIGITS)
            return false;
        decimal->whole += digit * power_of_ten(place); /* less than 10^19, which 64 bits hold */
    }
    return true;
}

const char *htw__text_read_number(struct htw__text *text, struct htw__decimal *ret_decimal) {
    struct htw__text digits = *text;
    const char *why = htw__text_read_decimal(text, ret_decimal);
    int64_t exponent;
    struct htw__text end = *text;
    if (why != NULL || !read_exponent(text, &exponent))
        return why;
    digits.end = end.at;
    const char *point = memchr(digits.at, '.', (size_t)(digits.end - digits.at));
    int64_t place = exponent + ((point != NULL ? point : digits.end) - digits.at) - 1;
    struct htw__decimal decimal = { 0, 0 };
    bool more = false;
    while (digits.at < digits.end) {
        if (htw__text_skip(&digits, '.'))
            continue;
        if (!add_digit(&decimal, take_digit(&digits), place--, &more))
            return "number too large";
    }
    decimal.fraction += more;
    *ret_decimal = decimal;
    return NULL;
}

static uint64_t divide_up(uint64_t number, uint64_t divisor) {
    return number / divisor + (number % divisor != 0);
}

int64_t htw__decimal_times(const struct htw__decimal *decimal, int64_t unit_ns) {
    uint64_t ns, fraction = decimal->fraction;
    if (unit_ns < HTW__NS_PER_S) {
        ns = divide_up(fraction, (uint64_t)(FRACTION_ONE / unit_ns));
    } else {
        uint64_t unit_s = (uint64_t)(unit_ns / HTW__NS_PER_S);
        ns = fraction / NS_PER_S * unit_s + divide_up(fraction % NS_PER_S * unit_s, NS_PER_S);
    }
    if (decimal->whole > ((uint64_t)INT64_MAX - ns) / (uint64_t)unit_ns)
        return INT64_MAX;
    return (int64_t)(decimal->whole * (uint64_t)unit_ns + ns);
}
