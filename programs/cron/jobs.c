/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the jobs of `htw cron`: starts them when the calendar says so, and reads their file again.
 *
 * One thread does all of it: it lets the scheduler run callbacks, and waits for processes between.
 */
#include "cron.h"

#include <inttypes.h>
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
    spec.catch_up = cron->catch_up > 0 ? cron->catch_up : HTW_CALENDAR_NO_CATCH_UP;
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

/* The job of `before` with the text of this one, which is taken out; NULL: there is none. */
static struct htw__cron_job *take_same(struct htw__key_table *before,
                                       const struct htw__cron_job *job) {
    struct htw__key_node *node =
        htw__key_table_find(before, job->node.hash, job->text, job->node.size);
    if (node == NULL)
        return NULL;
    htw__key_table_remove(before, node);
    return HTW_CONTAINER_OF(node, struct htw__cron_job, node);
}

/* Old jobs take the places of the fresh ones with their text; those that find none end. */
static void replace(struct htw__cron *cron, struct htw__cron_job *fresh) {
    struct htw__key_table before;
    struct htw__key_node *node;
    htw__key_table_init(&before, &htw__default_allocator);
    for (struct htw__cron_job *job = cron->jobs; job != NULL; job = job->next)
        htw__key_table_insert(&before, &job->node);
    cron->jobs = fresh;
    for (struct htw__cron_job **at = &cron->jobs; *at != NULL; at = &(*at)->next) {
        struct htw__cron_job *unused = *at, *same = take_same(&before, unused);
        if (same == NULL)
            continue;
        same->line = same->site.line = unused->line;
        same->next = unused->next;
        *at = same;
        unused->next = NULL;
        unschedule(cron, unused);
    }
    while ((node = htw__key_table_remove_any(&before)) != NULL) {
        struct htw__cron_job *job = HTW_CONTAINER_OF(node, struct htw__cron_job, node);
        job->next = NULL;
        unschedule(cron, job);
    }
    htw__key_table_fini(&before);
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
    if (!htw__cron_table_read(cron->path, cron->may_wait, &fresh) || !schedule_all(cron, fresh))
        return false;
    replace(cron, fresh);
    cron->after_ns = 0;
    return true;
}

void htw__cron_stop(struct htw__cron *cron) {
    unschedule(cron, cron->jobs);
    cron->jobs = NULL;
}

void htw__cron_fini(struct htw__cron *cron) {
    htw__cron_stop(cron);
    free(cron->children);
}
