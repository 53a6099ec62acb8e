/* SPDX-License-Identifier: MIT */
/*
 * suspend.c - suspends a relay at the worst moment (LD_PRELOAD): when it has published records, and is
 * about to commit the positions that they came from.
 *
 * It does so once, when the file HTW_SUSPEND exists, and in a transaction with a record for a topic
 * whose name begins with HTW_SUSPEND_AFTER. With HTW_NAMELESS the name of the owner is cut from what it commits, so
 * that a successor cannot end its transactions.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

/* The producer that has published such a record since its last commit. One thread produces, others commit. */
static rd_kafka_t *_Atomic published;

typedef rd_kafka_error_t *produce(rd_kafka_t *producer, const rd_kafka_vu_t *parts, size_t count);

rd_kafka_error_t *rd_kafka_produceva(rd_kafka_t *producer, const rd_kafka_vu_t *parts,
                                     size_t count) {
    static produce *real;
    const char *topic = getenv("HTW_SUSPEND_AFTER");
    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "rd_kafka_produceva");
        memcpy(&real, &symbol, sizeof(real));
    }
    for (size_t i = 0; i < count && topic != NULL; i++)
        if (parts[i].vtype == RD_KAFKA_VTYPE_TOPIC &&
            strncmp(parts[i].u.cstr, topic, strlen(topic)) == 0)
            published = producer;
    return real(producer, parts, count);
}

/* A text of a stripe (progress.h) loses the name of the owner. */
static rd_kafka_topic_partition_list_t *
make_nameless(const rd_kafka_topic_partition_list_t *offsets) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(offsets);
    for (int i = 0; i < list->cnt; i++) {
        const char *text = list->elems[i].metadata;
        int blanks = 0;
        if (list->elems[i].metadata_size < 6 || memcmp(text, "htw-st", 6) != 0)
            continue;
        for (size_t at = 0; at < list->elems[i].metadata_size; at++)
            if (text[at] == ' ' && ++blanks == 8)
                list->elems[i].metadata_size = at;
    }
    return list;
}

typedef rd_kafka_error_t *send_offsets(rd_kafka_t *producer,
                                       const rd_kafka_topic_partition_list_t *offsets,
                                       const rd_kafka_consumer_group_metadata_t *member,
                                       int timeout_ms);

rd_kafka_error_t *rd_kafka_send_offsets_to_transaction(
    rd_kafka_t *producer, const rd_kafka_topic_partition_list_t *offsets,
    const rd_kafka_consumer_group_metadata_t *member, int timeout_ms) {
    const char *flag = getenv("HTW_SUSPEND");
    void *symbol = dlsym(RTLD_NEXT, "rd_kafka_send_offsets_to_transaction");
    send_offsets *real;
    memcpy(&real, &symbol, sizeof(real));
    if (published == producer) {
        published = NULL;
        if (flag != NULL && unlink(flag) == 0)
            raise(SIGSTOP);
    }
    if (getenv("HTW_NAMELESS") == NULL)
        return real(producer, offsets, member, timeout_ms);
    rd_kafka_topic_partition_list_t *list = make_nameless(offsets);
    rd_kafka_error_t *error = real(producer, list, member, timeout_ms);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}
