/* SPDX-License-Identifier: MIT */
/*
 * consumer.c - reads what a relay delivers, each record once, with librdkafka.
 *
 * usage: consumer BROKERS TOPIC GROUP [COUNT]  prints id, key and value of each record; ends after COUNT
 *                                              records, or by SIGTERM or SIGINT
 *
 * With isolation.level=read_committed it never sees what a relay has published in a transaction that was
 * aborted: so each record that the relay takes comes once. A record may still come twice, because
 *
 *   - the program that asked for it did so twice, since it crashed before it knew of its success, and
 *     the first was delivered before the second came;
 *   - the relay runs with --at-least-once, and was killed;
 *   - this consumer was killed after it had handled the record and before it committed the offset.
 *
 * Against the first two it remembers the ids of the last records here. That does not survive a restart:
 * where a double would do harm, keep the ids in the database that the consumer changes, and in the same
 * transaction. consumer.py does so.
 */
#define _POSIX_C_SOURCE 200809L /* sigaction() */
#include <librdkafka/rdkafka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 200
#define ID_SIZE 257 /* an htw-id has at most 256 bytes */
#define REMEMBERED 4096u

static volatile sig_atomic_t is_told_to_stop;

static void stop(int number) {
    (void)number;
    is_told_to_stop = 1;
}

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
        return true;
    fprintf(stderr, "consumer: %s\n", why);
    return false;
}

static rd_kafka_t *subscribe(const char *brokers, const char *topic, const char *group) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    /* An offset is stored when its record was handled; librdkafka commits what was stored. */
    bool is_set = set(conf, "bootstrap.servers", brokers) && set(conf, "group.id", group) &&
                  set(conf, "isolation.level", "read_committed") &&
                  set(conf, "auto.offset.reset", "earliest") &&
                  set(conf, "enable.auto.offset.store", "false");
    rd_kafka_t *client = is_set ? rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why)) : NULL;
    if (client == NULL) {
        rd_kafka_conf_destroy(conf);
        if (is_set)
            fprintf(stderr, "consumer: %s\n", why);
        return NULL;
    }
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(client, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "consumer: %s\n", rd_kafka_err2str(error));
        rd_kafka_destroy(client);
        return NULL;
    }
    return client;
}

/* The htw-id of a record; "" if it has none. */
static void read_id(const rd_kafka_message_t *message, char id[ID_SIZE]) {
    rd_kafka_headers_t *headers;
    const void *value;
    size_t size;
    id[0] = '\0';
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        rd_kafka_header_get_last(headers, "htw-id", &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        value != NULL && size < ID_SIZE) {
        memcpy(id, value, size);
        id[size] = '\0';
    }
}

/* Whether this id came among the last ones; it is remembered. A record without an id is always new. */
static bool is_double(const char *id) {
    static char ids[REMEMBERED][ID_SIZE];
    static unsigned next;
    if (id[0] == '\0')
        return false;
    for (unsigned i = 0; i < REMEMBERED; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    memcpy(ids[next++ % REMEMBERED], id, strlen(id) + 1);
    return false;
}

/* What the program is for. */
static void handle(const rd_kafka_message_t *message, const char *id) {
    printf("%s\t%.*s\t%.*s\n", id, (int)message->key_len, (const char *)message->key,
           (int)message->len, (const char *)message->payload);
    (void)fflush(stdout);
}

int main(int count, char *words[]) {
    if (count != 4 && count != 5) {
        fprintf(stderr, "usage: consumer BROKERS TOPIC GROUP [COUNT]\n");
        return 2;
    }
    long left = count == 5 ? strtol(words[4], NULL, 10) : -1;
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    rd_kafka_t *client = subscribe(words[1], words[2], words[3]);
    if (client == NULL)
        return 1;
    while (left != 0 && !is_told_to_stop) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, POLL_MS);
        if (message == NULL)
            continue;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) { /* librdkafka goes on by itself */
            fprintf(stderr, "consumer: %s\n", rd_kafka_message_errstr(message));
        } else {
            char id[ID_SIZE];
            read_id(message, id);
            if (!is_double(id)) {
                handle(message, id);
                left -= left > 0;
            }
            rd_kafka_offset_store(message->rkt, message->partition, message->offset);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_consumer_close(client); /* commits, and leaves the group */
    rd_kafka_destroy(client);
    return 0;
}
