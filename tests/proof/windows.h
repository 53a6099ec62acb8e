/* SPDX-License-Identifier: MIT */
/* windows.h - the same for levels and their windows. */
/*@
    lemma and_is_less: \forall integer x, y;
        0 <= x <= UINT64_MAX && 0 <= y <= UINT64_MAX ==> 0 <= (x & y) && (x & y) <= x && (x & y) <= y;
    lemma right_keeps_order: \forall integer x, y, n;
        0 <= x <= y <= UINT64_MAX && 0 <= n < 64 ==> 0 <= x >> n && x >> n <= y >> n;
    lemma left_grows: \forall integer mask, n;
        1 <= mask < 4096 && 0 <= n < 64 ==> 1 << n <= mask << n;
    lemma one_fits: \forall integer n;
        0 <= n < 64 ==> 1 << n <= UINT64_MAX;
    lemma window_holds: \forall integer clock, deadline, n, mask;
        0 <= clock <= deadline <= UINT64_MAX && 0 <= n < 64 && 0 <= mask < 4096 && deadline - clock <= mask << n ==> (deadline >> n) - (clock >> n) <= mask;
    lemma window_ends: \forall integer clock, deadline, n, size;
        0 <= clock <= deadline <= UINT64_MAX && 0 <= n < 64 && 0 <= size <= 4096 && size << n <= deadline - clock ==> size <= (deadline >> n) - (clock >> n);

    // Of ticks divided by the width of a bucket, which keep their order.
    lemma slot_has_one_range: \forall integer clock, a, b, k;
        0 <= clock <= a <= UINT64_MAX && 0 <= a <= b <= UINT64_MAX && 0 <= k <= 12 &&
        b - clock < (1 << k) && (a & ((1 << k) - 1)) == (b & ((1 << k) - 1)) ==> a == b;
    lemma range_of_clock_is_in_lower_window: \forall integer clock, deadline, k;
        0 <= clock <= deadline <= UINT64_MAX && 0 <= k <= 12 && deadline >> k == clock >> k ==> deadline - clock < (1 << k);
*/
