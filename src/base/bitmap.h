/* SPDX-License-Identifier: MIT */
/*
 * bitmap.h - a set of small integers that finds its next member in a few instructions: one bit for
 * each integer, and in a summary one bit for each word that is not zero.
 */
#ifndef HTW_SRC_BASE_BITMAP_H
#define HTW_SRC_BASE_BITMAP_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Members are less than this. */
#define HTW__BITMAP_SIZE 4096u
/* htw__bitmap_next() of an empty set. */
#define HTW__BITMAP_NONE UINT32_MAX

/* All zero: the empty set. */
struct htw__bitmap {
    uint64_t summary; /* bit i: words[i] is not zero */
    uint64_t words[HTW__BITMAP_SIZE / 64];
};

/*@ predicate has(struct htw__bitmap *bitmap, integer member) = is_set(bitmap->words[member / 64], member % 64);
    predicate is_bitmap(struct htw__bitmap *bitmap) = \valid(bitmap) &&
        \forall integer i; 0 <= i < 64 ==> (is_set(bitmap->summary, i) <==> bitmap->words[i] != 0); */

/*@ requires \valid_read(bitmap) && member < HTW__BITMAP_SIZE;
    assigns \nothing;
    ensures \result <==> has(bitmap, member); */
static inline bool htw__bitmap_has(const struct htw__bitmap *bitmap, uint32_t member) {
    return bitmap->words[member / 64] >> (member % 64) & 1;
}

/*@ requires is_bitmap(bitmap) && member < HTW__BITMAP_SIZE;
    assigns *bitmap;
    ensures is_bitmap(bitmap);
    ensures \forall integer i; 0 <= i < HTW__BITMAP_SIZE ==> (has(bitmap, i) <==> i == member || \at(has(bitmap, i), Pre)); */
static inline void htw__bitmap_add(struct htw__bitmap *bitmap, uint32_t member) {
    bitmap->words[member / 64] |= (uint64_t)1 << (member % 64);
    bitmap->summary |= (uint64_t)1 << (member / 64);
}

/*@ requires is_bitmap(bitmap) && member < HTW__BITMAP_SIZE;
    assigns *bitmap;
    ensures is_bitmap(bitmap);
    ensures \forall integer i; 0 <= i < HTW__BITMAP_SIZE ==> (has(bitmap, i) <==> i != member && \at(has(bitmap, i), Pre)); */
static inline void htw__bitmap_remove(struct htw__bitmap *bitmap, uint32_t member) {
    uint32_t word = member / 64;
    bitmap->words[word] &= ~((uint64_t)1 << (member % 64));
    /*@ assert \forall integer i; 0 <= i < 64 ==>
            (is_set(bitmap->words[word], i) <==> i != member % 64 && is_set(\at(bitmap->words[member / 64], Pre), i)); */
    if (bitmap->words[word] == 0)
        bitmap->summary &= ~((uint64_t)1 << word);
}

/* The first member from `from` on; if there is none, the lowest of all. */
/*@ requires is_bitmap(bitmap) && from < HTW__BITMAP_SIZE;
    assigns \nothing;
    ensures some: bitmap->summary != 0 ==> \result != HTW__BITMAP_NONE;
    ensures member: \result == HTW__BITMAP_NONE || (\result < HTW__BITMAP_SIZE && has(bitmap, \result));
    ensures first: \forall integer i; from <= i < HTW__BITMAP_SIZE && has(bitmap, i) ==> from <= \result <= i;
    ensures \forall integer i; 0 <= i < from && has(bitmap, i) ==> \result <= i || from <= \result < HTW__BITMAP_SIZE; */
static inline uint32_t htw__bitmap_next(const struct htw__bitmap *bitmap, uint32_t from) {
    uint32_t word = from / 64;
    uint64_t rest = bitmap->words[word] & (UINT64_MAX << (from % 64));
    /*@ assert \forall integer i; 0 <= i < 64 ==> (is_set(rest, i) <==> from % 64 <= i && is_set(bitmap->words[word], i)); */
    if (rest == 0) { /* then the words after this one, else the first of all */
        uint64_t later = bitmap->summary & ~(UINT64_MAX >> (63 - word));
        /*@ assert \forall integer i; 0 <= i < 64 ==> (is_set(later, i) <==> word < i && is_set(bitmap->summary, i)); */
        if (later == 0)
            later = bitmap->summary;
        if (later == 0)
            return HTW__BITMAP_NONE;
        word = htw__lowest_bit(later);
        rest = bitmap->words[word];
    }
    return word * 64 + htw__lowest_bit(rest);
}

static inline uint32_t htw__bitmap_count(const struct htw__bitmap *bitmap) {
    uint32_t count = 0;
    for (uint64_t rest = bitmap->summary; rest != 0; rest &= rest - 1)
        count += htw__count_bits(bitmap->words[htw__lowest_bit(rest)]);
    return count;
}

/* Whether bits and summary agree, and all members are less than `bound`. */
static inline bool htw__bitmap_is_valid(const struct htw__bitmap *bitmap, uint32_t bound) {
    for (uint32_t word = 0; word < HTW__BITMAP_SIZE / 64; word++) {
        uint64_t allowed = UINT64_MAX;
        if (bound < (word + 1) * 64)
            allowed = bound <= word * 64 ? 0 : UINT64_MAX >> (64 - bound % 64);
        if ((bitmap->words[word] != 0) != (bitmap->summary >> word & 1) ||
            (bitmap->words[word] & ~allowed) != 0)
            return false;
    }
    return true;
}

#endif /* HTW_SRC_BASE_BITMAP_H */
