/* SPDX-License-Identifier: MIT */
/* histogram.h - the same for histograms. */
/*@
    lemma left_by_6: \forall integer x;
        0 <= x <= UINT64_MAX ==> x << 6 == 64 * x;
    lemma histogram_top: \forall integer x, n;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && (x | 64) >> n == 1 ==> 6 <= n && (x < 64 ==> n == 6);
    lemma histogram_shift: \forall integer x, n, k;
        64 <= x <= UINT64_MAX && 0 <= n < 64 && (x | 64) >> n == 1 && k == n - 6 ==> 64 <= x >> k && x >> k < 128;
*/
