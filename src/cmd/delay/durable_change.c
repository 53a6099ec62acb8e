/* SPDX-License-Identifier: MIT */
/* durable_change.c - makes lines of the input durable, and ends the jobs of messages. */
#include "durable_state.h"

#include "line.h"
#include "../../base/clock.h"
#include "../signals.h"
#include "../terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* After a failure the ends of jobs are tried again after this. */
#define RETRY_NS HTW__NS_PER_S

bool htw__durable_is_reading(const struct htw__durable *self) {
    return !self->has_stopped_reading && !htw__input_is_over(&self->input);
}

uint64_t htw__durable_pending(const struct htw__durable *self) {
    uint64_t put = self->change.is_under_way ? self->change.job_count : 0;
    return self->jobs + put - self->released_count;
}

bool htw__durable_wants_input(const struct htw__durable *self) {
    return htw__durable_is_reading(self) && htw__durable_pending(self) < self->options->max_pending;
}

bool htw__durable_has_line(struct htw__durable *self) {
    const char *bytes;
    size_t size;
    return htw__input_peek(&self->input, &bytes, &size);
}

void htw__durable_fail(struct htw__durable *self) {
    htw__terminal_error("%s", htw_journal_error());
    self->has_failed = true;
}

/* ---- lines */

/* Makes a job of a line, which refers to the buffer of the input. NULL, or why it is bad. */
static const char *make_job(const struct htw__line *line, struct htw__time now,
                            struct htw_job *job) {
    struct htw__time due = line->is_instant
                               ? htw__time_later(line->when, now) /* in the order of the input */
                               : htw__time_add(line->when, now);
    int64_t due_ns = htw__time_to_ns(due);
    if (due_ns == HTW_NEVER_NS)
        return "later than 2262, where the time of a journal ends";
    if (line->message_size > HTW_JOURNAL_JOB_MAX)
        return "larger than a journal can hold";
    htw_job_init(job);
    job->deadline_ns = due_ns;
    job->payload = line->message;
    job->payload_size = line->message_size;
    return NULL;
}

/* Returns whether the line became a job. */
static bool accept_line(struct htw__durable *self, const char *bytes, size_t size,
                        struct htw__time now, struct htw_job *job) {
    struct htw__line line;
    const char *why = htw__line_parse(bytes, size, &line);
    if (htw__input_is_too_long(&self->input, size))
        why = "line longer than --max-line";
    if (why == NULL)
        why = make_job(&line, now, job);
    self->report.read++;
    if (why != NULL) {
        htw__line_report(&line, &self->input, why);
        self->report.bad++;
        self->has_failed = true;
        self->has_stopped_reading = self->options->strict;
    }
    if (!self->has_stopped_reading) { /* otherwise the next run comes to this line again */
        self->lines++;
        htw__input_consume(&self->input, size);
        if (!self->input.is_skipping) {
            htw__mark_move(&self->mark, htw__input_place(&self->input));
            self->mark_has_moved = true;
        }
    }
    return why == NULL;
}

/* Fills `put`; returns how many. What a job refers to is valid until more is read. */
static size_t accept_lines(struct htw__durable *self, bool takes_all) {
    const char *bytes;
    size_t size, count = 0;
    uint64_t room = UINT64_MAX;
    if (!takes_all && htw__durable_pending(self) < self->options->max_pending)
        room = self->options->max_pending - htw__durable_pending(self);
    else if (!takes_all)
        room = 0;
    struct htw__time now = htw__timeline_now(&self->timeline);
    while (count < HTW__DURABLE_LINES && count < room && htw__durable_is_reading(self) &&
           htw__input_peek(&self->input, &bytes, &size) &&
           (!takes_all || htw__input_is_whole(&self->input, size)))
        count += accept_line(self, bytes, size, now, &self->put[count]);
    return count;
}

/* ---- the change */

/* In the journal's thread. */
static void change_is_durable(void *arg, int result) {
    struct htw__durable *self = arg;
    self->change.result = result;
    if (result != 0)
        snprintf(self->change.sentence, sizeof(self->change.sentence), "%s", htw_journal_error());
    atomic_store(&self->change.is_finished, true);
    htw__inbox_wake(&self->inbox);
}

static void change_failed(struct htw__durable *self, const char *sentence, bool puts) {
    if (puts || !self->change_has_failed)
        htw__terminal_error("%s", sentence);
    self->change_has_failed = true;
    self->has_failed = true;
    self->retry_ns = htw__clock_monotonic_ns() + RETRY_NS;
    if (puts) {
        self->has_stopped_reading = true;
        self->has_lost_lines = true;
    }
}

void htw__durable_change(struct htw__durable *self, bool takes_all) {
    if (self->change.is_under_way || self->is_broken)
        return;
    char text[HTW__MARK_SIZE];
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    uint64_t lines = self->lines;
    change.jobs = self->put;
    change.job_count = accept_lines(self, takes_all);
    bool has_lines = self->lines != lines;
    if (!self->change_has_failed || takes_all || has_lines ||
        htw__clock_monotonic_ns() >= self->retry_ns) {
        change.done = self->released;
        change.done_count = self->released_count;
    }
    if (self->mark_has_moved) {
        change.mark_size = htw__mark_format(&self->mark, text);
        change.mark = text;
        self->mark_has_moved = false;
    }
    if (!has_lines && change.done_count == 0)
        return;
    self->change.job_count = change.job_count;
    self->change.done_count = change.done_count;
    self->change.has_lines = has_lines;
    atomic_store(&self->change.is_finished, false);
    int error = htw_journal_apply_later(self->journal, &change, change_is_durable, self);
    self->change.is_under_way = error == 0;
    if (error == 0)
        return;
    change_failed(self, htw_journal_error(), has_lines);
    self->is_broken = error == -EIO;
}

void htw__durable_change_ended(struct htw__durable *self) {
    struct htw__durable_change *change = &self->change;
    if (!change->is_under_way || !atomic_load(&change->is_finished))
        return;
    change->is_under_way = false;
    if (change->result != 0) {
        change_failed(self, change->sentence, change->has_lines);
        return;
    }
    self->change_has_failed = false;
    self->jobs += change->job_count;
    self->jobs -= change->done_count;
    self->released_count -= change->done_count;
    if (self->released_count > 0)
        memmove(self->released, self->released + change->done_count,
                self->released_count * sizeof(*self->released));
    if (!self->has_lost_lines)
        self->acknowledge.count = self->lines;
}

/* In the journal's thread. */
void htw__durable_stopped(void *context, const char *why) {
    struct htw__durable *self = context;
    snprintf(self->stopped_because, sizeof(self->stopped_because), "%s", why);
    atomic_store(&self->journal_has_stopped, true);
    htw__inbox_wake(&self->inbox);
}

void htw__durable_look_after_journal(struct htw__durable *self) {
    if (self->is_broken || !atomic_load(&self->journal_has_stopped))
        return;
    if (!self->change_has_failed) /* that has said it */
        htw__terminal_error("%s", self->stopped_because);
    self->has_failed = true;
    self->is_broken = true;
}
