/* SPDX-License-Identifier: MIT */
/* bits.h - what provers of integers do not know of bits. bitvectors.py proves it for all bits. */
/*@
    lemma lowest_is_set: \forall integer x;
        0 <= x <= UINT64_MAX && (uint64_t)(x << 63) != 0 ==> is_set(x, 0);
    lemma low_bits_are_zero: \forall integer x, n, m, k;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && 0 < n <= 32 && m == 64 - n && (uint64_t)(x << m) == 0 && 0 <= k < 64 ==> (x >> n) << (k + n) == x << k;
    lemma right_twice: \forall integer x, n, m;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && 0 <= m <= 32 ==> (x >> n) >> m == x >> (n + m);
    lemma set_by_shift: \forall integer x, n, i;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && 0 <= i < 64 && is_set(x, 0) ==> is_set(x << n, n) && (i < n ==> !is_set(x << n, i));
    lemma upper_half: \forall integer x, n, m, k;
        0 <= x <= UINT64_MAX && 0 < n <= 32 && m == 64 - n && k == 64 - 2 * n && (uint64_t)(x << k) != 0 && (uint64_t)(x << m) == 0 ==> (uint64_t)((x >> n) << m) != 0;
    lemma right_of_all: \forall integer x;
        0 <= x <= UINT64_MAX ==> x >> 64 == 0;
    lemma xor_of_different: \forall integer x, y;
        0 <= x <= UINT64_MAX && 0 <= y <= UINT64_MAX && x != y ==> 0 < (x ^ y) <= UINT64_MAX;
    lemma roundest: \forall integer first, last, n;
        1 <= first <= last <= UINT64_MAX && 0 <= n < 64 && ((first - 1) ^ last) >> n == 1 ==> first <= (last >> n) << n <= last;
*/
