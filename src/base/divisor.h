/* SPDX-License-Identifier: MIT */
/*
 * divisor.h - division by a number that is chosen once at run time, as a multiplication: ten times
 * as fast as the division of the processor.
 *
 * For dividends below 2^63 and divisors from 2 to 2^62 (Granlund and Montgomery 1994). With l the
 * least number for which divisor <= 2^l, m = floor(2^(63+l) / divisor) + 1 fits into 64 bits, and
 * is too great by e / divisor with e <= divisor <= 2^l. So n * m / 2^(63+l) is too great by less
 * than n * 2^l / (divisor * 2^(63+l)) < 1 / divisor, which never reaches the next integer.
 */
#ifndef HTW_SRC_BASE_DIVISOR_H
#define HTW_SRC_BASE_DIVISOR_H

#include <stdint.h>

__extension__ typedef unsigned __int128 htw__uint128;

struct htw__divisor {
    uint64_t value;
    uint64_t multiplier;
    unsigned shift;
};

static inline struct htw__divisor htw__divisor_of(uint64_t value) {
    unsigned bits = 64u - (unsigned)__builtin_clzll(value - 1);
    return (struct htw__divisor) {
        .value = value,
        .multiplier = (uint64_t)(((htw__uint128)1 << (63 + bits)) / value + 1),
        .shift = bits - 1,
    };
}

static inline uint64_t htw__divide(uint64_t dividend, const struct htw__divisor *by) {
    return (uint64_t)(((htw__uint128)dividend * by->multiplier) >> 64) >> by->shift;
}

/* Rounded up. */
static inline uint64_t htw__divide_up(uint64_t dividend, const struct htw__divisor *by) {
    uint64_t quotient = htw__divide(dividend, by);
    return quotient + (quotient * by->value != dividend);
}

#endif /* HTW_SRC_BASE_DIVISOR_H */
