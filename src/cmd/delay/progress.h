/* SPDX-License-Identifier: MIT */
/* progress.h - the line on the terminal that shows how far the run is. */
#ifndef HTW_SRC_CMD_DELAY_PROGRESS_H
#define HTW_SRC_CMD_DELAY_PROGRESS_H

#include "../times.h"

#include <stdbool.h>
#include <stddef.h>

struct htw__progress {
    bool is_wanted;
    int64_t next_ns; /* when to show it again, by the monotonic clock */
};

/* What the line shows; `next_in_ns` is negative when nothing is due at any time. */
struct htw__progress_numbers {
    uint64_t read;
    uint64_t released;
    size_t pending;
    int64_t next_in_ns;
};

void htw__progress_init(struct htw__progress *progress, bool is_wanted);

/* Shows the line when it is time again. */
void htw__progress_update(struct htw__progress *progress,
                          const struct htw__progress_numbers *numbers);

/* Erases the line; the next update shows it again. */
void htw__progress_erase(struct htw__progress *progress);

/* How long until it is time again: INT64_MAX when it is not wanted. */
int64_t htw__progress_wait_ns(const struct htw__progress *progress);

#endif /* HTW_SRC_CMD_DELAY_PROGRESS_H */
