/* SPDX-License-Identifier: MIT */
/* monitored.h - `htw delay --monitor`: the monitor that shows the wheel, or the scheduler and the journal of --journal. */
#ifndef HTW_SRC_CMD_DELAY_MONITORED_H
#define HTW_SRC_CMD_DELAY_MONITORED_H

#include "options.h"

struct htw_journal;
struct htw_journal_stats;
struct htw_scheduler;
struct htw_wheel;

/* Opens the monitor if the options want one. 0; or a negative errno, and the error was printed. */
int htw__monitored_wheel(const struct htw__options *options, const struct htw_wheel *wheel);
int htw__monitored_journal(const struct htw__options *options, struct htw_scheduler *scheduler,
                           struct htw_journal *journal,
                           int (*get_stats)(struct htw_journal *, struct htw_journal_stats *));

/* The wheel does not change between these two. */
void htw__monitored_lend(void);
void htw__monitored_take_back(void);

/* Before what is shown is destroyed. */
void htw__monitored_end(void);

#endif /* HTW_SRC_CMD_DELAY_MONITORED_H */
