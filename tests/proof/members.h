/* SPDX-License-Identifier: MIT */
/* members.h - a member of a bitmap, its word and its bit; WP proves it. */
/*@ lemma summary_has_word{L}: \forall struct htw__bitmap *bitmap, integer i;
        is_bitmap(bitmap) && 0 <= i < HTW__BITMAP_SIZE && has(bitmap, i) ==> is_set(bitmap->summary, i / 64) && bitmap->words[i / 64] != 0;
    lemma member_of_word{L}: \forall struct htw__bitmap *bitmap, integer word, bit, i;
        0 <= word < 64 && 0 <= bit < 64 && i == 64 * word + bit ==> (has(bitmap, i) <==> is_set(bitmap->words[word], bit));
    lemma words_are_in_order: \forall integer i, k; 0 <= i && 0 <= k ==>
        (i <= k <==> i / 64 < k / 64 || (i / 64 == k / 64 && i % 64 <= k % 64)); */
