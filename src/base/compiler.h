/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - what gcc and clang offer beyond C, and plain C in its place for other compilers.
 *
 * The wheel is built from this and from standard C alone, so that any compiler can build it. Define
 * HTW_NO_BUILTINS to get the plain forms from gcc or clang, as the tests do.
 */
#ifndef HTW_SRC_BASE_COMPILER_H
#define HTW_SRC_BASE_COMPILER_H

#include <stdint.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(HTW_NO_BUILTINS)
#define HTW__HAS_BUILTINS 1
#else
#define HTW__HAS_BUILTINS 0
#endif

#if HTW__HAS_BUILTINS
#define HTW__NOINLINE __attribute__((noinline))
/* For a hot function whose locals are of fixed size, and hold nothing that comes from outside. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define HTW__NO_CANARY __attribute__((no_stack_protector))
#endif
#endif
#define HTW__LIKELY(condition) __builtin_expect((condition), 1)
#define HTW__UNLIKELY(condition) __builtin_expect((condition), 0)
/* Fetches a cache line that will be written to, so that it moves once if another CPU has changed it
   and not twice, for a read and for the write. Any address is allowed. Without an option that gives up
   old processors, compilers make a fetch for reading of the built-in function; but all 64-bit ones
   know the instruction for writing, or ignore it. ./dev coherence has its own. */
#ifndef HTW__PREFETCH
#ifdef __x86_64__
#define HTW__PREFETCH(address) __asm__ volatile("prefetchw (%0)" : : "r"(address))
#else
#define HTW__PREFETCH(address) __builtin_prefetch((address), 1)
#endif
#endif
#else
#define HTW__NOINLINE
#define HTW__LIKELY(condition) (condition)
#define HTW__UNLIKELY(condition) (condition)
#define HTW__PREFETCH(address) ((void)(address))
#endif

#ifndef HTW__NO_CANARY
#define HTW__NO_CANARY
#endif

/* Before what the libraries above libhtw use of base: libhtw exports it, in a node of libhtw.map that has the whole version, so
   that a library of another version is refused when it is loaded. Only the build of libhtw.so defines it. */
#ifndef HTW__SHARED
#define HTW__SHARED
#endif

/* At file scope. `name` says what holds; the C99 form needs it as an identifier. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define HTW__STATIC_ASSERT(condition, name) _Static_assert(condition, #name)
#else
#define HTW__STATIC_ASSERT(condition, name) extern char htw__assert_##name[(condition) ? 1 : -1]
#endif

/*@ predicate is_set(integer bits, integer number) = (bits & (1 << number)) != 0;
    predicate is_step(integer n) = n == 32 || n == 16 || n == 8 || n == 4 || n == 2 || n == 1 || n == 0; */

/* The number of the lowest bit that is set. `bits` must not be 0. */
/*@ requires bits != 0;
    assigns \nothing;
    ensures 0 <= \result < 64 && is_set(bits, \result) && (bits >> \result) << \result == bits;
    ensures \forall integer i; 0 <= i < \result ==> !is_set(bits, i); */
static inline unsigned htw__lowest_bit(uint64_t bits) {
#if HTW__HAS_BUILTINS
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned number = 0;
    /*@ loop invariant is_step(step) && 0 <= number <= 63 && number + 2 * step <= 64;
        loop invariant bits == \at(bits, Pre) >> number && bits << number == \at(bits, Pre);
        loop invariant (uint64_t)(bits << (step == 0 ? 63 : 64 - 2 * step)) != 0;
        loop assigns number, bits, step;
        loop variant step; */
    for (unsigned step = 32; step > 0; step /= 2) {
        if (bits << (64 - step) == 0) { /* none of the lowest `step` bits is set */
            bits >>= step;
            number += step;
        }
    }
    return number;
#endif
}

/* The number of the highest bit that is set. `bits` must not be 0. */
/*@ requires bits != 0;
    assigns \nothing;
    ensures 0 <= \result < 64 && bits >> \result == 1; */
static inline unsigned htw__highest_bit(uint64_t bits) {
#if HTW__HAS_BUILTINS
    return 63u - (unsigned)__builtin_clzll(bits);
#else
    unsigned number = 0;
    /*@ loop invariant is_step(step) && 0 <= number <= 63 && number + 2 * step <= 64;
        loop invariant bits != 0 && bits == \at(bits, Pre) >> number;
        loop invariant bits >> (step == 0 ? 1 : 2 * step) == 0;
        loop assigns number, bits, step;
        loop variant step; */
    for (unsigned step = 32; step > 0; step /= 2) {
        if (bits >> step != 0) {
            bits >>= step;
            number += step;
        }
    }
    return number;
#endif
}

/*
 * Of the numbers from `first` to `last`, the one that is divisible by the highest power of two: the slack rule. Timers
 * with slack meet there, and the clock advances less often. The bit is the highest in which first - 1 and last differ:
 * one multiple of its power lies in the range.
 */
/*@ requires first <= last;
    assigns \nothing;
    ensures first <= \result <= last; */
static inline uint64_t htw__roundest(uint64_t first, uint64_t last) {
    if (first == 0)
        return 0;
    unsigned bit = htw__highest_bit((first - 1) ^ last);
    return last >> bit << bit;
}

/* How many bits are set. */
static inline uint32_t htw__count_bits(uint64_t bits) {
#if HTW__HAS_BUILTINS
    return (uint32_t)__builtin_popcountll(bits);
#else
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
#endif
}

#endif /* HTW_SRC_BASE_COMPILER_H */
