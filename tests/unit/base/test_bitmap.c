/* SPDX-License-Identifier: MIT */
/* test_bitmap - the set of small integers. */
#include "../../../src/base/bitmap.h"

#include "../../support/random.h"
#include "../unit.h"

/* Adds and removes at random, beside an array of flags. */
UNIT_TEST(bitmap_in_random_use_agrees_with_an_array) {
    struct htw__bitmap bitmap = { 0 };
    static bool flags[HTW__BITMAP_SIZE];
    struct random_source random = { 1 };
    for (int step = 0; step < 20000; step++) {
        uint64_t numbers = random_next(&random);
        uint32_t member = (uint32_t)(numbers >> 40) % HTW__BITMAP_SIZE;
        flags[member] = (numbers >> 33) % 3 == 0;
        if (flags[member])
            htw__bitmap_add(&bitmap, member);
        else
            htw__bitmap_remove(&bitmap, member);
        uint32_t from = (uint32_t)(numbers >> 20) % HTW__BITMAP_SIZE;
        uint32_t expected = HTW__BITMAP_NONE;
        for (uint32_t i = 0; expected == HTW__BITMAP_NONE && i < HTW__BITMAP_SIZE; i++)
            if (flags[(from + i) % HTW__BITMAP_SIZE])
                expected = (from + i) % HTW__BITMAP_SIZE;
        assert_int_equal(htw__bitmap_next(&bitmap, from), expected);
        assert_int_equal(htw__bitmap_has(&bitmap, from), flags[from]);
    }
}

UNIT_TEST(bitmap_with_a_member_out_of_bounds_is_invalid) {
    static const uint32_t bounds[] = { 1, 63, 64, 65, 127, 128, 4095, 4096 };
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        struct htw__bitmap bitmap = { 0 };
        htw__bitmap_add(&bitmap, bounds[i] - 1);
        assert_true(htw__bitmap_is_valid(&bitmap, bounds[i]));
        assert_false(htw__bitmap_is_valid(&bitmap, bounds[i] - 1));
    }
}
