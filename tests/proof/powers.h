/* SPDX-License-Identifier: MIT */
/* powers.h - the same for powers of two. */
/*@
    lemma power_fits: \forall integer n;
        0 <= n < 64 ==> 1 <= 1 << n && 1 << n <= 1 << 63;
    lemma power_doubles: \forall integer n;
        0 <= n <= 127 ==> 1 << (n + 1) == 2 * (1 << n);
    lemma power_above_64: \forall integer n;
        64 <= n < 128 ==> 1 << n == (UINT64_MAX + 1) * (1 << (n - 64));
    lemma power_of_top: \forall integer x, n;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && x >> n == 1 ==> 1 << n <= x && x < 2 * (1 << n);
    lemma right_divides: \forall integer x, n;
        0 <= x <= UINT64_MAX && 0 <= n < 64 ==> is_quotient(x >> n, x, 1 << n);
    lemma halves: \forall integer x;
        0 <= x <= UINT64_MAX ==> has_rest(x, UINT32_MAX + 1, x >> 32, (uint32_t)x);
*/
