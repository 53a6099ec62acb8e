/* SPDX-License-Identifier: MIT */
/* jobs.h - runs the jobs of a file when the calendar says so, and knows what runs. */
#ifndef HTW_CRON_JOBS_H
#define HTW_CRON_JOBS_H

#include "table.h"

#include <sys/types.h>

/* A process that a job has started. */
struct htw__cron_child {
    struct htw__cron_job *job;
    pid_t pid;
};

struct htw__cron {
    struct htw_scheduler
        *scheduler; /* embedded, or manual: what runs its callbacks is one thread */
    const char *path;
    bool overlaps; /* a job may run several times at once */
    bool is_verbose;
    uint32_t catch_up; /* as in struct htw_calendar_spec */
    int64_t after_ns;  /* as in struct htw_calendar_spec, for the first load */
    int stop_fd;       /* for the next load: as in htw__cron_table_read() */
    int64_t ahead_ns;  /* of the clock of the machine: htw__cron_note_clock() */
    struct htw__cron_job *jobs;
    struct htw__cron_child *children; /* `child_count` of them, in no order */
    size_t child_count, child_capacity;
};

/* Reads the file, for the first time or again: jobs that are in it as before go on, new ones are
   scheduled, and others end. False: complained, or stopped; then nothing has changed. */
bool htw__cron_load(struct htw__cron *cron);

/*
 * To be called with how far the wall clock is ahead of one that is never set, when that may have
 * changed. If the wall clock was set back by more than 3 hours, all at once or bit by bit, its new time
 * counts: what it comes to once more runs once more. If it was set back by less, nothing does. That
 * is the rule of Vixie cron.
 */
void htw__cron_note_clock(struct htw__cron *cron, int64_t ahead_ns);

/* Starts nothing any more. */
void htw__cron_stop(struct htw__cron *cron);

/* Frees all, also what is known of processes that still run. */
void htw__cron_fini(struct htw__cron *cron);

/* ---- processes.c */

/* Runs the command of a job. Complains if that fails. */
void htw__cron_start(struct htw__cron *cron, struct htw__cron_job *job);

/* Notes the processes that have ended. To be called after SIGCHLD. */
void htw__cron_reap(struct htw__cron *cron);

/* Sends a signal to what runs: each job is a process group. */
void htw__cron_kill(const struct htw__cron *cron, int signal_number);

/* Forgets all processes. */
void htw__cron_forget(struct htw__cron *cron);

#endif /* HTW_CRON_JOBS_H */
