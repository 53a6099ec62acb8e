/* SPDX-License-Identifier: MIT */
/* shifts.h - what provers of integers do not know of a shift. bitvectors.py proves it for all bits. */
/*@
    lemma right_is_less: \forall integer x, n;
        0 <= x <= UINT64_MAX && 0 <= n < 64 ==> 0 <= x >> n <= x;
*/
