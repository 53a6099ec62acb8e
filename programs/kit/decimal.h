/* SPDX-License-Identifier: MIT */
/* decimal.h - reading decimal numbers in text that has no terminator. */
#ifndef HTW_KIT_DECIMAL_H
#define HTW_KIT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of a text that is being read. */
struct htw__text {
    const char *at;
    const char *end;
};

/* A number that is not negative, as it stands in the text. */
struct htw__decimal {
    const char *digits, *end; /* with a point, or none */
    int64_t whole; /* how many of the digits are before the point when the exponent has moved it */
};

/* Whether a digit comes next. */
bool htw__text_at_digit(const struct htw__text *text);

/* Steps over `wanted` if it comes next, and says whether it did. */
bool htw__text_skip(struct htw__text *text, char wanted);

/*
 * Reads exactly `digits` digits (at most 9) into `*ret_number`, or nothing.
 */
bool htw__text_read_fixed(struct htw__text *text, unsigned digits, int *ret_number);

/*
 * Reads digits with an optional fraction: 12, 12.5, .5 - but not 12. alone.
 * Returns NULL, or why that failed (a static phrase).
 */
const char *htw__text_read_decimal(struct htw__text *text, struct htw__decimal *ret_decimal);

/* The same with an optional exponent, as programs print numbers: 1e-06, 1.5E+3. */
const char *htw__text_read_number(struct htw__text *text, struct htw__decimal *ret_decimal);

/* `decimal` times `unit_ns`, rounded up to a whole nanosecond; INT64_MAX if it is too much. `unit_ns` is
 * up to a week. */
int64_t htw__decimal_times(const struct htw__decimal *decimal, int64_t unit_ns);

#endif /* HTW_KIT_DECIMAL_H */
