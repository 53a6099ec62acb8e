/* SPDX-License-Identifier: MIT */
/*
 * directory.c - what is known of the topics that are delivered to: a table of at most DESTINATIONS_MAX.
 *
 * The relay's thread never waits for an answer about a topic. It goes by what it knows, asks again in the background
 * when that is old, and postpones a record whose topic it does not know. Buckets are loaded before they are due, and the
 * question goes out with the loading; so a record is postponed only if it was late on arrival, or if brokers do not
 * answer in that time.
 *
 * A question is for all topics of the cluster, whatever is unknown: so thousands of topics that do not exist cost no more
 * than one. The brokers spend at most a twentieth of their time on it.
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

/* How old an answer is when it is asked for again: that a topic does not exist or may not be written to, sooner. */
#define KNOWN_MS 60000
#define MISSING_MS 5000

#define ASK_MS 3000    /* for an answer */
#define AGAIN_MS 1000  /* after a question without one */
#define PAUSE_TIMES 19 /* so many times as long as an answer took, no other question follows it */

void htw__directory_init(struct htw__directory *self) {
    *self = (struct htw__directory) { .seed = htw__random_seed(self) };
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
    htw__link_unlink(&destination->use);
    htw__key_table_remove(&self->names, &destination->node);
    free(destination);
}

void htw__directory_fini(struct htw__directory *self) {
    int result;
    (void)htw__background_take(&self->background, true, &result);
    if (self->metadata != NULL)
        rd_kafka_metadata_destroy(self->metadata);
    if (self->by_use._next == NULL) /* it was not made */
        return;
    while (!htw__ring_is_empty(&self->by_use))
        forget(self, of_use(self->by_use._next));
    htw__key_table_fini(&self->names);
}

/* ---- the table */

/* What is in a transaction is kept: trust.c needs it. These are few, or the table is larger for a while. */
static void make_room(struct htw__directory *self) {
    struct htw__link *at = self->by_use._next;
    while (self->names.count >= DESTINATIONS_MAX && at != &self->by_use) {
        struct htw__destination *oldest = of_use(at);
        at = at->_next;
        if (oldest->uses > 0)
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
    added->answered_ms = htw__clock_monotonic_ms();
    memcpy(added->name, name, size + 1);
    htw__key_node_set(&added->node, htw__key_hash(name, size, self->seed), added->name, size);
    htw__key_table_insert(&self->names, &added->node);
    htw__ring_push_back(&self->by_use, &added->use);
    return added;
}

/* ---- questions and answers */

static bool is_old(const struct htw__destination *destination) {
    int64_t known_ms = destination->partitions > 0 ? KNOWN_MS : MISSING_MS;
    return destination->partitions == -EAGAIN ||
           htw__clock_monotonic_ms() - destination->answered_ms >= known_ms;
}

struct htw__destination *htw__directory_find(struct htw__directory *self, const char *name) {
    struct htw__destination *found = find(self, name);
    if (found == NULL)
        found = htw__directory_add(self, name, -EAGAIN);
    htw__link_unlink(&found->use);
    htw__ring_push_back(&self->by_use, &found->use);
    self->is_wanted |= is_old(found);
    return found;
}

static int compare_names(const void *a, const void *b) {
    const rd_kafka_metadata_topic_t *one = a, *other = b;
    return strcmp(one->topic, other->topic);
}

/* In the background. Returns whether there is an answer. */
static int ask(void *context) {
    struct htw__directory *self = context;
    if (rd_kafka_metadata(self->client, 1, NULL, &self->metadata, ASK_MS) != 0)
        return 0;
    qsort(self->metadata->topics, (size_t)self->metadata->topic_cnt,
          sizeof(*self->metadata->topics), compare_names);
    return 1;
}

void htw__directory_open(struct htw__directory *self, rd_kafka_t *client, int event_fd) {
    self->client = client;
    self->background = (struct htw__background) {
        .job = ask, .context = self, .name = "topics", .event_fd = event_fd
    };
}

void htw__directory_send(struct htw__directory *self) {
    int64_t now_ms = htw__clock_monotonic_ms();
    if (!self->is_wanted || self->background.is_in_flight ||
        now_ms - self->asked_ms < self->pause_ms)
        return;
    self->is_wanted = false;
    self->asked_ms = now_ms;
    htw__background_begin(&self->background);
}

/* A topic that is not in the answer does not exist, or may not be seen. What was learned after the question counts more. */
static void note_answer(const struct htw__directory *self, struct htw__destination *known) {
    const rd_kafka_metadata_topic_t wanted = { .topic = known->name };
    if (known->partitions != -EAGAIN && known->answered_ms >= self->asked_ms)
        return;
    const rd_kafka_metadata_topic_t *found =
        bsearch(&wanted, self->metadata->topics, (size_t)self->metadata->topic_cnt, sizeof(wanted),
                compare_names);
    int32_t partitions = found != NULL ? htw__lookup_partitions(found) : 0;
    if (partitions == -EAGAIN)
        return;
    known->partitions = partitions;
    known->answered_ms = htw__clock_monotonic_ms();
}

void htw__directory_learn(struct htw__directory *self) {
    int has_answer;
    if (!htw__background_take(&self->background, false, &has_answer))
        return;
    self->pause_ms =
        has_answer ? PAUSE_TIMES * (htw__clock_monotonic_ms() - self->asked_ms) : AGAIN_MS;
    if (!has_answer)
        return;
    for (struct htw__link *at = self->by_use._next; at != &self->by_use; at = at->_next)
        note_answer(self, of_use(at));
    rd_kafka_metadata_destroy(self->metadata);
    self->metadata = NULL;
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
    known->answered_ms = htw__clock_monotonic_ms();
}

void htw__directory_deny(struct htw__destination *destination) {
    destination->partitions = -EACCES; /* which no answer says */
    destination->answered_ms = htw__clock_monotonic_ms() + KNOWN_MS - MISSING_MS;
}

/* What may not be written to stays so for its time. */
void htw__directory_doubt(struct htw__directory *self) {
    self->is_wanted = true;
    self->pause_ms = 0;
    for (struct htw__link *at = self->by_use._next; at != &self->by_use; at = at->_next)
        if (of_use(at)->partitions != -EACCES)
            of_use(at)->answered_ms = htw__clock_monotonic_ms() - KNOWN_MS;
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
