/* SPDX-License-Identifier: MIT */
/* progress.c - the line on the terminal that shows how far the run is. */
#include "progress.h"

#include "../../base/clock.h"
#include "../duration.h"
#include "../terminal.h"

#include <inttypes.h>
#include <stdio.h>

#define PERIOD_NS (100 * HTW__NS_PER_MS)

void htw__progress_init(struct htw__progress *progress, bool is_wanted) {
    progress->is_wanted = is_wanted;
    progress->next_ns = 0;
}

void htw__progress_update(struct htw__progress *progress,
                          const struct htw__progress_numbers *numbers) {
    if (!progress->is_wanted)
        return;
    int64_t now_ns = htw__clock_monotonic_ns();
    if (now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + PERIOD_NS;

    char next_in[HTW__DURATION_FORMAT_SIZE] = "-";
    char line[256];
    if (numbers->next_in_ns >= 0)
        htw__duration_format((uint64_t)numbers->next_in_ns, next_in);
    snprintf(line, sizeof(line),
             "read %" PRIu64 "  pending %zu  released %" PRIu64 "  next due in %s", numbers->read,
             numbers->pending, numbers->released, next_in);
    htw__terminal_show(line);
}

void htw__progress_erase(struct htw__progress *progress) {
    if (!progress->is_wanted)
        return;
    htw__terminal_erase();
    progress->next_ns = 0;
}

int64_t htw__progress_wait_ns(const struct htw__progress *progress) {
    if (!progress->is_wanted)
        return INT64_MAX;
    int64_t wait_ns = progress->next_ns - htw__clock_monotonic_ns();
    return wait_ns > 0 ? wait_ns : 0;
}
