/* SPDX-License-Identifier: MIT */
/*
 * monitored.h - the option --monitor of the commands: the monitor that shows what a command has.
 *
 * A command has one source of a kind, and each is called as the command.
 */
#ifndef HTW_KIT_MONITORED_H
#define HTW_KIT_MONITORED_H

#include <stdbool.h>
#include <stdint.h>

struct htw_journal;
struct htw_journal_stats;
struct htw_queue_stats;
struct htw_scheduler;
struct htw_wheel;

/* The functions of a journal, with which this part of a command is not linked. */
struct htw__monitored_journal {
    struct htw_journal *journal;
    int (*get_stats)(struct htw_journal *, struct htw_journal_stats *);
    int (*list_queues)(struct htw_journal *, bool (*)(void *, const struct htw_queue_stats *),
                       void *);
};

/* What is shown; NULL: there is none. */
struct htw__monitored {
    const char *name;
    struct htw_scheduler *scheduler;
    const struct htw_wheel *wheel;
    int64_t tick_ns; /* of the wheel */
    struct htw__monitored_journal journal;
};

/* Opens the monitor, at a path or, if that is NULL, at one named for the process. False: it has said why not. */
bool htw__monitored_begin(const char *path, const struct htw__monitored *shown);

/* The wheel does not change between these two. They do nothing without a monitor. */
void htw__monitored_lend(void);
void htw__monitored_take_back(void);

/* Before what is shown is destroyed. */
void htw__monitored_end(void);

#endif /* HTW_KIT_MONITORED_H */
