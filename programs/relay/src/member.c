/* SPDX-License-Identifier: MIT */
/*
 * member.c - the relay as a member of the consumer group: it joins, leaves, and joins again.
 *
 * A relay is a static member: Kafka knows it by the name of the owner, and gives it a member id. If the
 * coordinator does not answer for a session, librdkafka forgets the id. A member without a name would then
 * join beside what the coordinator remembers of it, and the group would wait for that one's session to end.
 * A static member takes its own place again.
 *
 * But librdkafka may still send heartbeats under the name, without the id. A coordinator that is back, and
 * remembers the name, takes this for a second member of the same name, and fences it: for the handle, that
 * is the end. No other relay has the name then. So a relay that is fenced without a member id makes a new
 * handle, and joins again; Kafka replaces the member of the same name. A relay with an --instance that is
 * fenced with an id has lost its name to another one, and ends. (A random name cannot be lost.)
 *
 * Kafka keeps the place of a static member for a session after it has ended. A relay with an --instance wants
 * that: it comes back under its name. A random name does not come back: so such a relay gives its place
 * away when it ends.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

/* Two relays of one name may both have lost their ids, and fence each other while they join. The waits
 * grow, so that one gets to the end, and fences the other one for good. */
#define AGAIN_MS 1000
#define AGAIN_MAX 8

#define LEAVE_STEP_MS 50

int htw__member_join(struct htw__kafka *self) {
    if (htw__client_consume(self, HTW__CLIENT_GROUP, htw__group_rebalance, &self->group,
                            &self->group_queue) != 0)
        return -EIO;
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, self->options.input, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(self->group, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (error != 0)
        return htw__kafka_fail(self, "cannot join the group: %s", rd_kafka_err2str(error));
    return 0;
}

static bool has_id(struct htw__kafka *self) {
    char *id = rd_kafka_memberid(self->group);
    bool has = id != NULL && *id != '\0';
    rd_kafka_mem_free(self->group, id);
    return has;
}

static bool is_subscribed(struct htw__kafka *self) {
    rd_kafka_topic_partition_list_t *topics = NULL;
    if (rd_kafka_subscription(self->group, &topics) != 0)
        return false;
    bool is = topics->cnt > 0;
    rd_kafka_topic_partition_list_destroy(topics);
    return is;
}

/* Gives the place in the group away. librdkafka does not do so when a static member is closed, but it does when one
 * has no subscription any more, as soon as no rebalance is under way; then it forgets the member id. */
static void give_away(struct htw__kafka *self) {
    int64_t end_ms = htw__clock_monotonic_ms() + HTW__STOP_MS;
    rd_kafka_unsubscribe(self->group);
    while ((is_subscribed(self) || has_id(self)) && htw__clock_monotonic_ms() < end_ms) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(self->group, LEAVE_STEP_MS);
        if (message != NULL) /* it is not needed any more */
            rd_kafka_message_destroy(message);
    }
}

void htw__member_leave(struct htw__kafka *self) {
    bool keeps_place = self->options.instance != NULL || self->group == NULL ||
                       rd_kafka_fatal_error(self->group, NULL, 0) != 0;
    if (!keeps_place)
        give_away(self);
    htw__client_close(&self->group, &self->group_queue);
}

int htw__member_check(struct htw__kafka *self) {
    char why[512];
    int64_t now_ms = htw__clock_monotonic_ms();
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(self->group, why, sizeof(why));
    if (fatal == 0)
        return 0;
    if (fatal != RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        return htw__kafka_fail(self, "%s", why);
    if ((self->options.instance != NULL && has_id(self)) || self->rejoin.count == AGAIN_MAX)
        return htw__kafka_fail(self, "another relay runs as the same --instance");
    if (self->rejoin.count > 0 &&
        now_ms - self->rejoin.last_ms < (int64_t)AGAIN_MS * self->rejoin.count)
        return 0;
    self->rejoin.count++;
    self->rejoin.last_ms = now_ms;
    htw__kafka_say(self, HTW__LOG_WARNING, "the membership in the group has ended: joining again");
    htw__group_lose(self);
    htw__client_close(&self->group, &self->group_queue);
    return htw__member_join(self);
}
