/* SPDX-License-Identifier: MIT */
/* backoff.c - delays that grow from attempt to attempt: htw/backoff.h. */
#include "random.h"
#include "refusal.h"

#include <htw/backoff.h>

#include <errno.h>
#include <limits.h>

#define INITIAL_NS INT64_C(100000000)
#define CAP_NS INT64_C(30000000000)

/* The comparisons are written so that NaN is not valid. */
static const char *invalid_member(const struct htw_backoff *backoff, int64_t initial_ns) {
    if (initial_ns < 1)
        return "initial_ns";
    if (backoff->_cap_ns < initial_ns)
        return "cap_ns";
    if (!(backoff->_multiplier >= 1.0))
        return "multiplier";
    return backoff->_jitter >= 0.0 && backoff->_jitter <= 1.0 ? NULL : "jitter";
}

/* 0 means a default. */
static double number_of(double value, double if_zero) {
    return value < 0.0 || value > 0.0 || value != value ? value : if_zero;
}

int htw_backoff_init(struct htw_backoff *backoff, const struct htw_backoff_options *options) {
    static const struct htw_backoff_options defaults = HTW_BACKOFF_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    if (options->struct_size != sizeof(*options))
        return htw__refuse("struct_size");
    int64_t initial_ns = options->initial_ns == 0 ? INITIAL_NS : options->initial_ns;
    int64_t cap_ns = initial_ns > CAP_NS ? initial_ns : CAP_NS;
    struct htw_backoff made = {
        ._initial_ns = (double)initial_ns,
        ._cap_ns = options->cap_ns == 0 ? cap_ns : options->cap_ns,
        ._multiplier = number_of(options->multiplier, 2.0),
        ._jitter = options->jitter <= HTW_NO_JITTER && options->jitter >= HTW_NO_JITTER
                       ? 0.0
                       : number_of(options->jitter, 0.5),
        ._random = options->seed,
    };
    const char *member = invalid_member(&made, initial_ns);
    if (backoff == NULL || member != NULL)
        return htw__refuse(member);
    *backoff = made;
    htw_backoff_reset(backoff);
    return 0;
}

/* A number from 0 up to, but not including, 1: the upper 53 bits of SplitMix64. */
static double next_fraction(struct htw_backoff *backoff) {
    backoff->_random += HTW__RANDOM_STEP;
    return (double)(htw__random_mix(backoff->_random) >> 11) * 0x1p-53;
}

/* Rounded down, and at most `most`. The comparison keeps the conversion in range: a double that is
   less than the one nearest to `most` is not greater than `most`. */
static int64_t to_ns(double ns, int64_t most) {
    return ns < (double)most ? (int64_t)ns : most;
}

int64_t htw_backoff_next(struct htw_backoff *backoff) {
    if (backoff == NULL || backoff->_initial_ns < 1.0)
        return -EINVAL;
    int64_t delay_ns = to_ns(backoff->_delay_ns, backoff->_cap_ns);
    /* It stops growing at the cap: an overflow would raise a floating-point exception. */
    if (delay_ns < backoff->_cap_ns)
        backoff->_delay_ns *= backoff->_multiplier;
    if (backoff->_attempts < UINT_MAX)
        backoff->_attempts++;
    double random_ns = backoff->_jitter * next_fraction(backoff) * (double)delay_ns;
    /* Less than the whole delay: the fraction is less than 1, and rounding stays within the bound.
       */
    return delay_ns - to_ns(random_ns, delay_ns - 1);
}
