/* SPDX-License-Identifier: MIT */
/* durable_change.c - makes lines of the input durable, and ends the jobs of messages. */
#include "durable_state.h"

#include "../../base/clock.h"
#include "../signals.h"
#include "../terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* After a failure the ends of jobs are tried again after this. */
#define RETRY_NS HTW__NS_PER_S

uint64_t htw__durable_pending(const struct htw__durable *self) {
    uint64_t put = self->delay.is_busy ? self->change.job_count : 0;
    return self->jobs + put - self->released_count;
}

/* ---- lines */

size_t htw__durable_room(const struct htw__delay *delay) {
    const struct htw__durable *self = htw__durable_of(delay);
    uint64_t pending = htw__durable_pending(self), most = delay->options->max_pending;
    if (self->takes_all)
        return HTW__DURABLE_LINES;
    if (pending >= most)
        return 0;
    return most - pending < HTW__DURABLE_LINES ? (size_t)(most - pending) : HTW__DURABLE_LINES;
}

const char *htw__durable_put(struct htw__delay *delay, const struct htw__line *line,
                             struct htw__time due, struct htw__time now) {
    struct htw__durable *self = htw__durable_of(delay);
    int64_t due_ns = htw__time_to_ns(due);
    (void)now;
    if (due_ns == HTW_NEVER_NS)
        return "later than 2262, where the time of a journal ends";
    if (line->message_size > HTW_JOURNAL_JOB_MAX)
        return "larger than a journal can hold";
    struct htw_job *job = &self->put[self->put_count++];
    htw_job_init(job);
    job->deadline_ns = due_ns;
    job->payload = line->message;
    job->payload_size = line->message_size;
    return NULL;
}

/* ---- the change */

/* In the journal's thread. */
static void change_is_durable(void *arg, int result) {
    struct htw__durable *self = arg;
    self->change.result = result;
    if (result != 0)
        snprintf(self->change.sentence, sizeof(self->change.sentence), "%s", htw_journal_error());
    /* order: Publishes the result and its sentence. [relaxed: not played, as the result and the
       sentence are written before] */
    atomic_store_explicit(&self->change.is_finished, true, memory_order_release);
    htw__inbox_wake(&self->inbox);
}

static void change_failed(struct htw__durable *self, const char *sentence, bool puts) {
    if (puts || !self->change_has_failed)
        htw__terminal_error("%s", sentence);
    self->change_has_failed = true;
    self->delay.has_failed = true;
    self->retry_ns = htw__clock_monotonic_ns() + RETRY_NS;
    if (puts) {
        self->delay.has_stopped_reading = true;
        self->has_lost_lines = true;
    }
}

static void begin(struct htw__durable *self) {
    char text[HTW__MARK_SIZE];
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    bool has_lines = self->delay.taken != self->lines;
    change.jobs = self->put;
    change.job_count = self->put_count;
    self->put_count = 0;
    if (!self->change_has_failed || self->takes_all || has_lines ||
        htw__clock_monotonic_ns() >= self->retry_ns) {
        change.done = self->released;
        change.done_count = self->released_count;
    }
    if (has_lines) {
        self->lines = self->delay.taken;
        htw__mark_move(&self->mark, self->delay.place);
        change.mark_size = htw__mark_format(&self->mark, text);
        change.mark = text;
    }
    if (!has_lines && change.done_count == 0)
        return;
    self->change.job_count = change.job_count;
    self->change.done_count = change.done_count;
    self->change.has_lines = has_lines;
    /* order: The lock of the journal, in the next call, publishes it. */
    atomic_store_explicit(&self->change.is_finished, false, memory_order_relaxed);
    int error = htw_journal_apply_later(self->journal, &change, change_is_durable, self);
    self->delay.is_busy = error == 0;
    if (error == 0)
        return;
    change_failed(self, htw_journal_error(), has_lines);
    self->delay.is_broken = error == -EIO;
}

void htw__durable_change_ended(struct htw__durable *self) {
    struct htw__durable_change *change = &self->change;
    /* order: The result and its sentence are read next. [relaxed: not played, as the result and the
       sentence are written before] */
    if (!self->delay.is_busy || !atomic_load_explicit(&change->is_finished, memory_order_acquire))
        return;
    self->delay.is_busy = false;
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
    /* order: Publishes the reason. [relaxed: not played, as the reason is written before] */
    atomic_store_explicit(&self->journal_has_stopped, true, memory_order_release);
    htw__inbox_wake(&self->inbox);
}

/* What the loop makes of that. */
static void look_after_journal(struct htw__durable *self) {
    /* order: The reason is read next. [relaxed: not played, as the reason is written before] */
    if (self->delay.is_broken ||
        !atomic_load_explicit(&self->journal_has_stopped, memory_order_acquire))
        return;
    if (!self->change_has_failed) /* that has said it */
        htw__terminal_error("%s", self->stopped_because);
    self->delay.has_failed = true;
    self->delay.is_broken = true;
}

static void tell(struct htw__durable *self) {
    int error = htw__acknowledge_write(&self->acknowledge);
    if (error != 0)
        htw__delay_fail(&self->delay, "--acknowledge", error);
}

void htw__durable_commit(struct htw__delay *delay) {
    struct htw__durable *self = htw__durable_of(delay);
    if (!delay->is_busy && !delay->is_broken)
        begin(self);
    tell(self);
    look_after_journal(self);
}

/* ---- the end */

void htw__durable_settle(struct htw__durable *self) {
    bool has_failed = false;
    self->takes_all = true;
    while (!htw__signals_gives_up()) {
        htw__durable_change_ended(self);
        if (!self->delay.is_busy && has_failed && self->change_has_failed)
            break;
        has_failed = self->change_has_failed;
        if (!self->delay.is_busy && !self->delay.is_broken) {
            htw__delay_accept_lines(&self->delay, true);
            begin(self);
        }
        if (!self->delay.is_busy)
            break;
        struct pollfd wanted[] = { { .fd = htw__signals_fd(), .events = POLLIN },
                                   { .fd = self->inbox.fd, .events = POLLIN } };
        if (poll(wanted, 2, 1000) > 0 && wanted[0].revents != 0)
            htw__signals_clear();
        if (wanted[1].revents != 0) {
            struct htw__message *message = htw__inbox_take(&self->inbox), *next;
            for (; message != NULL; message = next) { /* the next run releases it */
                next = message->in.next;
                htw__message_destroy(message);
            }
        }
    }
    tell(self);
}
