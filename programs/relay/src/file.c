/* SPDX-License-Identifier: MIT */
/* file.c - publishes records: to a bucket, to their topics, or to the dead letters. */
#include "relay.h"

#include "index.h"
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* A record whose topic is not known yet waits for as long as it is late already, within these: so one that waits
 * for long is not written often. */
#define POSTPONE_LEAST_MS 250
#define POSTPONE_MOST_MS 10000

/* A longer key is left out of a dead letter that must become small. */
#define LETTER_KEY_MAX 1024

#define TOO_LARGE "the record is too large for the topics of the relay"

/* A record on its way from the partition that it came from. */
struct passage {
    struct htw__relay *relay;
    struct htw__stripe *stripe;
    struct htw__source from;
    const struct htw__relay_record *record;
    struct htw__relay_request request;
};

static struct htw__relay_work *work_of(const struct passage *self) {
    return htw__relay_work_of(self->relay, self->from);
}

/* The record with the headers that were written last. */
static struct htw__outgoing make_outgoing(const struct passage *self) {
    struct htw__outgoing outgoing = { .record = *self->record,
                                      .partition = -1,
                                      .from = self->from,
                                      .from_offset = self->record->offset };
    outgoing.record.headers = self->relay->headers.items;
    outgoing.record.header_count = self->relay->headers.count;
    return outgoing;
}

static int publish(const struct passage *self, const struct htw__outgoing *outgoing) {
    return self->relay->transport->publish(self->relay->transport, outgoing);
}

/* ---- to a bucket */

/* Its headers are written already. */
static int wait_until(const struct passage *self, int64_t deadline_ms) {
    const struct htw__levels *levels = &self->stripe->levels;
    struct htw__relay_place place = htw__levels_place(levels, self->stripe->clock_ms, deadline_ms);
    struct htw__relay_bucket *bucket =
        htw__stripe_bucket(self->stripe, place.level, htw__levels_slot(levels, place.number));
    struct htw__outgoing outgoing = make_outgoing(self);
    outgoing.bucket = htw__bucket_source(bucket);
    if (!htw__bucket_is_occupied(bucket)) {
        bucket->number = place.number;
        self->relay->must_look = true;
    }
    bucket->in_flight++;
    int error = publish(self, &outgoing);
    if (error != 0) {
        bucket->in_flight--;
        return error;
    }
    self->relay->has_filed = true;
    if (htw__channel_of(self->from) == HTW__CHANNEL_DELIVER)
        self->stripe->input_is_dirty =
            true; /* its clock, by which it was filed, is committed soon */
    work_of(self)->filed[place.level]++;
    return 0;
}

/* ---- to the dead letters */

/* What is tried after a dead letter was refused. */
static enum htw__letter after(enum htw__letter letter, bool is_too_large) {
    return is_too_large && letter == HTW__LETTER_WHOLE ? HTW__LETTER_SHORT : HTW__LETTER_WAITS;
}

/* Its topic did not take it. So that nothing waits for that, and nothing is dropped, it goes back into a
 * bucket, and is tried again later. */
static int put_back(const struct passage *self, const char *reason) {
    int64_t retry_ms = self->relay->now_ms + self->relay->options.retry_ms;
    htw__headers_to_retry(&self->relay->headers, self->record, reason, retry_ms);
    work_of(self)->dead_refused++;
    int error = wait_until(self, retry_ms);
    self->relay->has_filed = false; /* as itself */
    return error;
}

static int send_letter(const struct passage *self, const char *reason, bool is_short) {
    char source[64];
    if (self->from.level == HTW__RELAY_INPUT)
        snprintf(source, sizeof(source), "input %" PRIu32 " %" PRId64, self->from.stripe,
                 self->record->offset);
    else
        snprintf(source, sizeof(source), "l%" PRIu32 " %" PRIu32 " %" PRId64, self->from.level,
                 self->from.stripe * self->relay->options.levels.size + self->from.slot,
                 self->record->offset);
    htw__headers_of_letter(&self->relay->headers, self->record, reason, is_short ? source : NULL);
    struct htw__outgoing outgoing = make_outgoing(self);
    outgoing.topic = self->relay->options.dead_letters;
    outgoing.is_letter = true;
    if (is_short)
        outgoing.record.value = (struct htw__bytes) { NULL, 0 };
    if (is_short && self->record->key.size > LETTER_KEY_MAX)
        outgoing.record.key = (struct htw__bytes) { NULL, 0 };
    return publish(self, &outgoing);
}

/* `reason` is NULL if the record has one already. */
static int bury(const struct passage *self, const char *reason, enum htw__letter letter) {
    for (int error = 0; letter != HTW__LETTER_WAITS; letter = after(letter, error == -EMSGSIZE)) {
        error = send_letter(self, reason, letter == HTW__LETTER_SHORT);
        if (error == -EMSGSIZE || error == -ENOENT || error == -EACCES || error == -EINPROGRESS)
            continue;
        work_of(self)->dead += error == 0;
        work_of(self)->dead_short += error == 0 && letter == HTW__LETTER_SHORT;
        return error;
    }
    return put_back(self, reason);
}

/* ---- to its topic */

/* A record of the input is filed: enters its id. */
static int enter(const struct passage *self) {
    int64_t last_ms = self->request.wanted_ms;
    int error = 0;
    if (self->request.recurs)
        error = htw__recurrence_last(&self->request.recurrence, self->request.wanted_ms, &last_ms);
    return error != 0 ? error
                      : htw__index_enter(self->relay, self->stripe, self->request.hash,
                                         self->record->offset, last_ms);
}

/* Back into a bucket, until `deadline_ms`. */
static int file_until(const struct passage *self, int64_t deadline_ms) {
    struct htw__relay_request later = self->request;
    later.deadline_ms = deadline_ms;
    if (self->from.level == HTW__RELAY_INPUT && self->request.id.bytes != NULL) {
        int error = enter(self);
        if (error != 0)
            return error;
        later.offset = self->record->offset;
    }
    if (self->request.is_letter)
        htw__headers_to_retry(&self->relay->headers, self->record, NULL, deadline_ms);
    else
        htw__headers_to_wait(&self->relay->headers, self->record, &later);
    int error = wait_until(self, deadline_ms);
    return error == -EMSGSIZE
               ? bury(self, self->request.is_letter ? NULL : TOO_LARGE, HTW__LETTER_WHOLE)
               : error;
}

static int postpone(const struct passage *self) {
    int64_t wait_ms = self->relay->now_ms - self->request.wanted_ms;
    if (wait_ms < POSTPONE_LEAST_MS)
        wait_ms = POSTPONE_LEAST_MS;
    if (wait_ms > POSTPONE_MOST_MS)
        wait_ms = POSTPONE_MOST_MS;
    work_of(self)->postponed++;
    return file_until(self, self->relay->now_ms + wait_ms);
}

/* What deliver() returns where the record is not gone. */
#define STAYS 1

static int deliver(const struct passage *self) {
    char topic[HTW__TOPIC_NAME_SIZE];
    const char *why =
        htw__destinations_choose(&self->relay->options.destinations, self->request.to, topic);
    if (why != NULL)
        return bury(self, why, HTW__LETTER_WHOLE);
    htw__headers_to_deliver(&self->relay->headers, self->record, self->request.wanted_ms);
    struct htw__outgoing outgoing = make_outgoing(self);
    outgoing.topic = topic;
    if (self->relay->options.keep_partition)
        outgoing.partition = (int32_t)self->from.stripe;
    int error = publish(self, &outgoing);
    if (error == -EINPROGRESS) {
        error = postpone(self);
        return error != 0 ? error : STAYS;
    }
    why = error == -ENOENT     ? "the topic or its partition does not exist"
          : error == -EACCES   ? "the relay may not write to the topic"
          : error == -EMSGSIZE ? "the record is too large for the topic"
                               : NULL;
    if (why != NULL)
        return bury(self, why, HTW__LETTER_WHOLE);
    if (error != 0)
        return error;
    int64_t late_ms = self->relay->now_ms - self->request.wanted_ms;
    htw__histogram_record(&work_of(self)->late_us, late_ms > 0 ? (uint64_t)late_ms * 1000 : 0);
    work_of(self)->delivered++;
    return 0;
}

/* ---- records that recur */

#define NO_ZONE "htw-zone is not a time zone of the relay's machine"

/* Whatever is wrong with its file: the machine may have it, and other records do not wait for that. */
static bool is_no_zone(int error) {
    return error != 0 && error != -ENOMEM && error != -EMFILE && error != -ENFILE;
}

/* A record of the input becomes that of its first occurrence. Returns 0, perhaps with why it is a bad one; or an error. */
static int begin_to_recur(const struct htw__relay *self, struct htw__relay_request *request,
                          const char **why) {
    int64_t next_ms;
    if (self->options.owner == NULL) { /* one that were doubled once would be for ever */
        *why = "htw-every and htw-cron do not go with --at-least-once";
        return 0;
    }
    int error = htw__recurrence_next(&request->recurrence, request->wanted_ms, &next_ms);
    if (is_no_zone(error))
        *why = NO_ZONE;
    if (error != 0)
        return is_no_zone(error) ? 0 : error;
    if (!request->has_time)
        request->deadline_ms = request->wanted_ms = next_ms;
    if (request->wanted_ms >= request->recurrence.until_ms)
        *why = "it never comes, or not before htw-until";
    return 0;
}

/* What is due of it: delivers one occurrence, or with a reason `why` it is a dead letter. In the same transaction, the
 * one after it is filed. So the relay that takes the stripe over finds the one or the other. */
static int occur(const struct passage *self, const char *why, enum htw__letter letter) {
    const struct htw__recurrence *recurrence = &self->request.recurrence;
    struct passage present = *self;
    int64_t *wanted_ms = &present.request.wanted_ms;
    int64_t next_ms = HTW__RECURRENCE_NONE;
    int error = htw__recurrence_due(recurrence, self->request.wanted_ms, self->relay->now_ms,
                                    &present.request.counted_ms, wanted_ms);
    if (error == 0 && *wanted_ms <= self->relay->now_ms)
        error = htw__recurrence_next(recurrence, *wanted_ms, &next_ms);
    if (is_no_zone(error))
        return bury(self, NO_ZONE, letter);
    if (error != 0 || *wanted_ms == HTW__RECURRENCE_NONE)
        return error;
    if (*wanted_ms > self->relay->now_ms)
        return file_until(&present, *wanted_ms);
    error = why != NULL ? bury(self, why, letter) : deliver(&present);
    if (error != 0 || next_ms == HTW__RECURRENCE_NONE)
        return error;
    *wanted_ms = next_ms;
    self->relay->has_occurred = true;
    return file_until(&present, next_ms);
}

/* Whether a record that is due waits in level 0: while a stripe that was taken over has not read its input, a cancel may be
 * there. One beyond the highest window would move on with the clock, turn after turn, though it is due: the clock was stopped
 * for longer than that window then. Without transactions each write more may be doubled. */
static bool has_to_wait(const struct passage *self) {
    return self->from.level != 0 && self->request.id.bytes != NULL &&
           self->stripe->catch_up != HTW__CATCH_UP_DONE && self->relay->options.owner != NULL &&
           htw__levels_reach(&self->stripe->levels, self->stripe->clock_ms,
                             self->request.deadline_ms);
}

static int file(const struct passage *self) {
    if (htw__channel_of(self->from) == HTW__CHANNEL_FILE &&
        self->request.deadline_ms < self->relay->soonest_ms)
        self->relay->soonest_ms = self->request.deadline_ms;
    if (self->request.deadline_ms > self->relay->now_ms || has_to_wait(self))
        return file_until(self, self->request.deadline_ms);
    if (self->request.is_letter)
        return bury(self, NULL, HTW__LETTER_WHOLE);
    int result = self->request.recurs ? occur(self, NULL, HTW__LETTER_WHOLE) : deliver(self);
    return result == STAYS ? 0 : result;
}

/* ---- records that could not be published */

static struct htw__poison *find_poison(const struct htw__relay *self, struct htw__source from,
                                       int64_t offset) {
    for (size_t i = 0; i < self->poison_count; i++) {
        struct htw__poison *poison = &self->poisons[i];
        if (poison->offset == offset && poison->from.stripe == from.stripe &&
            poison->from.level == from.level &&
            (from.level == HTW__RELAY_INPUT || poison->from.slot == from.slot))
            return poison;
    }
    return NULL;
}

/* Finds it, or adds one that is a suspect. */
static struct htw__poison *get_poison(struct htw__relay *self, const struct htw__refusal *refusal) {
    struct htw__poison *known = find_poison(self, refusal->from, refusal->offset);
    if (known != NULL)
        return known;
    self->poisons = htw__memory_reserve(self->poisons, self->poison_count + 1, &self->poison_room,
                                        sizeof(*self->poisons));
    known = &self->poisons[self->poison_count++];
    *known = (struct htw__poison) { .from = refusal->from,
                                    .offset = refusal->offset,
                                    .is_suspect = true };
    return known;
}

bool htw__relay_refused(struct htw__relay *self, const struct htw__refusal *refusal) {
    struct htw__poison *poison = get_poison(self, refusal);
    if (!poison->is_suspect && !refusal->is_letter)
        return false;
    if (refusal->is_letter)
        poison->letter = after(poison->letter, refusal->is_too_large);
    if (!poison->is_suspect)
        return true;
    poison->is_suspect = false;
    poison->reason = refusal->is_letter ? NULL : refusal->reason;
    poison->is_bucket = refusal->is_bucket;
    poison->is_bad = refusal->is_bad;
    return true;
}

bool htw__relay_failed(struct htw__relay *self, const struct htw__refusal *refusal) {
    struct htw__poison *poison = get_poison(self, refusal);
    poison->failures++;
    self->failure = (struct htw__failure) { refusal->from, refusal->offset, poison->failures };
    if (poison->failures < HTW__FAILURES_MAX)
        return true;
    poison->failures = 0;
    return htw__relay_refused(self, refusal);
}

void htw__relay_committed(struct htw__relay *self, enum htw__channel channel) {
    size_t count = 0;
    for (size_t i = 0; i < self->poison_count; i++) {
        const struct htw__poison *poison = &self->poisons[i];
        if (!poison->is_published || htw__channel_of(poison->from) != channel)
            self->poisons[count++] = *poison;
    }
    self->poison_count = count;
    htw__relay_work_move(&self->stats.done, &self->open[channel]);
    if (channel == HTW__CHANNEL_FILE)
        self->files_first = self->is_filing = false;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] != NULL)
            htw__index_committed(self->stripes[i], channel);
}

/* Why a record is bad though its headers can be read; NULL: it is not. */
static const char *judge(const struct passage *self) {
    const struct htw__relay_request *request = &self->request;
    char topic[HTW__TOPIC_NAME_SIZE];
    if (self->from.level != HTW__RELAY_INPUT)
        return request->is_cancel || request->ask >= 0
                   ? "htw-cancel or htw-ask in a bucket, where no relay puts it"
                   : NULL;
    if (self->record->header_count > HTW__RELAY_HEADERS_MAX)
        return "more than 99 990 headers";
    if (request->own != NULL)
        return request->own;
    /* A bad topic is told when the record arrives, not when its time has come. */
    return htw__destinations_choose(&self->relay->options.destinations, request->to, topic);
}

/* One whose headers are in order, or `why` says what is wrong; with an id, it is alive. `poison` is NULL: it is none. */
static int pass_living(const struct passage *self, const struct htw__poison *poison,
                       const char *why) {
    enum htw__letter letter = poison != NULL ? poison->letter : HTW__LETTER_WHOLE;
    bool is_bad = why != NULL;
    if (poison != NULL && poison->reason != NULL)
        why = poison->reason;
    /* An occurrence that was refused; if it was the record of the next one, in a bucket, none follows. */
    if (why != NULL && !is_bad && self->request.recurs && !poison->is_bucket)
        return occur(self, why, letter);
    if (why != NULL)
        return bury(self, why, letter);
    if (poison != NULL && self->request.is_letter)
        return bury(self, NULL, letter);
    return file(self);
}

static int pass_on(struct passage *passage) {
    struct htw__relay *self = passage->relay;
    struct htw__stripe *stripe = passage->stripe;
    const struct htw__relay_record *record = passage->record;
    struct htw__relay_request *request = &passage->request;
    bool is_input = passage->from.level == HTW__RELAY_INPUT;
    struct htw__poison *poison = find_poison(self, passage->from, record->offset);
    const char *why = request->why;
    if (poison != NULL) {
        poison->is_published = true;
        if (poison->is_suspect)
            poison = NULL;
        else if (poison->is_bad && why == NULL)
            why = poison->reason;
    }
    if (why == NULL && is_input && (request->is_cancel || request->only_asks))
        return request->is_cancel ? htw__index_cancel(self, stripe, request) : 0;
    if (why == NULL)
        why = judge(passage);
    if (why == NULL && is_input && request->recurs) {
        int error = begin_to_recur(self, request, &why);
        if (error != 0)
            return error;
    }
    bool has_entry = is_input ? why == NULL && request->id.bytes != NULL : request->offset >= 0;
    if (has_entry && !(is_input ? htw__index_arrive(self, stripe, request, record->offset)
                                : htw__index_is_alive(stripe, request)))
        return 0;
    bool has_lost = has_entry && !is_input && htw__index_has_lost(stripe, request);
    self->has_filed = self->has_occurred = false;
    int error = pass_living(passage, poison, why);
    if (error != 0 || !has_entry || (self->has_filed && !self->has_occurred))
        return error;
    work_of(passage)->ids_lost += !self->has_filed && has_lost;
    return htw__index_leave(self, stripe, htw__channel_of(passage->from), request->hash,
                            self->has_filed);
}

int htw__relay_pass_on(struct htw__relay *self, struct htw__source from,
                       const struct htw__relay_record *record,
                       const struct htw__relay_request *request) {
    struct passage passage = { self, self->stripes[from.stripe], from, record, *request };
    int error = pass_on(&passage);
    const struct htw__refusal refusal = {
        .from = from,
        .offset = record->offset,
        .reason = "the relay failed on it again and again: its log says more",
        .is_bad = true,
    };
    if (error != 0 && error != -ENOMEM && error != -EAGAIN)
        (void)htw__relay_failed(self, &refusal);
    return error;
}
