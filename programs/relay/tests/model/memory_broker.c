/* SPDX-License-Identifier: MIT */
/* memory_broker.c - the part of Kafka that the relay uses, in memory. */
#include "memory_broker.h"

#include "../../src/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *why) {
    fprintf(stderr, "memory_broker: %s\n", why);
    abort();
}

static size_t bucket_count(const struct broker *self) {
    return (size_t)BROKER_STRIPES * self->levels.count * self->levels.size;
}

static size_t add_txn(struct broker *self, enum txn_state state) {
    self->txns =
        htw__memory_reserve(self->txns, self->txn_count + 1, &self->txn_room, sizeof(*self->txns));
    self->txns[self->txn_count] = (struct broker_txn) { .state = state };
    return self->txn_count++;
}

void broker_init(struct broker *self, const struct htw__levels *levels, bool at_least_once) {
    *self = (struct broker) { .levels = *levels, .at_least_once = at_least_once };
    self->buckets = htw__memory(bucket_count(self) * sizeof(*self->buckets));
    for (size_t i = 0; i < bucket_count(self); i++)
        self->buckets[i].committed = -1;
    for (size_t i = 0; i < BROKER_STRIPES; i++)
        self->inputs[i].committed = -1;
    add_txn(self, TXN_COMMITTED);
}

static void free_partition(struct broker_partition *partition) {
    for (size_t i = 0; i < partition->count; i++) {
        free(partition->records[i].record);
        free(partition->records[i].topic);
    }
    free(partition->records);
}

void broker_fini(struct broker *self) {
    for (size_t i = 0; i < bucket_count(self); i++)
        free_partition(&self->buckets[i]);
    for (size_t i = 0; i < BROKER_STRIPES; i++) {
        free_partition(&self->inputs[i]);
        free_partition(&self->ids[i]);
    }
    free_partition(&self->out);
    for (size_t i = 0; i < self->txn_count; i++)
        free(self->txns[i].touched);
    free(self->txns);
    free(self->buckets);
}

struct broker_partition *broker_partition(struct broker *self, struct htw__source source) {
    if (source.level == HTW__RELAY_INPUT)
        return &self->inputs[source.stripe];
    if (source.level == HTW__RELAY_IDS)
        return &self->ids[source.stripe];
    return &self->buckets[(source.stripe * self->levels.count + source.level) * self->levels.size +
                          source.slot];
}

bool broker_is_visible(const struct broker *self, const struct broker_record *record) {
    return record->record != NULL && self->txns[record->txn].state == TXN_COMMITTED;
}

static int64_t append(struct broker *self, struct broker_partition *partition,
                      const struct htw__relay_record *record, size_t txn) {
    partition->records = htw__memory_reserve(partition->records, partition->count + 1,
                                             &partition->room, sizeof(*partition->records));
    struct broker_record *added = &partition->records[partition->count];
    *added = (struct broker_record) { .txn = txn, .real_now_ms = self->now_ms };
    if (record != NULL) {
        added->record = htw__record_copy(record, htw__memory(htw__record_copy_size(record)));
        added->record->offset = (int64_t)partition->count;
    }
    return (int64_t)partition->count++;
}

static void touch(struct broker *self, size_t number, struct broker_partition *partition) {
    struct broker_txn *txn = &self->txns[number];
    for (size_t i = 0; i < txn->touched_count; i++)
        if (txn->touched[i] == partition)
            return;
    txn->touched = htw__memory_reserve(txn->touched, txn->touched_count + 1, &txn->touched_room,
                                       sizeof(struct broker_partition *));
    txn->touched[txn->touched_count++] = partition;
}

int64_t broker_produce(struct broker *self, uint32_t stripe,
                       const struct htw__relay_record *record) {
    if (self->sender_txn != 0)
        touch(self, self->sender_txn, &self->inputs[stripe]);
    return append(self, &self->inputs[stripe], record, self->sender_txn);
}

static void end_txn(struct broker *self, size_t txn, enum txn_state state) {
    struct broker_txn *ended = &self->txns[txn];
    ended->state = state;
    for (size_t i = 0; i < ended->touched_count; i++)
        append(self, ended->touched[i], NULL, txn);
}

void broker_begin(struct broker *self) {
    self->sender_txn = add_txn(self, TXN_OPEN);
}

void broker_end(struct broker *self, bool is_committed) {
    end_txn(self, self->sender_txn, is_committed ? TXN_COMMITTED : TXN_ABORTED);
    self->sender_txn = 0;
}

static bool has_ended(const struct broker_txn *txn) {
    return txn->state == TXN_COMMITTED || txn->state == TXN_ABORTED;
}

void broker_resolve(struct broker *self, const struct member *members, size_t count, bool is_all) {
    while (self->txns_ended < self->txn_count && has_ended(&self->txns[self->txns_ended]))
        self->txns_ended++;
    for (size_t txn = self->txns_ended; txn < self->txn_count; txn++) {
        bool is_held = txn == self->sender_txn;
        for (size_t i = 0; i < count; i++)
            is_held = is_held || (members[i].is_alive &&
                                  (members[i].txns[0] == txn || members[i].txns[1] == txn));
        if (self->txns[txn].state == TXN_COMMITTING)
            end_txn(self, txn, TXN_COMMITTED);
        else if (self->txns[txn].state == TXN_OPEN && is_all && !is_held)
            end_txn(self, txn, TXN_ABORTED);
    }
}

/* ---- the transport */

static struct member *member_of(struct htw__transport *transport) {
    return HTW_CONTAINER_OF(transport, struct member, transport);
}

int64_t member_now(const struct member *self) {
    return self->broker->now_ms + self->skew_ms;
}

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    struct member *self = member_of(transport);
    struct broker *broker = self->broker;
    if (outgoing->topic != NULL && broker->is_silent)
        return -EINPROGRESS;
    if (outgoing->topic != NULL &&
        (strcmp(outgoing->topic, "missing") == 0 ||
         (broker->refused != NULL && strcmp(outgoing->topic, broker->refused) == 0)))
        return -ENOENT;
    if (outgoing->topic != NULL && strcmp(outgoing->topic, "small") == 0) {
        self->has_poison = true; /* is told with the commit */
        self->poison_from = outgoing->from;
        self->poison_offset = outgoing->from_offset;
    }
    if (member_is_committing(self, htw__channel_of(outgoing->from)))
        stop("published while the channel is committing");
    size_t *txn = &self->txns[htw__channel_of(outgoing->from)];
    if (!broker->at_least_once && *txn == 0) {
        broker_resolve(broker, NULL, 0, false); /* a producer has one transaction at a time */
        *txn = add_txn(broker, TXN_OPEN);
    }
    struct broker_partition *partition =
        outgoing->topic != NULL ? &broker->out : broker_partition(broker, outgoing->bucket);
    if (!broker->at_least_once)
        touch(broker, *txn, partition);
    if (self->has_poison && outgoing->topic != NULL && strcmp(outgoing->topic, "small") == 0)
        return 0;
    int64_t offset = append(broker, partition, &outgoing->record, *txn);
    if (outgoing->topic != NULL) {
        partition->records[offset].topic = strdup(outgoing->topic);
        partition->records[offset].member_now_ms = member_now(self);
        partition->records[offset].gained_end = self->gained_end[outgoing->from.stripe];
        return 0;
    }
    self->acks =
        htw__memory_reserve(self->acks, self->ack_count + 1, &self->ack_room, sizeof(*self->acks));
    self->acks[self->ack_count++] = (struct broker_ack) { outgoing->bucket, offset };
    return 0;
}

static void expect(struct htw__transport *transport, const char *topic) {
    (void)transport, (void)topic;
}

static bool is_same(struct htw__source a, struct htw__source b) {
    return a.stripe == b.stripe && a.level == b.level && a.slot == b.slot;
}

static void close_bucket(struct htw__transport *transport, struct htw__source bucket) {
    struct member *self = member_of(transport);
    for (size_t i = 0; i < self->read_count; i++)
        if (is_same(self->reads[i].source, bucket)) {
            self->reads[i] = self->reads[--self->read_count];
            return;
        }
    stop("closed, and was not open");
}

static void open_bucket(struct htw__transport *transport, struct htw__source bucket,
                        int64_t offset) {
    struct member *self = member_of(transport);
    for (size_t i = 0; i < self->read_count; i++)
        if (is_same(self->reads[i].source, bucket)) {
            self->reads[i].position = offset;
            self->reads[i].told = -1;
            return;
        }
    self->reads = htw__memory_reserve(self->reads, self->read_count + 1, &self->read_room,
                                      sizeof(*self->reads));
    self->reads[self->read_count++] = (struct broker_read) { bucket, offset, -1 };
}

/* ---- members */

void member_start(struct member *self, struct broker *broker,
                  const struct htw__relay_options *options, int64_t skew_ms) {
    *self = (struct member) { .transport = { publish, expect, open_bucket, close_bucket },
                              .broker = broker,
                              .is_alive = true,
                              .skew_ms = skew_ms,
                              .generation = broker->generation };
    htw__relay_init(&self->relay, options, &self->transport, member_now(self));
}

void member_lose(struct member *self, bool is_index) {
    for (size_t i = 0; i < self->ack_count; i++) {
        const struct broker_ack *ack = &self->acks[i];
        struct broker_partition *partition = broker_partition(self->broker, ack->bucket);
        if ((ack->bucket.level == HTW__RELAY_IDS) != is_index)
            continue;
        free(partition->records[ack->offset].record);
        partition->records[ack->offset].record = NULL;
    }
}

void member_kill(struct member *self) {
    self->is_alive = false;
    htw__relay_fini(&self->relay);
    free(self->reads);
    free(self->acks);
    for (int i = 0; i < 2; i++)
        free(self->commits[i].positions);
    memset(self->commits, 0, sizeof(self->commits));
    self->reads = NULL;
    self->acks = NULL;
    memset(self->owns, 0, sizeof(self->owns));
}

static struct htw__found find(const struct broker_partition *partition) {
    return (struct htw__found) { partition->committed,
                                 partition->metadata[0] != '\0' ? htw__bytes_of(partition->metadata)
                                                                : (struct htw__bytes) { NULL, 0 },
                                 0, (int64_t)partition->count };
}

/* How far those get that read what is committed. */
static int64_t stable_end(const struct broker *self, const struct broker_partition *partition) {
    for (size_t i = 0; i < partition->count; i++)
        if (partition->records[i].record != NULL &&
            self->txns[partition->records[i].txn].state == TXN_OPEN)
            return (int64_t)i;
    return (int64_t)partition->count;
}

enum htw__gain member_gain(struct member *self, uint32_t stripe) {
    const struct htw__levels *levels = &self->broker->levels;
    size_t count = (size_t)levels->count * levels->size;
    struct htw__found *buckets = htw__memory(count * sizeof(*buckets));
    for (uint32_t level = 0; level < levels->count; level++)
        for (uint32_t slot = 0; slot < levels->size; slot++)
            buckets[level * levels->size + slot] =
                find(broker_partition(self->broker, (struct htw__source) { stripe, level, slot }));
    struct htw__found input = find(&self->broker->inputs[stripe]);
    input.end = stable_end(self->broker, &self->broker->inputs[stripe]);
    self->relay.now_ms = member_now(self);
    const struct htw__found ids = { .end = (int64_t)self->broker->ids[stripe].count };
    enum htw__gain result = htw__relay_gain(&self->relay, stripe, &input, buckets, &ids);
    free(buckets);
    self->owns[stripe] = result == HTW__GAIN_OK;
    self->gained_end[stripe] = input.end;
    self->input_at[stripe] = self->input_told[stripe] = -1;
    return result;
}

/* Aborts what is open, and forgets what it knows. */
static void forget(struct member *self) {
    assert(!member_is_committing(self, HTW__CHANNEL_FILE) &&
           !member_is_committing(self, HTW__CHANNEL_DELIVER));
    htw__relay_lose_all(&self->relay);
    assert(self->read_count == 0);
    for (int i = 0; i < 2; i++) {
        if (self->txns[i] != 0)
            end_txn(self->broker, self->txns[i], TXN_ABORTED);
        self->txns[i] = 0;
    }
    self->ack_count = 0;
    self->has_poison = false;
}

void member_recover(struct member *self) {
    forget(self);
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++)
        if (self->owns[stripe] && member_gain(self, stripe) != HTW__GAIN_OK)
            stop("cannot be taken over again");
    if (member_commit(self, HTW__CHANNEL_FILE, false) != 0)
        stop("an empty commit fails");
}

/* The next record that can be read from a position, which moves to it; NULL: the end. */
static const struct broker_record *next_visible(const struct broker *broker,
                                                const struct broker_partition *partition,
                                                int64_t *position) {
    for (; *position < (int64_t)partition->count; (*position)++) {
        const struct broker_record *record = &partition->records[*position];
        enum txn_state state = broker->txns[record->txn].state;
        if (state == TXN_OPEN || state == TXN_COMMITTING)
            return NULL;
        if (broker_is_visible(broker, record))
            return record;
    }
    return NULL;
}

int member_poll_input(struct member *self, uint32_t stripe, size_t max) {
    const struct htw__source from = { stripe, HTW__RELAY_INPUT, 0 };
    struct broker_partition *partition = &self->broker->inputs[stripe];
    int64_t *at = &self->input_at[stripe];
    int error = 0;
    if (member_is_committing(self, HTW__CHANNEL_FILE))
        return 0;
    if (*at < 0)
        *at = htw__relay_reads_input(&self->relay, stripe);
    for (size_t i = 0; i < max && error == 0 && self->owns[stripe] && *at >= 0; i++) {
        const struct broker_record *next = next_visible(self->broker, partition, at);
        if (next != NULL) {
            ++*at;
            error = htw__relay_take(&self->relay, from, next->record);
        } else if (self->input_told[stripe] != *at) {
            self->input_told[stripe] = *at;
            htw__relay_reached(&self->relay, from, *at);
        } else {
            break;
        }
    }
    return error;
}

int member_poll_buckets(struct member *self, size_t max) {
    int error = 0;
    for (size_t i = 0; i < self->read_count && error == 0; i++) {
        for (size_t j = 0; j < max && i < self->read_count && error == 0; j++) {
            struct broker_read *read = &self->reads[i];
            if (member_is_committing(self, htw__channel_of(read->source)))
                break;
            struct htw__source source = read->source;
            struct broker_partition *partition = broker_partition(self->broker, source);
            const struct broker_record *next =
                next_visible(self->broker, partition, &read->position);
            if (next != NULL) {
                read->position++;
                error = htw__relay_take(&self->relay, source, next->record);
            } else if (read->told != read->position) {
                read->told = read->position;
                htw__relay_reached(&self->relay, source, read->position);
            } else {
                break;
            }
        }
    }
    return error;
}

int member_advance(struct member *self, size_t max) {
    int result = htw__relay_advance(&self->relay, member_now(self),
                                    member_is_committing(self, HTW__CHANNEL_DELIVER) ? 0 : max);
    return result < 0 ? result : 0;
}

void member_acknowledge(struct member *self, size_t max) {
    size_t count = max < self->ack_count ? max : self->ack_count;
    for (size_t i = 0; i < count; i++)
        htw__relay_published(&self->relay, self->acks[i].bucket, self->acks[i].offset);
    if (count > 0)
        memmove(self->acks, self->acks + count, (self->ack_count - count) * sizeof(*self->acks));
    self->ack_count -= count;
}

/* ---- commits */

bool member_is_committing(const struct member *self, enum htw__channel channel) {
    return self->commits[channel].is_in_flight;
}

/* What was published is acknowledged. */
static int list_positions(struct member *self, enum htw__channel channel) {
    if (self->has_poison) {
        const struct htw__refusal refusal = { .from = self->poison_from,
                                              .offset = self->poison_offset,
                                              .reason = "the record is too large for the topic",
                                              .is_too_large = true };
        bool is_noted = htw__relay_refused(&self->relay, &refusal);
        assert(is_noted);
        (void)is_noted;
        return -EIO;
    }
    if (channel == HTW__CHANNEL_DELIVER && self->relay.files_first &&
        member_commit(self, HTW__CHANNEL_FILE, false) != 0)
        return -EPERM;
    member_acknowledge(self, self->ack_count);
    return htw__relay_positions(&self->relay, channel) ? 0 : -ESTALE;
}

static int apply(struct member *self, enum htw__channel channel,
                 const struct htw__relay_position *positions, size_t count, bool slow_markers) {
    struct broker *broker = self->broker;
    if (self->generation != broker->generation)
        return -EPERM;
    for (size_t i = 0; i < count; i++) {
        const struct htw__relay_position *position = &positions[i];
        struct broker_partition *partition = broker_partition(broker, position->source);
        partition->committed = position->offset;
        memcpy(partition->metadata, position->metadata, sizeof(partition->metadata));
    }
    size_t txn = self->txns[channel];
    broker->txns[txn].decided_ms = broker->now_ms;
    if (txn != 0 && slow_markers)
        broker->txns[txn].state = TXN_COMMITTING;
    else if (txn != 0)
        end_txn(broker, txn, TXN_COMMITTED);
    self->txns[channel] = 0;
    return 0;
}

int member_commit_begin(struct member *self, enum htw__channel channel) {
    struct broker_commit *commit = &self->commits[channel];
    assert(!commit->is_in_flight);
    if (list_positions(self, channel) != 0)
        return -EPERM;
    if (self->relay.position_count == 0)
        return 0;
    *commit = (struct broker_commit) { .is_in_flight = true, .count = self->relay.position_count };
    commit->positions = htw__memory(commit->count * sizeof(*commit->positions));
    memcpy(commit->positions, self->relay.positions, commit->count * sizeof(*commit->positions));
    return 0;
}

void member_commit_do(struct member *self, enum htw__channel channel, bool slow_markers) {
    struct broker_commit *commit = &self->commits[channel];
    if (!commit->is_in_flight || commit->is_ended)
        return;
    commit->is_ended = true;
    commit->result = apply(self, channel, commit->positions, commit->count, slow_markers);
}

int member_commit_end(struct member *self, enum htw__channel channel, bool slow_markers) {
    struct broker_commit *commit = &self->commits[channel];
    if (!commit->is_in_flight)
        return 0;
    member_commit_do(self, channel, slow_markers);
    if (commit->result == 0)
        htw__relay_committed(&self->relay, channel);
    int result = commit->result;
    free(commit->positions);
    *commit = (struct broker_commit) { .positions = NULL };
    return result;
}

int member_commit(struct member *self, enum htw__channel channel, bool slow_markers) {
    if (member_commit_end(self, channel, slow_markers) != 0)
        return -EPERM;
    int error = list_positions(self, channel);
    if (error == 0)
        error =
            apply(self, channel, self->relay.positions, self->relay.position_count, slow_markers);
    if (error == 0)
        htw__relay_committed(&self->relay, channel);
    return error;
}
