/* SPDX-License-Identifier: MIT */
/* test_divisor - divisions by multiplication are exact, at the limits of the range and at random. */
#include "../../../src/base/divisor.h"

#include "../../support/random.h"
#include "../unit.h"

#include <inttypes.h>

static const uint64_t divisors[] = {
    2,
    3,
    5,
    7,
    641,
    1000,
    1000000,
    1000003,
    1000000000,
    (UINT64_C(1) << 31) - 1,
    UINT64_C(1) << 31,
    (UINT64_C(1) << 31) + 1,
    (UINT64_C(1) << 32) - 1,
    UINT64_C(1) << 32,
    (UINT64_C(1) << 32) + 1,
    UINT64_C(86400000000000),
    UINT64_C(1) << 61,
    (UINT64_C(1) << 61) + 1,
    (UINT64_C(1) << 62) - 1,
    UINT64_C(1) << 62,
};

static void check(uint64_t dividend, const struct htw__divisor *by) {
    uint64_t quotient = dividend / by->value;
    uint64_t up = quotient + (dividend % by->value != 0);
    if (htw__divide(dividend, by) != quotient || htw__divide_up(dividend, by) != up)
        fail_msg("%" PRIu64 " / %" PRIu64, dividend, by->value);
}

UNIT_TEST(division_around_multiples_is_exact) {
    for (size_t i = 0; i < COUNT_OF(divisors); i++) {
        struct htw__divisor by = htw__divisor_of(divisors[i]);
        uint64_t most = (uint64_t)INT64_MAX / by.value;
        const uint64_t quotients[] = { 0, 1, 2, 3, most / 2, most - most / 3, most };
        for (size_t j = 0; j < COUNT_OF(quotients); j++) {
            uint64_t multiple = (quotients[j] < most ? quotients[j] : most) * by.value;
            check(multiple, &by);
            check(multiple + (multiple < INT64_MAX), &by);
            check(multiple - (multiple > 0), &by);
        }
        check(INT64_MAX, &by);
    }
}

UNIT_TEST(division_of_random_numbers_is_exact) {
    struct random_source random = { 1 };
    for (int i = 0; i < 20000; i++) {
        uint64_t value = 2 + random_magnitude(&random) % ((UINT64_C(1) << 62) - 1);
        struct htw__divisor by = htw__divisor_of(value);
        for (int j = 0; j < 5; j++)
            check(random_magnitude(&random) >> 1, &by);
    }
}

UNIT_TEST(high_half_of_a_product_is_exact) {
    assert_int_equal(htw__multiply_high(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    assert_int_equal(htw__multiply_high(UINT64_MAX, UINT64_C(1) << 32), UINT32_MAX);
    assert_int_equal(htw__multiply_high(UINT64_C(0xffffffff00000001), UINT64_C(0x1ffffffff)),
                     UINT64_C(0x1fffffffd));
    assert_int_equal(htw__multiply_high(UINT64_MAX, 1), 0);
}
