/* SPDX-License-Identifier: MIT */
/* table.h - reads the file of `htw cron`: the jobs of its lines. */
#ifndef HTW_CRON_TABLE_H
#define HTW_CRON_TABLE_H

#include <htw/calendar.h>

/* A line of the file. */
struct htw__cron_job {
    struct htw__cron_job *next;
    unsigned line; /* from 1 */
    char *
        text; /* the variables, each with a NUL, an empty one, times and command: what has the same text is the same job */
    size_t text_size;
    const char *times, *command; /* in `text` */
    struct htw_calendar calendar;
    struct htw_zone *zone;

    /* For jobs.c: */
    struct htw__cron_job
        *same; /* in a load: the one with this text of the old jobs, or of the new ones */
    struct htw__cron *cron;
    htw_handle timer;
    struct htw_site site; /* of the timer */
    unsigned running;     /* processes that have not ended */
    bool is_removed;      /* it is no longer in the file: freed when nothing of it runs */
};

/* Writes a line to standard error. `line`: 0 means that it is about no line. */
void htw__cron_complain(const char *path, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* In place of `stop_fd`: only a regular file is read, which never waits. */
#define HTW__CRON_NO_WAIT (-2)

/*
 * Reads the jobs of a file, in its order; `-` is standard input. Complains about lines that are wrong, and
 * if there is no job. Returns whether all is right; otherwise `*ret_jobs` is NULL. A pipe may have nothing
 * to read for long: this ends, without a complaint, when `stop_fd` (-1: none) can be read.
 */
bool htw__cron_table_read(const char *path, int stop_fd, struct htw__cron_job **ret_jobs);

/* Warns of what means something else in a crontab: crontab.c. */
void htw__cron_warn(const char *path, const struct htw__cron_job *jobs);

/* Frees a job. */
void htw__cron_job_free(struct htw__cron_job *job);

/* Frees a job of which nothing runs, if it is no longer in the file. */
void htw__cron_job_free_if_unused(struct htw__cron_job *job);

/* Frees a list of jobs. */
void htw__cron_table_free(struct htw__cron_job *jobs);

#endif /* HTW_CRON_TABLE_H */
