/* SPDX-License-Identifier: MIT */
/*
 * commit.c - commits what a channel has published, with the positions that it came from: in the same
 * transaction, or, without transactions, after it was acknowledged.
 *
 * A thread commits (background.h). The loop hands it a list of positions, and goes on with the other
 * channel, with metrics and with signals. What a producer publishes belongs to the transaction that is open, so a
 * channel publishes nothing while a commit of its own is in flight: nothing that leads to it is read, and nothing
 * delivered. If a commit fails, everything is forgotten, as soon as that of the other channel has ended, too.
 *
 * The thread uses the producer, the group handle and the membership; none of these is replaced meanwhile. So a
 * rebalance, a recovery and the end wait for what is in flight.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"
#include "../../../src/base/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMIT_MS 10000 /* for each step of a commit */
#define ATTEMPTS 3
#define FLUSH_MS 10000 /* for acknowledgements of what is to be committed */

static int give_up(struct htw__kafka *self) {
    htw__kafka_recover(self, "a commit failed");
    self->relay.stats.failed_commits++;
    return -EAGAIN;
}

static rd_kafka_topic_partition_list_t *list_positions(const struct htw__kafka *self) {
    const struct htw__relay *relay = &self->relay;
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)relay->position_count);
    for (size_t i = 0; i < relay->position_count; i++) {
        const struct htw__relay_position *position = &relay->positions[i];
        rd_kafka_topic_partition_t *added =
            htw__topics_add(self, list, position->source, position->offset);
        size_t size = strlen(position->metadata);
        if (size > 0 && (added->metadata = malloc(size)) != NULL) { /* librdkafka frees it */
            memcpy(added->metadata, position->metadata, size);
            added->metadata_size = size;
        }
    }
    return list;
}

/* ---- in the thread */

static rd_kafka_error_t *do_step(const struct htw__writer *writer, bool is_last, int limit_ms) {
    return is_last ? rd_kafka_commit_transaction(writer->producer, limit_ms)
                   : rd_kafka_send_offsets_to_transaction(writer->producer, writer->list,
                                                          writer->kafka->member, limit_ms);
}

/* Does a step of a transaction until it succeeds, or cannot any more. */
static bool has_done(const struct htw__writer *writer, bool is_last) {
    for (int attempt = 1;; attempt++) {
        rd_kafka_error_t *error =
            do_step(writer, is_last, htw__kafka_limit_ms(writer->kafka, COMMIT_MS));
        if (error == NULL)
            return true;
        bool again = rd_kafka_error_is_retriable(error) != 0 && attempt < ATTEMPTS &&
                     !htw__kafka_is_stopping(writer->kafka);
        rd_kafka_error_destroy(error);
        if (!again)
            return false;
    }
}

/* Returns whether it has succeeded. */
static int commit(void *context) {
    const struct htw__writer *writer = context;
    if (writer->kafka->options.at_least_once)
        return rd_kafka_commit(writer->kafka->group, writer->list, 0) == 0;
    return has_done(writer, false) && has_done(writer, true);
}

/* ---- in the loop */

void htw__commits_init(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        self->writers[i].kafka = self;
        self->writers[i].committer = (struct htw__background) { .job = commit,
                                                                .context = &self->writers[i],
                                                                .name = "commit",
                                                                .event_fd = self->event_fd };
    }
}

static void note_done(struct htw__writer *writer) {
    htw__writer_forget(writer, true);
    writer->done_ms = htw__clock_monotonic_ms();
}

static int begin(struct htw__kafka *self, enum htw__channel channel, int flush_ms) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    writer->last_commit_ms = htw__clock_monotonic_ms();
    if (htw__kafka_must_recover(self) || self->has_failed)
        return -EAGAIN;
    if (!htw__acknowledge_await(self, channel, flush_ms) ||
        !htw__relay_positions(&self->relay, channel))
        return give_up(self);
    if (self->relay.position_count == 0) {
        note_done(writer);
        return 0;
    }
    if (self->member == NULL || htw__writer_begin(self, writer) != 0)
        return give_up(self);
    writer->list = list_positions(self);
    htw__background_begin(&writer->committer);
    return 0;
}

/* Does what follows from a commit that has ended. Returns 0: it has succeeded, or there was none. */
static int finish(struct htw__kafka *self, enum htw__channel channel, bool wait) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    int has_succeeded;
    if (!htw__background_take(&writer->committer, wait, &has_succeeded))
        return 0;
    HTW__PROBE3(relay_commit, self, channel, has_succeeded ? 0 : -EAGAIN);
    if (has_succeeded) {
        writer->in_transaction = false;
        self->relay.stats.commits++;
        htw__relay_committed(&self->relay, channel);
        htw__trim_note(self, writer->list);
        note_done(writer);
    }
    rd_kafka_topic_partition_list_destroy(writer->list);
    writer->list = NULL;
    return has_succeeded ? 0 : give_up(self);
}

void htw__commit_begin(struct htw__kafka *self, enum htw__channel channel) {
    begin(self, channel, 0);
}

void htw__commits_take(struct htw__kafka *self, bool wait) {
    finish(self, HTW__CHANNEL_FILE, wait);
    finish(self, HTW__CHANNEL_DELIVER, wait);
}

int htw__commit_now(struct htw__kafka *self, enum htw__channel channel) {
    finish(self, channel, true);
    if (channel == HTW__CHANNEL_DELIVER && self->relay.files_first &&
        htw__commit_now(self, HTW__CHANNEL_FILE) != 0)
        return -EAGAIN;
    int error = begin(self, channel, FLUSH_MS);
    return error != 0 ? error : finish(self, channel, true);
}
