/* SPDX-License-Identifier: MIT */
/* lookup.h - asks brokers which topics there are, and for offsets, and waits for the answer. Any thread may ask. */
#ifndef HTW_RELAY_LOOKUP_H
#define HTW_RELAY_LOOKUP_H

#include <librdkafka/rdkafka.h>

/* What the answer says of a topic: its partitions; 0: it does not exist; -EACCES: it may not be seen; -EAGAIN: no answer. */
int32_t htw__lookup_partitions(const rd_kafka_metadata_topic_t *topic);

/* Asks for a topic; returns the same. The client knows the topic from then on; but a consumer's question creates none.
 * `ret_replicas`: of the first partition; it may be NULL, and is set if there is one. */
int32_t htw__lookup_now(rd_kafka_t *client, const char *name, int timeout_ms,
                        int32_t *ret_replicas);

/* Offsets that are asked for: what the client's group has committed, the first ones, or the last ones. */
enum htw__lookup_offsets { HTW__LOOKUP_POSITIONS, HTW__LOOKUP_STARTS, HTW__LOOKUP_ENDS };

/* Asks for them. Returns the error of the answer, or the first one of a partition. */
rd_kafka_resp_err_t htw__lookup_offsets(rd_kafka_t *client, enum htw__lookup_offsets which,
                                        rd_kafka_topic_partition_list_t *list, int timeout_ms);

#endif /* HTW_RELAY_LOOKUP_H */
