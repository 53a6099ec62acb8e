/* SPDX-License-Identifier: MIT */
/*
 * producer.c - asks a relay to deliver a record later, or cancels that, with librdkafka.
 *
 * usage: producer BROKERS INPUT DESTINATION at TIME ID KEY VALUE     at TIME
 *        producer BROKERS INPUT DESTINATION after DELAY ID KEY VALUE  after DELAY
 *        producer BROKERS INPUT cancel ID KEY                         not at all
 *
 * TIME is in milliseconds since 1970, and DELAY in milliseconds. The relay takes everything it needs
 * from headers, so this works from any program that can write to Kafka.
 *
 * A second record with the same id replaces the first. It must meet it, as a cancel must: with the same
 * key. That the same key leads to the same partition is a matter of the partitioner, and clients have
 * different ones by default. So this names that of Kafka's Java library, as producer.py and kcat.sh do.
 */
#include <librdkafka/rdkafka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_MS 30000

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
        return true;
    fprintf(stderr, "producer: %s\n", why);
    return false;
}

/* Called by rd_kafka_flush() when the brokers have the record, or have refused it. */
static void note(rd_kafka_t *client, const rd_kafka_message_t *message, void *arg) {
    (void)client;
    *(rd_kafka_resp_err_t *)arg = message->err;
}

static rd_kafka_t *connect_to(const char *brokers, rd_kafka_resp_err_t *result) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    /* Idempotence: what the client sends again after a failure is not written twice. */
    bool is_set =
        set(conf, "bootstrap.servers", brokers) && set(conf, "enable.idempotence", "true") &&
        set(conf, "partitioner", "murmur2_random") && set(conf, "message.timeout.ms", "20000");
    rd_kafka_conf_set_dr_msg_cb(conf, note);
    rd_kafka_conf_set_opaque(conf, result);
    rd_kafka_t *client = is_set ? rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why)) : NULL;
    if (client == NULL)
        rd_kafka_conf_destroy(conf);
    if (is_set && client == NULL)
        fprintf(stderr, "producer: %s\n", why);
    return client;
}

/* Sends one record, and waits until the brokers have it. */
static rd_kafka_resp_err_t send_one(rd_kafka_t *client, const char *topic, const char *key,
                                    char *value, rd_kafka_headers_t *headers,
                                    const rd_kafka_resp_err_t *result) {
    rd_kafka_resp_err_t error = rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, strlen(key)),
        RD_KAFKA_V_VALUE(value, (value == NULL ? 0 : strlen(value))),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers); /* otherwise they are librdkafka's */
    else
        error = rd_kafka_flush(client, PATIENCE_MS);
    return error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : *result;
}

int main(int count, char *words[]) {
    bool is_cancel = count == 6 && strcmp(words[3], "cancel") == 0;
    bool is_delay = count == 9 && strcmp(words[4], "after") == 0;
    if (!is_cancel && !is_delay && !(count == 9 && strcmp(words[4], "at") == 0)) {
        fprintf(stderr, "usage: producer BROKERS INPUT DESTINATION at TIME ID KEY VALUE\n"
                        "       producer BROKERS INPUT DESTINATION after DELAY ID KEY VALUE\n"
                        "       producer BROKERS INPUT cancel ID KEY\n");
        return 2;
    }
    char **rest = &words[is_cancel ? 4 : 6]; /* ID KEY [VALUE] */
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    rd_kafka_header_add(headers, is_cancel ? "htw-cancel" : "htw-id", -1, rest[0], -1);
    if (!is_cancel) {
        rd_kafka_header_add(headers, is_delay ? "htw-delay" : "htw-deliver-at", -1, words[5], -1);
        rd_kafka_header_add(headers, "htw-deliver-to", -1, words[3], -1);
    }

    rd_kafka_resp_err_t result = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_t *client = connect_to(words[1], &result);
    if (client == NULL) {
        rd_kafka_headers_destroy(headers);
        return 1;
    }
    rd_kafka_resp_err_t error =
        send_one(client, words[2], rest[1], is_cancel ? NULL : rest[2], headers, &result);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        fprintf(stderr, "producer: %s\n", rd_kafka_err2str(error));
    rd_kafka_destroy(client);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : 1;
}
