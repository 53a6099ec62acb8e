/* SPDX-License-Identifier: MIT */
/* test_compiler - the bit operations; test_compiler_plain runs the same in plain C. */
#include "../../../src/base/compiler.h"

#include "../unit.h"

/* All bits from `lowest` to `highest`. */
static uint64_t bits_between(unsigned lowest, unsigned highest) {
    return (UINT64_MAX >> (63 - highest)) & (UINT64_MAX << lowest);
}

UNIT_TEST(compiler_finds_lowest_and_highest_of_any_two_bits) {
    for (unsigned highest = 0; highest < 64; highest++)
        for (unsigned lowest = 0; lowest <= highest; lowest++) {
            uint64_t two = UINT64_C(1) << highest | UINT64_C(1) << lowest;
            assert_int_equal(htw__lowest_bit(two), lowest);
            assert_int_equal(htw__highest_bit(two), highest);
            assert_int_equal(htw__lowest_bit(bits_between(lowest, highest)), lowest);
            assert_int_equal(htw__highest_bit(bits_between(lowest, highest)), highest);
        }
}

UNIT_TEST(compiler_counts_the_bits_of_any_range) {
    assert_int_equal(htw__count_bits(0), 0);
    for (unsigned highest = 0; highest < 64; highest++)
        for (unsigned lowest = 0; lowest <= highest; lowest++)
            assert_int_equal(htw__count_bits(bits_between(lowest, highest)), highest - lowest + 1);
    assert_int_equal(htw__count_bits(UINT64_C(0x5555555555555555)), 32);
    assert_int_equal(htw__count_bits(UINT64_C(0x8000000100010001)), 4);
}
