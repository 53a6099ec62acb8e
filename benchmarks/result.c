/* SPDX-License-Identifier: MIT */
#include "result.h"

size_t result_figure_count(const struct result *result) {
    bool is_there = result->state == RESULT_MEASURED && result->count > 0;
    return is_there ? result->measurements[0].figure_count : 0;
}

/* How many repetitions came out lower, counting an equal one where it came earlier. */
static size_t rank(const struct result *result, size_t index, size_t repetition) {
    double value = result->measurements[repetition].figures[index].value;
    size_t lower = 0;
    for (size_t i = 0; i < result->count; i++) {
        double other = result->measurements[i].figures[index].value;
        lower += other < value || (!(value < other) && i < repetition);
    }
    return lower;
}

struct summary result_summary(const struct result *result, size_t index) {
    const struct measurement *measurements = result->measurements;
    struct summary summary = { .figure = &measurements[0].figures[index] };
    double below = 0, above = 0; /* the two in the middle, or the one twice */
    for (size_t i = 0; i < result->count; i++) {
        double value = measurements[i].figures[index].value;
        size_t lower = rank(result, index, i);
        if (lower == 0)
            summary.min = value;
        if (lower == result->count - 1)
            summary.max = value;
        if (lower == (result->count - 1) / 2)
            below = value;
        if (lower == result->count / 2)
            above = value;
    }
    summary.median = (below + above) / 2;
    return summary;
}

const char *result_state_name(enum result_state state) {
    switch (state) {
    case RESULT_MEASURED:
        return "measured";
    case RESULT_LEFT_OUT:
        return "left out";
    case RESULT_TOO_SLOW:
        return "too slow";
    case RESULT_FAILED:
        return "failed";
    }
    return "unknown";
}
