/* SPDX-License-Identifier: MIT */
/*
 * directory.c - what is known of the topics that are delivered to: a table of at most DESTINATIONS_MAX.
 *
 * The relay's thread never waits for an answer about a topic. It goes by what it knows, asks again in the background
 * (lookup.h) when that is old, and postpones a record whose topic it does not know. Buckets are loaded before they are
 * due, and the question goes out with the loading; so a record is postponed only if it was late on arrival, or if
 * more topics are new at once than brokers can answer for in that time.
 *
 * A producer hears of a topic only when it is known to exist: its own question would make the topic, where brokers are
 * set so (auto.create.topics.enable).
 */
#include "directory.h"

#include "../../../src/base/clock.h"
#include "../../../src/base/list.h"
#include "../../../src/base/random.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of more, those that were not used for longest are forgotten, to be asked for again if they come back. */
#define DESTINATIONS_MAX 8192

/* How old an answer is when it is asked for again: that a topic does not exist or may not be written to, sooner, unless
 * trust.c has found that out. */
#define KNOWN_MS 60000
#define MISSING_MS 5000

/* How long it counts that there is no such topic while no other answer comes. */
#define BELIEVED_MS 120000

#define AGAIN_MS 1000 /* after a question without an answer */

void htw__directory_init(struct htw__directory *self) {
    *self = (struct htw__directory) { .seed = htw__random_seed(self) };
    for (int channel = 0; channel <= HTW__CHANNEL_ALL; channel++)
        self->transactions[channel] = 1;
    htw__ring_init(&self->by_use);
    htw__key_table_init(&self->names, &htw__default_allocator);
}

static struct htw__destination *of_use(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw__destination, use);
}

static void tell_end(struct htw__destination *destination, int producer) {
    if (destination->topics[producer] != NULL)
        rd_kafka_topic_destroy(destination->topics[producer]);
    destination->topics[producer] = NULL;
}

static void forget(struct htw__directory *self, struct htw__destination *destination) {
    for (int i = 0; i < HTW__DIRECTORY_PRODUCERS; i++)
        tell_end(destination, i);
    self->suspects -= destination->trust == HTW__TRUST_SUSPECT;
    self->wanted -= destination->is_wanted;
    htw__link_unlink(&destination->use);
    htw__key_table_remove(&self->names, &destination->node);
    free(destination);
}

void htw__directory_fini(struct htw__directory *self) {
    htw__lookup_fini(&self->lookup);
    if (self->by_use._next == NULL) /* it was not made */
        return;
    while (!htw__ring_is_empty(&self->by_use))
        forget(self, of_use(self->by_use._next));
    htw__key_table_fini(&self->names);
}

/* ---- the table */

static bool is_in_transaction(const struct htw__directory *self,
                              const struct htw__destination *destination) {
    return destination->transactions[HTW__CHANNEL_FILE] == self->transactions[HTW__CHANNEL_FILE] ||
           destination->transactions[HTW__CHANNEL_DELIVER] ==
               self->transactions[HTW__CHANNEL_DELIVER];
}

/* What is in a transaction is kept: trust.c needs it. These are few, or the table is larger for a while. */
static void make_room(struct htw__directory *self) {
    struct htw__link *at = self->by_use._next;
    while (self->names.count >= DESTINATIONS_MAX && at != &self->by_use) {
        struct htw__destination *oldest = of_use(at);
        at = at->_next;
        if (is_in_transaction(self, oldest))
            return;
        forget(self, oldest);
    }
}

static struct htw__destination *find(const struct htw__directory *self, const char *name) {
    size_t size = strlen(name);
    struct htw__key_node *node =
        htw__key_table_find(&self->names, htw__key_hash(name, size, self->seed), name, size);
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__destination, node);
}

bool htw__directory_has(const struct htw__directory *self, const char *name) {
    return find(self, name) != NULL;
}

struct htw__destination *htw__directory_add(struct htw__directory *self, const char *name,
                                            int32_t partitions) {
    size_t size = strlen(name);
    make_room(self);
    struct htw__destination *added = htw__memory(sizeof(*added) + size + 1);
    added->partitions = partitions;
    added->asked_ms = added->answered_ms = htw__clock_monotonic_ms();
    memcpy(added->name, name, size + 1);
    htw__key_node_set(&added->node, htw__key_hash(name, size, self->seed), added->name, size);
    htw__key_table_insert(&self->names, &added->node);
    htw__ring_push_back(&self->by_use, &added->use);
    return added;
}

/* ---- questions and answers */

static bool is_denied(const struct htw__destination *destination) {
    return destination->trust == HTW__TRUST_DENIED && destination->partitions == -EACCES;
}

static int64_t patience_of(const struct htw__destination *destination) {
    if (destination->partitions == -EAGAIN)
        return AGAIN_MS;
    return destination->partitions > 0 || is_denied(destination) ? KNOWN_MS : MISSING_MS;
}

static void ask(struct htw__directory *self, struct htw__destination *destination) {
    destination->is_wanted = destination->is_asked = true;
    self->wanted++;
}

void htw__directory_send(struct htw__directory *self) {
    struct htw__link *at = self->by_use._next;
    for (; self->wanted > 0 && htw__lookup_is_free(&self->lookup) &&
           self->lookup.count < HTW__LOOKUPS_MAX && at != &self->by_use;
         at = at->_next) {
        struct htw__destination *destination = of_use(at);
        if (!destination->is_wanted)
            continue;
        htw__lookup_add(&self->lookup, destination->name);
        destination->is_wanted = false;
        self->wanted--;
    }
    htw__lookup_send(&self->lookup);
}

struct htw__destination *htw__directory_find(struct htw__directory *self, const char *name) {
    int64_t now_ms = htw__clock_monotonic_ms();
    struct htw__destination *found = find(self, name);
    if (found == NULL) {
        found = htw__directory_add(self, name, -EAGAIN);
        ask(self, found);
        return found;
    }
    htw__link_unlink(&found->use);
    htw__ring_push_back(&self->by_use, &found->use);
    if (found->partitions == 0 && now_ms - found->answered_ms >= BELIEVED_MS)
        found->partitions = -EAGAIN;
    if (!found->is_asked && now_ms - found->asked_ms >= patience_of(found))
        ask(self, found);
    return found;
}

/* Without an answer: what was known last. */
static void note_answer(struct htw__directory *self, const struct htw__lookup_item *answer) {
    struct htw__destination *known = find(self, answer->name);
    if (known == NULL) /* forgotten meanwhile */
        return;
    known->is_asked = false;
    known->asked_ms = htw__clock_monotonic_ms();
    if (answer->partitions == -EAGAIN)
        return;
    known->partitions = answer->partitions;
    known->answered_ms = known->asked_ms;
}

void htw__directory_learn(struct htw__directory *self) {
    size_t count = htw__lookup_take(&self->lookup);
    for (size_t i = 0; i < count; i++)
        note_answer(self, &self->lookup.items[i]);
}

void htw__directory_refused(struct htw__directory *self, const char *name,
                            rd_kafka_resp_err_t why) {
    struct htw__destination *known = find(self, name);
    bool may_not = why == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    bool is_missing =
        why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || why == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    if (known == NULL || !(may_not || is_missing))
        return;
    known->partitions = may_not ? -EACCES : 0;
    known->asked_ms = known->answered_ms = htw__clock_monotonic_ms();
}

/* What was denied stays so for its minute. */
void htw__directory_doubt(struct htw__directory *self) {
    for (struct htw__link *at = self->by_use._next; at != &self->by_use; at = at->_next)
        if (!is_denied(of_use(at)))
            of_use(at)->asked_ms = htw__clock_monotonic_ms() - KNOWN_MS;
}

/* ---- producers */

void htw__directory_introduce(struct htw__destination *destination, int producer,
                              rd_kafka_t *handle) {
    if (destination->topics[producer] == NULL)
        destination->topics[producer] = rd_kafka_topic_new(handle, destination->name, NULL);
}

void htw__directory_leave(struct htw__directory *self, int producer) {
    for (struct htw__link *at = self->by_use._next; at != &self->by_use; at = at->_next)
        tell_end(of_use(at), producer);
}
