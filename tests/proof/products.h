/* SPDX-License-Identifier: MIT */
/* products.h - what provers of integers do not find of products. bitvectors.py proves it for all integers. */
/*@
    lemma one_quotient: \forall integer x, y, q, k;
        is_quotient(q, x, y) && is_quotient(k, x, y) ==> q == k;
    lemma reciprocal: \forall integer n, m, d, s, h, q;
        0 <= n <= INT64_MAX && is_reciprocal(m, s, d) && is_high(h, n, m) && is_quotient(q, h, s) ==> is_quotient(q, n, d);
    lemma product_of_halves: \forall integer x, y, a, b, c, d;
        has_rest(x, UINT32_MAX + 1, a, b) && has_rest(y, UINT32_MAX + 1, c, d) && 0 <= x <= UINT64_MAX && 0 <= y <= UINT64_MAX ==>
            0 <= a * c <= UINT32_MAX * UINT32_MAX && 0 <= a * d <= UINT32_MAX * UINT32_MAX && 0 <= b * c <= UINT32_MAX * UINT32_MAX &&
            0 <= b * d <= UINT32_MAX * UINT32_MAX && x * y == (UINT64_MAX + 1) * (a * c) + (UINT32_MAX + 1) * (a * d + b * c) + b * d;
    lemma reciprocal_is_next: \forall integer s, d, q;
        is_quotient(q, (UINT64_MAX + 1) * s, d) && 0 < s && s < d <= 2 * s && d <= UINT64_MAX ==> q < UINT64_MAX && is_reciprocal(q + 1, s, d);
*/
