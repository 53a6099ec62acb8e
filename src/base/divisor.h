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

#include "compiler.h"

#include <stdint.h>

struct htw__divisor {
    uint64_t value;
    uint64_t multiplier;
    unsigned shift;
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 htw__uint128;

/* The upper 64 bits of a product. */
static inline uint64_t htw__multiply_high(uint64_t a, uint64_t b) {
    return (uint64_t)(((htw__uint128)a * b) >> 64);
}

/* 2^`exponent` / `divisor`, where that is below 2^64. */
static inline uint64_t htw__divide_power(unsigned exponent, uint64_t divisor) {
    return (uint64_t)(((htw__uint128)1 << exponent) / divisor);
}
#else /* 32-bit machines */
static inline uint64_t htw__multiply_high(uint64_t a, uint64_t b) {
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, cross = a_high * b_low, other = a_low * b_high;
    uint64_t middle = (low >> 32) + (uint32_t)cross + (uint32_t)other;
    return a_high * b_high + (cross >> 32) + (other >> 32) + (middle >> 32);
}

/* Long division, a bit at a time: it is done once for each divisor, and not on a hot path. */
static inline uint64_t htw__divide_power(unsigned exponent, uint64_t divisor) {
    uint64_t quotient = 0, rest = (uint64_t)1 << (exponent - 64); /* below the divisor */
    for (unsigned i = 0; i < 64; i++) {
        rest <<= 1;
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient++;
        }
    }
    return quotient;
}
#endif

static inline struct htw__divisor htw__divisor_of(uint64_t value) {
    unsigned bits = htw__highest_bit(value - 1) + 1;
    return (struct htw__divisor) {
        .value = value,
        .multiplier = htw__divide_power(63 + bits, value) + 1,
        .shift = bits - 1,
    };
}

static inline uint64_t htw__divide(uint64_t dividend, const struct htw__divisor *by) {
    return htw__multiply_high(dividend, by->multiplier) >> by->shift;
}

/* Rounded up. */
static inline uint64_t htw__divide_up(uint64_t dividend, const struct htw__divisor *by) {
    uint64_t quotient = htw__divide(dividend, by);
    return quotient + (quotient * by->value != dividend);
}

#endif /* HTW_SRC_BASE_DIVISOR_H */
