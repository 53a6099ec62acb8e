/* SPDX-License-Identifier: MIT */
/* cron.h - the file of `htw cron` with the jobs of its lines; what runs them when the calendar says so, and knows what runs. */
#ifndef HTW_CRON_CRON_H
#define HTW_CRON_CRON_H

#include "../../src/base/key_table.h"

#include <htw/calendar.h>
#include <htw/timer.h>

#include <sys/types.h>

/* A line of the file. */
struct htw__cron_job {
    struct htw__cron_job *next;
    struct htw__key_node node;   /* by its text */
    unsigned line;               /* from 1 */
    const char *times, *command; /* in `text` */
    struct htw_calendar calendar;
    struct htw_zone *zone;

    /* For jobs.c: */
    struct htw__cron *cron;
    htw_handle timer;
    struct htw_site site; /* of the timer */
    unsigned running;     /* processes that have not ended */
    bool is_removed;      /* it is no longer in the file: freed when nothing of it runs */

    /* The variables, each with a NUL, an empty one, times and command: what has the same text is the same job. */
    char text[];
};

/* Writes a line to standard error. `line`: 0 means that it is about no line. */
void htw__cron_complain(const char *path, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads the jobs of a file, in its order; `-` is standard input. Complains about lines that are wrong, and
 * if there is no job. Returns whether all is right; otherwise `*ret_jobs` is NULL. `may_wait`: a pipe may have nothing
 * to read for long; otherwise only a regular file is read.
 */
bool htw__cron_table_read(const char *path, bool may_wait, struct htw__cron_job **ret_jobs);

/* Frees a job of which nothing runs, if it is no longer in the file. */
void htw__cron_job_free_if_unused(struct htw__cron_job *job);

/* Frees a list of jobs. */
void htw__cron_table_free(struct htw__cron_job *jobs);

/* ---- jobs.c */

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
    uint32_t catch_up; /* how many missed instants run late */
    int64_t after_ns;  /* as in struct htw_calendar_spec, for the first load */
    bool may_wait;     /* for the next load: as in htw__cron_table_read() */
    int64_t ahead_ns;  /* of the clock of the machine: htw__cron_note_clock() */
    struct htw__cron_job *jobs;
    struct htw__cron_child *children; /* `child_count` of them, in no order */
    size_t child_count;
};

/* Reads the file, for the first time or again: jobs that are in it as before go on, new ones are
   scheduled, and others end. False: complained; then nothing has changed. */
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

/* Frees all. No process may run. */
void htw__cron_fini(struct htw__cron *cron);

/* ---- processes.c */

/* Runs the command of a job. Complains if that fails. */
void htw__cron_start(struct htw__cron *cron, struct htw__cron_job *job);

/* Notes the processes that have ended. To be called after SIGCHLD. */
void htw__cron_reap(struct htw__cron *cron);

/* Sends a signal to what runs: each job is a process group. */
void htw__cron_kill(const struct htw__cron *cron, int signal_number);

#endif /* HTW_CRON_CRON_H */
