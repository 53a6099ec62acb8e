/* SPDX-License-Identifier: MIT */
/* lookup.c - asks brokers which topics there are, and for offsets. */
#include "lookup.h"

#include <errno.h>

int32_t htw__lookup_partitions(const rd_kafka_metadata_topic_t *topic) {
    switch ((int)topic->err) { /* of more than a hundred */
    case 0:
        return topic->partition_cnt;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return 0;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return -EACCES;
    default:
        return -EAGAIN;
    }
}

int32_t htw__lookup_now(rd_kafka_t *client, const char *name, int timeout_ms,
                        int32_t *ret_replicas) {
    int32_t count = -EAGAIN;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    if (topic == NULL)
        return 0; /* no topic can have such a name */
    const struct rd_kafka_metadata *metadata = NULL;
    if (rd_kafka_metadata(client, 0, topic, &metadata, timeout_ms) == 0 && metadata->topic_cnt == 1)
        count = htw__lookup_partitions(&metadata->topics[0]);
    if (count > 0 && ret_replicas != NULL)
        *ret_replicas = metadata->topics[0].partitions[0].replica_cnt;
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return count;
}

rd_kafka_resp_err_t htw__lookup_offsets(rd_kafka_t *client, enum htw__lookup_offsets which,
                                        rd_kafka_topic_partition_list_t *list, int timeout_ms) {
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset =
            which == HTW__LOOKUP_STARTS ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t error = which == HTW__LOOKUP_POSITIONS
                                    ? rd_kafka_committed(client, list, timeout_ms)
                                    : rd_kafka_offsets_for_times(client, list, timeout_ms);
    for (int i = 0; i < list->cnt && error == 0; i++)
        error = list->elems[i].err;
    return error;
}
