/* SPDX-License-Identifier: MIT */
/* times - the sums and differences of times of src/scheduler/clocks.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* What Frama-C and its C library do not know; nothing proved here uses it. */
#define _Alignas(alignment)
#define EOWNERDEAD 130

/* What gcc documents of its functions. They store the sum even if it does not fit; nothing here reads it then. */
/*@ requires \valid(sum);
    assigns *sum;
    ensures \result <==> !(INT64_MIN <= a + b <= INT64_MAX);
    ensures !\result ==> *sum == a + b; */
static bool add_overflow(int64_t a, int64_t b, int64_t *sum) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return true;
    *sum = a + b;
    return false;
}

/*@ requires \valid(difference);
    assigns *difference;
    ensures \result <==> !(INT64_MIN <= a - b <= INT64_MAX);
    ensures !\result ==> *difference == a - b; */
static bool sub_overflow(int64_t a, int64_t b, int64_t *difference) {
    if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b)
        return true;
    *difference = a - b;
    return false;
}

#define __builtin_add_overflow add_overflow
#define __builtin_sub_overflow sub_overflow
#include "../../src/base/clock.h"
#include "../../src/scheduler/clocks.h"
