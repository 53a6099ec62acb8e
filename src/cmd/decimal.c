/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#define FRACTION_DIGITS 18
#define FRACTION_ONE INT64_C(1000000000000000000)

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

htw__nanos htw__decimal_times(const struct htw__decimal *decimal, int64_t unit_ns) {
    htw__nanos whole_ns = (htw__nanos)decimal->whole * unit_ns;
    if (decimal->fraction == 0)
        return whole_ns;
    htw__nanos fraction = (htw__nanos)decimal->fraction * unit_ns;
    return whole_ns + (fraction + FRACTION_ONE - 1) / FRACTION_ONE;
}
