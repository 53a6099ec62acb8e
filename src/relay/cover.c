/* SPDX-License-Identifier: MIT */
/*
 * cover.c - sees to it that each stripe has an owner.
 *
 * A stripe that moves has no owner for a moment: the member that gives it away joins again when it has
 * done so, and only then does the next assignment give it to another. If the coordinator dies just then,
 * and members join again under their names (--instance), Kafka gives them the assignment that was under
 * way, and starts no other one: the stripe would never have an owner. So members ask now and then who has
 * what. If a stripe has had no owner for a while in a group that is stable, one member leaves the group
 * and joins it again, which has Kafka assign everything anew.
 */
#include "kafka.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_MS 3000
#define PATIENCE_MS 9000 /* a member gives a stripe away in less */
#define DOUBLINGS_MAX 6  /* of that, where it has not helped */

static void mark(const struct htw__kafka *self, const rd_kafka_topic_partition_list_t *owned,
                 bool *has_owner) {
    for (int i = 0; i < owned->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &owned->elems[i];
        if (one->partition >= 0 && (uint32_t)one->partition < self->stripe_count &&
            strcmp(one->topic, self->options.input) == 0)
            has_owner[one->partition] = true;
    }
}

static int32_t find_missing(const struct htw__kafka *self,
                            const rd_kafka_ConsumerGroupDescription_t *group) {
    bool *has_owner = calloc(self->stripe_count, sizeof(*has_owner));
    uint32_t first = 0;
    if (has_owner == NULL)
        return HTW__COVER_UNKNOWN;
    for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(group); i++) {
        const rd_kafka_MemberAssignment_t *assignment = rd_kafka_MemberDescription_assignment(
            rd_kafka_ConsumerGroupDescription_member(group, i));
        const rd_kafka_topic_partition_list_t *owned =
            assignment == NULL ? NULL : rd_kafka_MemberAssignment_partitions(assignment);
        if (owned != NULL)
            mark(self, owned, has_owner);
    }
    while (first < self->stripe_count && has_owner[first])
        first++;
    free(has_owner);
    return first < self->stripe_count ? (int32_t)first : HTW__COVER_FULL;
}

static int rank_of(const struct htw__kafka *self,
                   const rd_kafka_ConsumerGroupDescription_t *group) {
    int rank = 0;
    char *id = rd_kafka_memberid(self->group);
    for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(group); i++) {
        const char *other = rd_kafka_MemberDescription_consumer_id(
            rd_kafka_ConsumerGroupDescription_member(group, i));
        rank += id != NULL && strcmp(other, id) < 0;
    }
    rd_kafka_mem_free(self->group, id);
    return rank;
}

static struct htw__cover_answer read_answer(struct htw__kafka *self, rd_kafka_event_t *event) {
    struct htw__cover_answer answer = { HTW__COVER_UNKNOWN, 0 };
    size_t count = 0;
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return answer; /* the next one comes soon */
    const rd_kafka_ConsumerGroupDescription_t **groups =
        rd_kafka_DescribeConsumerGroups_result_groups(
            rd_kafka_event_DescribeConsumerGroups_result(event), &count);
    if (count != 1 || rd_kafka_ConsumerGroupDescription_error(groups[0]) != NULL ||
        rd_kafka_ConsumerGroupDescription_state(groups[0]) != RD_KAFKA_CONSUMER_GROUP_STATE_STABLE)
        return answer;
    answer.missing = find_missing(self, groups[0]);
    answer.rank = rank_of(self, groups[0]);
    return answer;
}

bool htw__cover_is_our_turn(struct htw__cover *cover, struct htw__cover_answer answer,
                            int64_t now_ms) {
    int64_t patience_ms = (int64_t)PATIENCE_MS << cover->tries;
    if (cover->missing_ms == 0 || answer.missing < 0 || answer.missing != cover->missing)
        cover->missing_ms = now_ms;
    if (answer.missing == HTW__COVER_FULL)
        cover->tries = 0;
    cover->missing = answer.missing;
    if (answer.missing < 0 || now_ms - cover->missing_ms < patience_ms * (1 + answer.rank))
        return false;
    cover->missing_ms = now_ms;
    cover->tries += cover->tries < DOUBLINGS_MAX;
    return true;
}

static void take_answer(struct htw__kafka *self, int64_t now_ms) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(self->cover.queue, 0);
    if (event == NULL)
        return;
    self->cover.is_asking = false;
    if (self->member != NULL &&
        htw__cover_is_our_turn(&self->cover, read_answer(self, event), now_ms)) {
        htw__kafka_say(self, "partition %d of %s has no owner: joining again",
                       (int)self->cover.missing, self->options.input);
        rd_kafka_unsubscribe(self->group);
        htw__member_subscribe(self);
    }
    rd_kafka_event_destroy(event);
}

/* librdkafka 2.0.2 aborts where a broker does not know the question. Kafka's all do; those of librdkafka's
 * own mock cluster do not. */
static bool may_ask(struct htw__kafka *self) {
    static const char mock[] = "mockCluster";
    char *id = rd_kafka_clusterid(self->admin, 0);
    bool may = id != NULL && strncmp(id, mock, sizeof(mock) - 1) != 0;
    if (id != NULL)
        rd_kafka_mem_free(self->admin, id);
    return may;
}

void htw__cover_run(struct htw__kafka *self, int64_t now_ms) {
    struct htw__cover *cover = &self->cover;
    if (cover->is_asking)
        take_answer(self, now_ms);
    if (cover->is_asking || self->member == NULL || now_ms - cover->asked_ms < EVERY_MS ||
        !may_ask(self))
        return;
    if (cover->queue == NULL)
        cover->queue = rd_kafka_queue_new(self->admin);
    rd_kafka_DescribeConsumerGroups(self->admin, &self->options.group, 1, NULL, cover->queue);
    cover->is_asking = true;
    cover->asked_ms = now_ms;
}

void htw__cover_end(struct htw__kafka *self) {
    if (self->cover.queue != NULL)
        rd_kafka_queue_destroy(self->cover.queue);
    self->cover.queue = NULL;
}
