/* SPDX-License-Identifier: MIT */
/*
 * mock.c - runs the mock cluster of librdkafka: brokers in memory, which know topics, groups and
 * offsets well enough for --at-least-once, on the loopback address. For machines without Java.
 *
 * usage: mock BROKERS TOPIC:PARTITIONS...  prints the addresses, and ends with its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

int main(int count, char **words) {
    char error[256], letter;
    if (count < 2) {
        fprintf(stderr, "usage: mock BROKERS TOPIC:PARTITIONS...\n");
        return 2;
    }
    rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof(error));
    if (host == NULL) {
        fprintf(stderr, "mock: %s\n", error);
        return 1;
    }
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, atoi(words[1]));
    int status = 0;
    for (int i = 2; i < count && status == 0; i++) {
        char *colon = strchr(words[i], ':');
        if (colon != NULL)
            *colon = '\0';
        if (colon == NULL || rd_kafka_mock_topic_create(cluster, words[i], atoi(colon + 1), 1) !=
                                 RD_KAFKA_RESP_ERR_NO_ERROR) {
            fprintf(stderr, "mock: cannot create topic %s\n", words[i]);
            status = 1;
        }
    }
    if (status == 0) {
        printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
        fflush(stdout);
        while (read(STDIN_FILENO, &letter, 1) > 0)
            continue;
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
    return status;
}
