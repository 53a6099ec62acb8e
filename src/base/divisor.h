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

/*@ predicate is_quotient(integer quotient, integer n, integer d) = quotient * d <= n < quotient * d + d;
    predicate has_rest(integer n, integer d, integer quotient, integer rest) = n == quotient * d + rest && 0 <= rest < d;
    predicate is_high(integer high, integer a, integer b) = high * (UINT64_MAX + 1) <= a * b < (high + 1) * (UINT64_MAX + 1);
    predicate is_reciprocal(integer multiplier, integer power, integer d) =
        0 < d && 0 < power && (UINT64_MAX + 1) * power < multiplier * d <= (UINT64_MAX + 3) * power;
    predicate is_divisor(struct htw__divisor *by) =
        \valid_read(by) && by->shift < 64 && is_reciprocal(by->multiplier, 1 << by->shift, by->value); */

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 htw__uint128;

/* The upper 64 bits of a product. */
static inline uint64_t htw__multiply_high(uint64_t a, uint64_t b) {
    return (uint64_t)(((htw__uint128)a * b) >> 64);
}

/* 2^(64 + `shift`) / `divisor`, where that is below 2^64. */
static inline uint64_t htw__divide_power(unsigned shift, uint64_t divisor) {
    return (uint64_t)(((htw__uint128)1 << (64 + shift)) / divisor);
}
#else /* 32-bit machines */
/*@ assigns \nothing;
    ensures is_high(\result, a, b); */
static inline uint64_t htw__multiply_high(uint64_t a, uint64_t b) {
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, cross = a_high * b_low, other = a_low * b_high;
    uint64_t middle = (low >> 32) + (uint32_t)cross + (uint32_t)other;
    /*@ assert has_rest(a, 1 << 32, a_high, a_low) && has_rest(b, 1 << 32, b_high, b_low); */
    /*@ assert low == a_low * b_low && cross == a_high * b_low && other == a_low * b_high; */
    /*@ assert a * b == (1 << 64) * (a_high * b_high) + (1 << 32) * (cross + other) + low; */
    /*@ assert middle == (low >> 32) + (uint32_t)cross + (uint32_t)other; */
    uint64_t high = a_high * b_high + (cross >> 32) + (other >> 32) + (middle >> 32);
    /*@ assert high == a_high * b_high + (cross >> 32) + (other >> 32) + (middle >> 32); */
    return high;
}

/* Long division, a bit at a time: it is done once for each divisor, and not on a hot path. */
/*@ requires shift < 64 && 1 << shift < divisor <= 1 << 63;
    assigns \nothing;
    ensures is_quotient(\result, 1 << (64 + shift), divisor); */
static inline uint64_t htw__divide_power(unsigned shift, uint64_t divisor) {
    uint64_t quotient = 0, rest = (uint64_t)1 << shift; /* below the divisor */
    /*@ loop invariant 0 <= i <= 64 && quotient < 1 << i && rest < divisor;
        loop invariant quotient * divisor + rest == 1 << (shift + i);
        loop assigns i, rest, quotient;
        loop variant 64 - i; */
    for (unsigned i = 0; i != 64; i++) {
        /*@ assert 1 << (i + 1) == 2 * (1 << i) && 1 << (shift + i + 1) == 2 * (1 << (shift + i)) && rest <= INT64_MAX; */
        rest *= 2;
        quotient *= 2;
        /*@ assert rest == 2 * \at(rest, LoopCurrent) && quotient == 2 * \at(quotient, LoopCurrent) && quotient < UINT64_MAX; */
        if (rest >= divisor) {
            rest -= divisor;
            quotient++;
            /*@ assert quotient == 2 * \at(quotient, LoopCurrent) + 1 && rest == 2 * \at(rest, LoopCurrent) - divisor; */
        }
    }
    return quotient;
}
#endif

/*@ requires 2 <= value <= 1 << 62;
    assigns \nothing;
    ensures \result.value == value && \result.shift < 64 && is_reciprocal(\result.multiplier, 1 << \result.shift, value); */
static inline struct htw__divisor htw__divisor_of(uint64_t value) {
    unsigned shift = htw__highest_bit(value - 1);
    /*@ assert (1 << shift) < value <= 2 * (1 << shift); */
    uint64_t quotient = htw__divide_power(shift, value);
    /*@ assert (uint64_t)(quotient + 1) == quotient + 1 && is_reciprocal(quotient + 1, 1 << shift, value); */
    return (struct htw__divisor) { value, quotient + 1, shift };
}

/*@ requires is_divisor(by) && dividend <= INT64_MAX;
    assigns \nothing;
    ensures \result == dividend / by->value; */
static inline uint64_t htw__divide(uint64_t dividend, const struct htw__divisor *by) {
    uint64_t high = htw__multiply_high(dividend, by->multiplier);
    /*@ assert is_quotient(high >> by->shift, dividend, by->value); */
    return high >> by->shift;
}

/* Rounded up. */
/*@ requires is_divisor(by) && dividend <= INT64_MAX;
    assigns \nothing;
    ensures \result == dividend / by->value + (dividend % by->value == 0 ? 0 : 1); */
static inline uint64_t htw__divide_up(uint64_t dividend, const struct htw__divisor *by) {
    uint64_t quotient = htw__divide(dividend, by);
    /*@ assert has_rest(dividend, by->value, quotient, dividend % by->value) && quotient <= dividend; */
    /*@ assert (uint64_t)(quotient * by->value) == quotient * by->value; */
    return quotient * by->value == dividend ? quotient : quotient + 1;
}

#endif /* HTW_SRC_BASE_DIVISOR_H */
