/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the jobs of `htw cron`: starts them when the calendar says so, and reads their file again.
 *
 * One thread does all of it: it lets the scheduler run callbacks, and waits for processes between.
 */
#include "jobs.h"

#include "../../src/base/random.h"

#include <inttypes.h>
#include <stdio.h>
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

static struct htw__cron_job *job_of(struct htw__key_node *node) {
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__cron_job, by_text.node);
}

static void set_nodes(struct htw__cron_job *jobs, uint64_t seed) {
    for (struct htw__cron_job *job = jobs; job != NULL; job = job->next)
        htw__key_node_set_apart(&job->by_text, htw__key_hash(job->text, job->text_size, seed),
                                job->text, job->text_size);
}

static struct htw__key_node *find(const struct htw__key_table *table,
                                  const struct htw__cron_job *like) {
    return htw__key_table_find(table, like->by_text.node.hash, like->text, like->text_size);
}

/* By their text. Lines may be the same: the first of them leads to the others. */
static void enter(struct htw__key_table *table, struct htw__cron_job *jobs) {
    for (struct htw__cron_job *job = jobs; job != NULL; job = job->next) {
        struct htw__cron_job *same = job_of(find(table, job));
        job->same = NULL;
        if (same == NULL) {
            htw__key_table_insert(table, &job->by_text.node);
        } else {
            job->same = same->same;
            same->same = job;
        }
    }
}

/* Takes a job with this text out of the table. NULL: there is none. */
static struct htw__cron_job *take(struct htw__key_table *table, const struct htw__cron_job *like) {
    struct htw__cron_job *first = job_of(find(table, like));
    if (first == NULL)
        return NULL;
    struct htw__cron_job *taken = first->same;
    if (taken == NULL) {
        htw__key_table_remove(table, &first->by_text.node);
        return first;
    }
    first->same = taken->same;
    return taken;
}

/* Puts the jobs of the table into the places of those of `fresh` that have the same text. */
static void put_back(struct htw__cron *cron, struct htw__key_table *table,
                     struct htw__cron_job **fresh) {
    for (struct htw__cron_job **at = fresh; *at != NULL; at = &(*at)->next) {
        struct htw__cron_job *same = take(table, *at), *unused = *at;
        if (same == NULL)
            continue;
        same->line = same->site.line = unused->line;
        same->next = unused->next;
        *at = same;
        unused->next = NULL;
        unschedule(cron, unused);
    }
}

/* Ends the jobs that are left in the table. */
static void end_others(struct htw__cron *cron, struct htw__key_table *table) {
    struct htw__cron_job *job;
    while ((job = job_of(htw__key_table_remove_any(table))) != NULL) {
        struct htw__cron_job *others = NULL;
        for (; job != NULL; job = job->same) {
            job->next = others;
            others = job;
        }
        unschedule(cron, others);
    }
}

bool htw__cron_load(struct htw__cron *cron) {
    struct htw__cron_job *fresh, *job;
    struct htw__key_table old;
    if (!htw__cron_table_read(cron->path, cron->stop_fd, &fresh))
        return false;
    /* All are scheduled first, since that can fail. Those that were there before are then put back. */
    for (job = fresh; job != NULL; job = job->next) {
        int error = schedule(cron, job);
        if (error != 0) {
            htw__cron_complain(cron->path, job->line, "%s", htw_strerror(error));
            unschedule(cron, fresh);
            return false;
        }
    }
    uint64_t seed = htw__random_seed(cron);
    htw__key_table_init(&old, &htw__default_allocator);
    set_nodes(cron->jobs, seed);
    set_nodes(fresh, seed);
    enter(&old, cron->jobs);
    put_back(cron, &old, &fresh);
    end_others(cron, &old);
    htw__key_table_fini(&old);
    cron->jobs = fresh;
    cron->after_ns = 0;
    return true;
}

void htw__cron_stop(struct htw__cron *cron) {
    unschedule(cron, cron->jobs);
    cron->jobs = NULL;
}

void htw__cron_fini(struct htw__cron *cron) {
    htw__cron_stop(cron);
    htw__cron_forget(cron);
}
