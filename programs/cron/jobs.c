/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the jobs of `htw cron`: starts them when the calendar says so, and reads their file again.
 *
 * One thread does all of it: it lets the scheduler run callbacks, and waits for processes between.
 */
#include "cron.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_BACK_NS (3 * HTW_HOUR)

static void run(void *arg, const struct htw_expiration *expiration) {
    struct htw__cron_job *job = arg;
    struct htw__cron *cron = job->cron;
    if (expiration->missed > 0)
        htw__cron_complain(cron->path, job->line, "%" PRIu64 " run%s missed: %s",
                           expiration->missed, expiration->missed == 1 ? " was" : "s were",
                           job->command);
    if (job->running > 0 && !cron->overlaps)
        htw__cron_complain(cron->path, job->line, "not started: the run before has not ended: %s",
                           job->command);
    else
        htw__cron_start(cron, job);
}

static int schedule(struct htw__cron *cron, struct htw__cron_job *job) {
    struct htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
    job->cron = cron;
    job->site = (struct htw_site) { run, job->command, cron->path, NULL, job->line };
    spec.calendar = job->calendar;
    spec.zone = job->zone;
    spec.site = &job->site;
    spec.arg = job;
    spec.catch_up = cron->catch_up;
    spec.after_ns = cron->after_ns;
    return htw_schedule_calendar(cron->scheduler, &spec, &job->timer, NULL);
}

void htw__cron_note_clock(struct htw__cron *cron, int64_t ahead_ns) {
    if (ahead_ns >= cron->ahead_ns) { /* set forward, or as it was */
        cron->ahead_ns = ahead_ns;
        return;
    }
    if (cron->ahead_ns - ahead_ns <= SET_BACK_NS)
        return;
    cron->ahead_ns = ahead_ns;
    htw__cron_complain(cron->path, 0, "the clock was set back: its new time counts");
    for (struct htw__cron_job *job = cron->jobs; job != NULL; job = job->next) {
        htw_handle old = job->timer;
        int error = schedule(cron, job);
        if (error == 0)
            htw_cancel(cron->scheduler, old);
        else
            htw__cron_complain(cron->path, job->line, "%s", htw_strerror(error));
    }
}

static void unschedule(struct htw__cron *cron, struct htw__cron_job *jobs) {
    while (jobs != NULL) {
        struct htw__cron_job *next = jobs->next;
        htw_cancel(cron->scheduler, jobs->timer);
        jobs->is_removed = true;
        htw__cron_job_free_if_unused(jobs);
        jobs = next;
    }
}

/* ---- the file again */

static int compare_text(const struct htw__cron_job *a, const struct htw__cron_job *b) {
    if (a->text_size != b->text_size)
        return a->text_size < b->text_size ? -1 : 1;
    return memcmp(a->text, b->text, a->text_size);
}

static int compare(const void *left, const void *right) {
    const struct htw__cron_job *a = *(struct htw__cron_job *const *)left;
    const struct htw__cron_job *b = *(struct htw__cron_job *const *)right;
    int order = compare_text(a, b);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* By their text, with a NULL at the end. NULL: no memory. */
static struct htw__cron_job **sort(struct htw__cron_job *jobs) {
    size_t count = 0, i = 0;
    for (struct htw__cron_job *job = jobs; job != NULL; job = job->next)
        count++;
    struct htw__cron_job **sorted = calloc(count + 1, sizeof(struct htw__cron_job *));
    if (sorted == NULL)
        return NULL;
    for (struct htw__cron_job *job = jobs; job != NULL; job = job->next) {
        job->same = NULL;
        sorted[i++] = job;
    }
    qsort(sorted, count, sizeof(struct htw__cron_job *), compare);
    return sorted;
}

/* Lines may be the same: each has one job of the others. */
static void match(struct htw__cron_job **old, struct htw__cron_job **fresh) {
    while (*old != NULL && *fresh != NULL) {
        int order = compare_text(*old, *fresh);
        if (order == 0) {
            (*old)->same = *fresh;
            (*fresh)->same = *old;
        }
        old += order <= 0;
        fresh += order >= 0;
    }
}

/* Ends the old jobs that are not among the fresh ones; the others take the places of those. */
static void replace(struct htw__cron *cron, struct htw__cron_job *fresh) {
    for (struct htw__cron_job *job = cron->jobs, *next; job != NULL; job = next) {
        next = job->next;
        job->next = NULL;
        if (job->same == NULL)
            unschedule(cron, job);
    }
    cron->jobs = fresh;
    for (struct htw__cron_job **at = &cron->jobs; *at != NULL; at = &(*at)->next) {
        struct htw__cron_job *same = (*at)->same, *unused = *at;
        if (same == NULL)
            continue;
        same->line = same->site.line = unused->line;
        same->next = unused->next;
        *at = same;
        unused->next = NULL;
        unschedule(cron, unused);
    }
}

/* Schedules all of them, or none and complains. */
static bool schedule_all(struct htw__cron *cron, struct htw__cron_job *fresh) {
    for (struct htw__cron_job *job = fresh; job != NULL; job = job->next) {
        int error = schedule(cron, job);
        if (error == 0)
            continue;
        htw__cron_complain(cron->path, job->line, "%s", htw_strerror(error));
        unschedule(cron, fresh);
        return false;
    }
    return true;
}

bool htw__cron_load(struct htw__cron *cron) {
    struct htw__cron_job *fresh;
    /* All are scheduled first, since that can fail. */
    if (!htw__cron_table_read(cron->path, cron->stop_fd, &fresh) || !schedule_all(cron, fresh))
        return false;
    struct htw__cron_job **old_sorted = sort(cron->jobs), **sorted = sort(fresh);
    bool has_memory = old_sorted != NULL && sorted != NULL;
    if (has_memory) {
        match(old_sorted, sorted);
        replace(cron, fresh);
        cron->after_ns = 0;
    } else {
        htw__cron_complain(cron->path, 0, "%s", strerror(ENOMEM));
        unschedule(cron, fresh);
    }
    free(old_sorted);
    free(sorted);
    return has_memory;
}

void htw__cron_stop(struct htw__cron *cron) {
    unschedule(cron, cron->jobs);
    cron->jobs = NULL;
}

void htw__cron_fini(struct htw__cron *cron) {
    htw__cron_stop(cron);
    htw__cron_forget(cron);
}
