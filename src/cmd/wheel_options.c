/* SPDX-License-Identifier: MIT */
/* wheel_options.c - reads the options of commands that have a wheel. */
#include "wheel_options.h"

#include "count.h"
#include "duration.h"
#include "terminal.h"

#include <htw/wheel.h>

#include <string.h>

bool htw__tick_parse(const char *text, int64_t *ret_tick_ns) {
    struct htw__time tick = { 0, 0 };
    const char *why = htw__duration_parse(text, strlen(text), &tick);
    int64_t tick_ns = htw__time_to_ns(tick);
    if (why == NULL && (tick_ns < 1 || tick_ns > HTW__NS_PER_DAY))
        why = "a tick lasts from 1ns to 1d";
    if (why != NULL) {
        htw__terminal_error("--tick: %s: %s", why, text);
        return false;
    }
    *ret_tick_ns = tick_ns;
    return true;
}

bool htw__wheel_size_parse(const char *text, uint32_t *ret_size) {
    uint64_t size;
    if (!htw__count_parse(text, &size) || size < HTW_WHEEL_SIZE_MIN || size > HTW_WHEEL_SIZE_MAX ||
        (size & (size - 1)) != 0) {
        htw__terminal_error("--wheel-size: not a power of two from %u to %u: %s",
                            HTW_WHEEL_SIZE_MIN, HTW_WHEEL_SIZE_MAX, text);
        return false;
    }
    *ret_size = (uint32_t)size;
    return true;
}
