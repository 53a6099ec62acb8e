/* SPDX-License-Identifier: MIT */
/* queue.h - the same for the order of buckets. */
/*@
    lemma levels_ascend: \forall integer a, b, n;
        0 <= a <= b <= UINT64_MAX && 0 <= n < 64 ==> 0 <= a >> n && a >> n <= b >> n;
    lemma lowest_goes: \forall integer x, n, i;
        0 < x <= UINT64_MAX && 0 <= n < 64 && 0 <= i < 64 && is_set(x, n) && (x >> n) << n == x ==> (is_set(x & (x - 1), i) <==> is_set(x, i) && i != n);
    lemma slot_is_less: \forall integer n, first, bucket, slot;
        0 <= first <= UINT64_MAX && 0 <= bucket <= UINT64_MAX && 0 <= slot <= UINT64_MAX && 0 <= n < 64 && n <= 12 &&
        is_in_window(n, first, bucket, slot) ==> slot < 4096;
    lemma next_is_earliest: \forall integer n, first, next, other, a, b, c;
        0 <= first <= UINT64_MAX && 0 <= next <= UINT64_MAX && 0 <= other <= UINT64_MAX && 0 <= n < 64 && n <= 12 &&
        0 <= a <= UINT64_MAX && 0 <= b <= UINT64_MAX && 0 <= c <= UINT64_MAX &&
        is_in_window(n, first, first, a) && is_in_window(n, first, next, b) && is_in_window(n, first, other, c) &&
        (a <= c ==> a <= b && b <= c) && (c < a ==> b <= c || a <= b) ==> next <= other && (next == other ==> b == c);
    lemma level_of_bucket: \forall integer level, slot, n;
        0 <= level < 64 && 0 <= n <= 12 && 0 <= slot <= UINT32_MAX && slot < (1 << n) ==> ((level << n) + slot) >> n == level;
    lemma bit_joins: \forall integer x, n, i;
        0 <= x <= UINT64_MAX && 0 <= n < 64 && 0 <= i < 64 ==> (is_set((uint64_t)(1 << n) | x, i) <==> i == n || is_set(x, i));
    lemma slot_fits: \forall integer id, n;
        0 <= id <= UINT32_MAX && 0 <= n <= 12 ==> 0 <= (id >> n) << n <= id && id - ((id >> n) << n) < (1 << n);
    lemma first_id_fits: \forall integer level, n;
        0 <= level < 64 && 0 <= n <= 12 ==> 0 <= level << n <= 258048 && 1 <= 1 << n <= 4096;
*/
