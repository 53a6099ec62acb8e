/* SPDX-License-Identifier: MIT */
/* levels.c - which bucket of which level a deadline belongs to. */
#include "levels.h"

#include "../../../src/base/assert.h"

/* Widths above this are of no use, and would bring products near the end of the range. */
#define WIDTH_MAX (INT64_C(1) << 52)

bool htw__levels_are_valid(const struct htw__levels *levels) {
    if (levels->width_ms < 1 || levels->count < HTW__RELAY_LEVELS_MIN ||
        levels->count > HTW__RELAY_LEVELS_MAX || levels->size < HTW__RELAY_SIZE_MIN ||
        levels->size > HTW__RELAY_SIZE_MAX || (levels->size & (levels->size - 1)) != 0)
        return false;
    int64_t width = levels->width_ms;
    for (uint32_t level = 0; level < levels->count; level++) {
        if (width > WIDTH_MAX / levels->size)
            return false;
        width *= levels->size / 2;
    }
    return true;
}

int64_t htw__levels_width(const struct htw__levels *levels, uint32_t level) {
    int64_t width = levels->width_ms;
    for (uint32_t i = 0; i < level; i++)
        width *= levels->size / 2;
    return width;
}

int64_t htw__levels_number(const struct htw__levels *levels, uint32_t level, int64_t time_ms) {
    return time_ms / htw__levels_width(levels, level);
}

uint32_t htw__levels_slot(const struct htw__levels *levels, int64_t number) {
    return (uint32_t)(number & (levels->size - 1));
}

int64_t htw__levels_turn(const struct htw__levels *levels, uint32_t level, uint32_t slot,
                         int64_t clock_ms) {
    int64_t first = htw__levels_number(levels, level, clock_ms);
    uint32_t ahead = (slot - htw__levels_slot(levels, first)) & (levels->size - 1);
    return first + ahead;
}

struct htw__relay_place htw__levels_place(const struct htw__levels *levels, int64_t clock_ms,
                                          int64_t deadline_ms) {
    HTW_ASSERT(levels->width_ms > 0 && levels->size >= HTW__RELAY_SIZE_MIN);
    if (deadline_ms < clock_ms)
        deadline_ms = clock_ms;
    int64_t width = levels->width_ms;
    uint32_t level = 0;
    while (level < levels->count - 1 &&
           deadline_ms / width - clock_ms / width >= (int64_t)levels->size) {
        width *= levels->size / 2;
        level++;
    }
    int64_t number = deadline_ms / width;
    int64_t farthest = clock_ms / width + levels->size - 1;
    return (struct htw__relay_place) { level, number < farthest ? number : farthest };
}

bool htw__levels_reach(const struct htw__levels *levels, int64_t clock_ms, int64_t deadline_ms) {
    int64_t width = htw__levels_width(levels, levels->count - 1);
    return deadline_ms / width - clock_ms / width < (int64_t)levels->size;
}

int64_t htw__levels_demotion(const struct htw__levels *levels, struct htw__relay_place place) {
    return (place.number - 1) * htw__levels_width(levels, place.level);
}

int64_t htw__levels_limit(const struct htw__levels *levels, struct htw__relay_place place) {
    int64_t start_ms = place.number * htw__levels_width(levels, place.level);
    return place.level == 0 ? start_ms : start_ms - levels->width_ms;
}

int64_t htw__levels_round(const struct htw__levels *levels, int64_t time_ms) {
    return time_ms - time_ms % levels->width_ms;
}
