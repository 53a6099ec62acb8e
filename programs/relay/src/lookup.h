/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - asks the brokers in the background which topics there are, and how far the group is.
 *
 * Questions are names, and each gets one answer. One name is asked for by itself. Where many wait (as when records name
 * thousands of topics that do not exist), one request for all topics of the cluster answers all of them, once a second
 * at most. The client is a consumer: unlike a producer's, its questions create no topics.
 *
 * Calls are made by one thread. None waits, except htw__lookup_fini().
 */
#ifndef HTW_RELAY_LOOKUP_H
#define HTW_RELAY_LOOKUP_H

#include "background.h"
#include "destinations.h"

#include <librdkafka/rdkafka.h>

/* So many names in one question: no more. */
#define HTW__LOOKUPS_MAX ((size_t)4096)

struct htw__lookup_item {
    char name[HTW__TOPIC_NAME_SIZE];
    int32_t partitions; /* of an answer: as htw__lookup_now() */
};

/* Offsets that are asked for: what the client's group has committed, the first ones, or the last ones. */
enum htw__lookup_offsets { HTW__LOOKUP_POSITIONS, HTW__LOOKUP_STARTS, HTW__LOOKUP_ENDS };

struct htw__lookup {
    rd_kafka_t *client;
    struct htw__background background;
    struct htw__lookup_item *items;
    size_t count, room;
    int64_t paused_ms; /* when all topics were asked for */
    rd_kafka_topic_partition_list_t *list;
    enum htw__lookup_offsets offsets;
    enum { HTW__LIST_WAITS, HTW__LIST_IS_ASKED, HTW__LIST_IS_KNOWN } list_state;
};

/* The client and the descriptor, which is written to when there are answers, stay the caller's, and outlive it. */
void htw__lookup_init(struct htw__lookup *lookup, rd_kafka_t *client, int event_fd);

/* May wait for a request that no broker answers, for HTW__LOOKUP_MS each. One that is zero may be ended. */
#define HTW__LOOKUP_MS 3000
void htw__lookup_fini(struct htw__lookup *lookup);

/* Whether names can be added now: nothing is asked for, and it is not too soon after a question for all topics. */
bool htw__lookup_is_free(const struct htw__lookup *lookup);

/* Adds a topic to the next question, which has less than HTW__LOOKUPS_MAX. */
void htw__lookup_add(struct htw__lookup *lookup, const char *name);

/* Asks for offsets of partitions, and takes the list over. False: another such question waits, or
 * its answer was not taken; the list stays the caller's. */
bool htw__lookup_ask_offsets(struct htw__lookup *lookup, enum htw__lookup_offsets offsets,
                             rd_kafka_topic_partition_list_t *list);

/* Sends what was added, if nothing is asked for now. */
void htw__lookup_send(struct htw__lookup *lookup);

/* Takes the answers about topics that have come, which stay until the next name is added; returns their number. */
size_t htw__lookup_take(struct htw__lookup *lookup);

/* The list, with an error in each partition that is not known; the caller destroys it. NULL: there is no answer yet. */
rd_kafka_topic_partition_list_t *htw__lookup_take_offsets(struct htw__lookup *lookup,
                                                          enum htw__lookup_offsets *ret_offsets);

/* Asks by another client, and waits for the answer: the number of partitions of a topic; 0: it does not exist; -EACCES: it
 * may not be seen; -EAGAIN: no answer. The client knows the topic from then on. `ret_replicas`: of the first partition; it may
 * be NULL, and is set if there is one. */
int32_t htw__lookup_now(rd_kafka_t *client, const char *name, int timeout_ms,
                        int32_t *ret_replicas);

/* The same for offsets. Returns the error of the answer, or the first one of a partition. */
rd_kafka_resp_err_t htw__lookup_offsets(rd_kafka_t *client, enum htw__lookup_offsets which,
                                        rd_kafka_topic_partition_list_t *list, int timeout_ms);

#endif /* HTW_RELAY_LOOKUP_H */
