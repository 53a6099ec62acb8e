/* SPDX-License-Identifier: MIT */
/* decimal.c - reads decimal numbers in text that has no terminator. */
#include "decimal.h"

/* Moves the point out of any text. */
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

const char *htw__text_read_decimal(struct htw__text *text, struct htw__decimal *ret_decimal) {
    struct htw__decimal decimal = { .digits = text->at };
    for (; htw__text_at_digit(text); text->at++)
        decimal.whole++;
    bool some = decimal.whole > 0;
    if (htw__text_skip(text, '.'))
        for (some = htw__text_at_digit(text); htw__text_at_digit(text);)
            text->at++;
    if (!some)
        return "number expected";
    decimal.end = text->at;
    *ret_decimal = decimal;
    return NULL;
}

/* Reads e, a sign, and digits: all of these or, if they are not all there, nothing. */
static int64_t read_exponent(struct htw__text *text) {
    struct htw__text rest = *text;
    if (!htw__text_skip(&rest, 'e') && !htw__text_skip(&rest, 'E'))
        return 0;
    bool is_negative = htw__text_skip(&rest, '-');
    if (!is_negative)
        htw__text_skip(&rest, '+');
    if (!htw__text_at_digit(&rest))
        return 0;
    int64_t exponent = 0;
    while (htw__text_at_digit(&rest)) {
        exponent = exponent * 10 + take_digit(&rest);
        if (exponent > EXPONENT_MAX)
            exponent = EXPONENT_MAX;
    }
    *text = rest;
    return is_negative ? -exponent : exponent;
}

const char *htw__text_read_number(struct htw__text *text, struct htw__decimal *ret_decimal) {
    const char *why = htw__text_read_decimal(text, ret_decimal);
    if (why == NULL)
        ret_decimal->whole += read_exponent(text);
    return why;
}

/* The digits behind the point, from the last one on: rounding up at each of them is rounding up once. */
static uint64_t times_fraction(const struct htw__decimal *decimal, uint64_t unit_ns) {
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

int64_t htw__decimal_times(const struct htw__decimal *decimal, int64_t unit_ns) {
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
