/* SPDX-License-Identifier: MIT */
/*
 * group.c - the consumer group: which stripes are ours, and taking them over.
 *
 * An input partition that the group assigns is not read at once: first its stripe is taken over. That
 * asks for the committed positions, and Kafka does not answer while a transaction that would change
 * them is open. What a member left that was killed is ended first (fence.c); other transactions end
 * soon. So it is asked for a short time, again and again, from the loop.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>

#define ASK_MS 500 /* for committed positions */
#define RETRY_MS 200
#define OFFSETS_MS 10000 /* for the ends of partitions */
#define LOOK_MS 2000     /* between questions for the buckets of new partitions */

/* ---- the generation */

/* After what is in flight, which names the former one. */
static void keep_membership(struct htw__kafka *self, bool is_joined) {
    htw__commits_take(self, true);
    if (self->member != NULL)
        rd_kafka_consumer_group_metadata_destroy(self->member);
    self->member = is_joined ? rd_kafka_consumer_group_metadata(self->group) : NULL;
}

static bool is_known(const struct htw__kafka *self, int32_t partition) {
    return partition >= 0 && (uint32_t)partition < self->stripe_count;
}

/* The input may have more partitions than at the start. */
static void grow(struct htw__kafka *self, uint32_t count) {
    size_t room = self->stripe_count;
    self->stripes = htw__memory_reserve(self->stripes, count, &room, sizeof(*self->stripes));
    self->stripe_count = count > self->stripe_count ? count : self->stripe_count;
}

static void assign(struct htw__kafka *self, const rd_kafka_topic_partition_list_t *partitions) {
    for (int i = 0; i < partitions->cnt; i++) {
        uint32_t stripe = (uint32_t)partitions->elems[i].partition;
        grow(self, stripe + 1);
        self->stripes[stripe] =
            stripe < self->built_count ? HTW__STRIPE_ASSIGNED : HTW__STRIPE_WAITING;
    }
    self->taking.retry_ms = self->taking.asked_ms = 0;
}

static struct htw__source input_of(uint32_t stripe) {
    return (struct htw__source) { stripe, HTW__RELAY_INPUT, 0 };
}

/* Those that were read are put into `ret_read`. */
static void revoke(struct htw__kafka *self, const rd_kafka_topic_partition_list_t *partitions,
                   rd_kafka_topic_partition_list_t *ret_read) {
    for (int i = 0; i < partitions->cnt; i++) {
        int32_t partition = partitions->elems[i].partition;
        if (!is_known(self, partition))
            continue;
        if (self->stripes[partition] == HTW__STRIPE_READ)
            htw__topics_add(self, ret_read, input_of((uint32_t)partition), 0);
        htw__relay_lose(&self->relay, (uint32_t)partition);
        self->stripes[partition] = HTW__STRIPE_NONE;
    }
}

/* What was done for stripes that go is committed while they are ours; last, that they are given away (a position of the
 * channel FILE). */
static int commit_last(struct htw__kafka *self, const rd_kafka_topic_partition_list_t *partitions) {
    if (htw__kafka_must_recover(self) || htw__commit_now(self, HTW__CHANNEL_DELIVER) != 0)
        return -EAGAIN;
    for (int i = 0; i < partitions->cnt; i++)
        htw__relay_release(&self->relay, (uint32_t)partitions->elems[i].partition);
    return htw__commit_now(self, HTW__CHANNEL_FILE);
}

static void answer(struct htw__kafka *self, rd_kafka_error_t *error) {
    if (error == NULL)
        return;
    htw__kafka_say(self, HTW__LOG_WARNING, "rebalance: %s", rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
}

void htw__group_rebalance(rd_kafka_t *group, rd_kafka_resp_err_t what,
                          rd_kafka_topic_partition_list_t *partitions, void *opaque) {
    struct htw__kafka *self = opaque;
    rd_kafka_topic_partition_list_t *now = rd_kafka_topic_partition_list_new(1);
    if (self->is_leaving) {
        /* The rest of a rebalance that was under way: no stripe is ours any more. */
        revoke(self, partitions, now);
        answer(self, what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
                         ? rd_kafka_incremental_assign(group, now)
                         : rd_kafka_incremental_unassign(group, now));
    } else if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        keep_membership(self, true);
        self->rejoin.count = 0;
        assign(self, partitions);
        answer(self, rd_kafka_incremental_assign(group, now)); /* read after the take-over */
    } else {
        bool is_lost = rd_kafka_assignment_lost(group) != 0;
        /* Of the new generation: a commit of the old one is refused. */
        keep_membership(self, !is_lost);
        if (is_lost)
            htw__kafka_recover(self, "the membership was lost");
        else if (commit_last(self, partitions) != 0)
            htw__kafka_recover(self, "the last commit of stripes that go failed");
        if (htw__kafka_must_recover(self)) { /* and so for all: the transaction is one */
            htw__writers_abort(self);
            htw__relay_lose_all(&self->relay);
        }
        revoke(self, partitions, now);
        answer(self, rd_kafka_incremental_unassign(group, now));
    }
    rd_kafka_topic_partition_list_destroy(now);
}

void htw__group_retry(struct htw__kafka *self) {
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] == HTW__STRIPE_STOPPED)
            self->stripes[i] = HTW__STRIPE_ASSIGNED;
}

void htw__group_forget(struct htw__kafka *self) {
    rd_kafka_topic_partition_list_t *read = rd_kafka_topic_partition_list_new(1);
    htw__relay_lose_all(&self->relay);
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        if (self->stripes[i] == HTW__STRIPE_READ)
            htw__topics_add(self, read, input_of(i), 0);
        else if (self->stripes[i] != HTW__STRIPE_TAKEN)
            continue;
        self->stripes[i] = HTW__STRIPE_ASSIGNED;
    }
    if (read->cnt > 0)
        answer(self, rd_kafka_incremental_unassign(self->group, read));
    rd_kafka_topic_partition_list_destroy(read);
}

void htw__group_lose(struct htw__kafka *self) {
    keep_membership(self, false);
    htw__relay_lose_all(&self->relay);
    for (uint32_t i = 0; i < self->stripe_count; i++)
        self->stripes[i] = HTW__STRIPE_NONE;
    htw__kafka_recover(self, "the membership has ended");
}

/* ---- taking over */

/* All partitions of a stripe. */
static rd_kafka_topic_partition_list_t *list_partitions(const struct htw__kafka *self,
                                                        uint32_t stripe) {
    const struct htw__levels *levels = &self->options.relay.levels;
    rd_kafka_topic_partition_list_t *list = htw__topics_list(self, input_of(stripe), 0);
    htw__topics_add(self, list, (struct htw__source) { stripe, HTW__RELAY_IDS, 0 }, 0);
    for (uint32_t level = 0; level < levels->count; level++)
        for (uint32_t slot = 0; slot < levels->size; slot++)
            htw__topics_add(self, list, (struct htw__source) { stripe, level, slot }, 0);
    return list;
}

/* What is found of the input, of the index, and of the buckets by level and slot. Brokers answer in any order. */
static struct htw__found *found_of(const struct htw__kafka *self, struct htw__found *found,
                                   const rd_kafka_topic_partition_t *partition) {
    struct htw__source source;
    if (!htw__topics_source(self, partition->topic, partition->partition, &source))
        return NULL;
    if (source.level >= HTW__RELAY_LEVELS_MAX)
        return &found[source.level == HTW__RELAY_IDS];
    return &found[2 + source.level * self->options.relay.levels.size + source.slot];
}

/* Of the input, whose producers may have open transactions: as far as a client gets that reads what is committed. */
static bool ask_stable_end(struct htw__kafka *self, uint32_t stripe, struct htw__found *input) {
    rd_kafka_topic_partition_list_t *list = htw__topics_list(self, input_of(stripe), 0);
    bool is_known = htw__lookup_offsets(self->group, HTW__LOOKUP_ENDS, list, OFFSETS_MS) == 0;
    if (is_known)
        input->end = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return is_known;
}

static void note_offset(struct htw__found *found, enum htw__lookup_offsets which,
                        const rd_kafka_topic_partition_t *partition) {
    if (which == HTW__LOOKUP_STARTS)
        found->start = partition->offset;
    else if (which == HTW__LOOKUP_ENDS)
        found->end = partition->offset;
    else {
        found->offset = partition->offset >= 0 ? partition->offset : -1;
        found->metadata = htw__metadata_of(partition);
    }
}

/* The metadata leads into the list. */
static bool fill_in(struct htw__kafka *self, rd_kafka_t *client, enum htw__lookup_offsets which,
                    rd_kafka_topic_partition_list_t *list, struct htw__found *found) {
    int timeout_ms = which == HTW__LOOKUP_POSITIONS ? ASK_MS : OFFSETS_MS;
    if (htw__lookup_offsets(client, which, list, timeout_ms) != 0)
        return false;
    for (int i = 0; i < list->cnt; i++) {
        struct htw__found *one = found_of(self, found, &list->elems[i]);
        if (one != NULL)
            note_offset(one, which, &list->elems[i]);
    }
    return true;
}

/*
 * Asks for the first offsets, then for the positions, then for the last offsets. Another member may commit
 * and delete meanwhile, if this one does not know yet that it has lost the stripe. In this order a position
 * still lies between the first and the last offset.
 */
static bool fill(struct htw__kafka *self, uint32_t stripe, struct htw__found *found,
                 rd_kafka_topic_partition_list_t *committed,
                 rd_kafka_topic_partition_list_t *list) {
    return fill_in(self, self->admin, HTW__LOOKUP_STARTS, list, found) &&
           fill_in(self, self->group, HTW__LOOKUP_POSITIONS, committed, found) &&
           fill_in(self, self->admin, HTW__LOOKUP_ENDS, list, found) &&
           ask_stable_end(self, stripe, &found[0]);
}

static int explain(struct htw__kafka *self, uint32_t stripe, enum htw__gain result) {
    static const char *const why[] = {
        [HTW__GAIN_FOREIGN] =
            "the metadata of an offset was not written by this version of the relay: was it another "
            "version, or does another program commit to this group?",
        [HTW__GAIN_OTHER] = "its buckets were filled with another --width, --size or --levels; use "
                            "these, and another input topic for new records to have others",
        [HTW__GAIN_MISSING] =
            "positions are missing, though there were records: were offsets deleted, or have they "
            "expired (offsets.retention.minutes) while no relay ran? With --recover it goes on "
            "with all records that are left; those delivered last may be delivered again",
        [HTW__GAIN_DELETED] =
            "records were deleted before the relay read them: is the retention too "
            "short? With --recover it goes on with those that are left",
        [HTW__GAIN_BEYOND] =
            "a position is beyond the end of its partition: was the topic made anew, or did a "
            "broker "
            "lose records? With --recover it goes on with all records that are there; some may be "
            "delivered again",
    };
    return htw__kafka_fail(self, "partition %u of %s: %s", stripe, self->options.input,
                           why[result]);
}

/* The others go on. */
static void stop(struct htw__kafka *self, uint32_t stripe) {
    self->stripes[stripe] = HTW__STRIPE_STOPPED;
    self->taking.beyond_ms = 0; /* or the next one would have no time to grow */
    htw__kafka_say(
        self, HTW__LOG_WARNING,
        "partition %u of %s has lost entries: was the topic deleted or made anew, or has it "
        "had a retention? So it is unknown which records with an id were cancelled, and "
        "partition %u of %s stands still. With --recover those that have lost their entries are "
        "delivered, cancelled ones too",
        stripe, self->topics.names[HTW__RELAY_IDS], stripe, self->options.input);
}

static void read_input(struct htw__kafka *self, uint32_t stripe, int64_t offset) {
    rd_kafka_topic_partition_list_t *list = htw__topics_list(self, input_of(stripe), offset);
    answer(self, rd_kafka_incremental_assign(self->group, list));
    rd_kafka_topic_partition_list_destroy(list);
    self->stripes[stripe] = HTW__STRIPE_READ;
}

/* Those whose index was read. */
static void read_inputs(struct htw__kafka *self) {
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        int64_t offset =
            self->stripes[i] == HTW__STRIPE_TAKEN ? htw__relay_reads_input(&self->relay, i) : -1;
        if (offset >= 0)
            read_input(self, i, offset);
    }
}

/* A broker that has just become the leader does not know yet how far a partition goes. */
static bool may_grow(struct htw__kafka *self, enum htw__gain result) {
    if (result != HTW__GAIN_BEYOND && result != HTW__GAIN_IDS) {
        self->taking.beyond_ms = 0;
        return false;
    }
    if (self->taking.beyond_ms == 0)
        self->taking.beyond_ms = htw__clock_monotonic_ms();
    return htw__clock_monotonic_ms() - self->taking.beyond_ms < self->options.patience_ms;
}

/* Returns 0: taken, or to be tried again (*ret_taken is false). */
static int take(struct htw__kafka *self, uint32_t stripe, bool *ret_taken) {
    const struct htw__levels *levels = &self->options.relay.levels;
    struct htw__found *found =
        htw__memory((2 + (size_t)levels->count * levels->size) * sizeof(*found));
    rd_kafka_topic_partition_list_t *list = list_partitions(self, stripe);
    rd_kafka_topic_partition_list_t *committed = rd_kafka_topic_partition_list_copy(list);
    enum htw__gain result = HTW__GAIN_OK;
    htw__fence(self, stripe);
    *ret_taken = !htw__kafka_is_stopping(self) && fill(self, stripe, found, committed, list) &&
                 htw__fence_covers(self, found[0].metadata);
    if (*ret_taken) {
        self->relay.now_ms = htw__clock_realtime_ms();
        result = htw__relay_gain(&self->relay, stripe, &found[0], &found[2], &found[1]);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_topic_partition_list_destroy(committed);
    free(found);
    if (*ret_taken && may_grow(self, result))
        *ret_taken = false;
    else if (result == HTW__GAIN_IDS)
        stop(self, stripe);
    else if (result != HTW__GAIN_OK)
        return explain(self, stripe, result);
    else if (*ret_taken)
        self->stripes[stripe] = HTW__STRIPE_TAKEN;
    return 0;
}

/* Stripes of new partitions can be taken over when the operator has made their buckets. */
static void look_for_buckets(struct htw__kafka *self) {
    int64_t now_ms = htw__clock_monotonic_ms();
    if (self->taking.asked_ms != 0 && now_ms - self->taking.asked_ms < LOOK_MS)
        return;
    self->taking.asked_ms = now_ms;
    self->relay.stats.stripes_waiting = self->relay.stats.stripes_stopped = 0;
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        self->relay.stats.stripes_stopped += self->stripes[i] == HTW__STRIPE_STOPPED;
        if (self->stripes[i] != HTW__STRIPE_WAITING)
            continue;
        if (htw__topics_have_buckets(self, i)) {
            self->stripes[i] = HTW__STRIPE_ASSIGNED;
            self->built_count = i + 1;
            continue;
        }
        self->relay.stats.stripes_waiting++;
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "partition %u of %s is new and has no buckets: it waits until "
                       "--create-topics has made them",
                       i, self->options.input);
    }
}

/* The next stripe that is assigned and not taken, in turn; false: there is none. */
static bool next_to_take(struct htw__kafka *self, uint32_t *ret_stripe) {
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        uint32_t stripe = (self->taking.next + i) % self->stripe_count;
        if (self->stripes[stripe] == HTW__STRIPE_ASSIGNED) {
            *ret_stripe = stripe;
            return true;
        }
    }
    return false;
}

int htw__group_take(struct htw__kafka *self) {
    uint32_t stripe;
    bool is_taken = true, has_taken = false;
    read_inputs(self);
    if (self->member != NULL)
        look_for_buckets(self);
    if (self->member == NULL || htw__clock_monotonic_ms() < self->taking.retry_ms ||
        !next_to_take(self, &stripe))
        return 0;
    /* The commit below may be of positions of level 0, too: nothing that belongs to them may be open then. */
    if (htw__commit_now(self, HTW__CHANNEL_DELIVER) != 0 ||
        htw__commit_now(self, HTW__CHANNEL_FILE) != 0)
        return 0;
    while (is_taken && !htw__kafka_is_stopping(self) && next_to_take(self, &stripe)) {
        self->taking.next = stripe + 1;
        if (take(self, stripe, &is_taken) != 0)
            return -EIO;
        has_taken = has_taken || is_taken;
    }
    if (!is_taken) /* one at a time, so that the other stripes do not wait */
        self->taking.retry_ms = htw__clock_monotonic_ms() + RETRY_MS;
    /* The positions of a stripe that is new, before anything is read. */
    if (has_taken)
        htw__commit_now(self, HTW__CHANNEL_FILE);
    return 0;
}
