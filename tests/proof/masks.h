/* SPDX-License-Identifier: MIT */
/* masks.h - the same for the masks of bitmaps. */
/*@
    lemma zero: \forall integer i;
        0 <= i ==> !is_set(0, i);
    lemma and_is_set: \forall integer x, y, i;
        0 <= x <= UINT64_MAX && 0 <= y <= UINT64_MAX && 0 <= i < 64 ==> (is_set(x & y, i) <==> is_set(x, i) && is_set(y, i));
    lemma mask_from: \forall integer n, i;
        0 <= n < 64 && 0 <= i < 64 ==> (is_set((uint64_t)(UINT64_MAX << n), i) <==> n <= i);
    lemma mask_after: \forall integer n, i;
        0 <= n < 64 && 0 <= i < 64 ==> (is_set((uint64_t)~(UINT64_MAX >> n), i) <==> 63 - n < i);
    lemma mask_without: \forall integer n, i;
        0 <= n < 64 && 0 <= i < 64 ==> (is_set((uint64_t)~(uint64_t)(1 << n), i) <==> i != n);
*/
