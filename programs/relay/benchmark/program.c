/* SPDX-License-Identifier: MIT */
/*
 * program.c - htw-bench-relay: what the benchmark of the relay needs besides the relay, in C so that it takes little of
 * the machine: a producer, and a fixed ladder of delay topics.
 */
#include "../../../benchmarks/common/report.h"
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct workload *const workloads[] = { &workload_load, &workload_ladder, NULL };

static struct options options = { .size = 100 };

static const char *set_steps(const char *text) {
    for (options.step_count = 0; *text != '\0'; options.step_count++) {
        char *end;
        if (options.step_count == STEPS_MAX)
            return "too many";
        options.steps_ms[options.step_count] = strtoull(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0'))
            return "not MS,MS,...";
        text = *end == ',' ? end + 1 : end;
    }
    return options.step_count > 0 ? NULL : "none";
}

static struct bench_option table[] = {
    OPTION_TEXT("brokers", NULL, &options.brokers, "HOST:PORT"),
    OPTION_TEXT("topic", NULL, &options.topic,
                "where records wait; of a ladder: the start of the names"),
    OPTION_TEXT("to", "ladder", &options.to, "where they are delivered"),
    OPTION_SET("steps", NULL, set_steps, "MS,MS,...: the delays of a ladder, with a topic each"),
    OPTION_COUNT("rate", "load", &options.rate, 0, 1e7, "records a second (0: as fast as it goes)"),
    OPTION_COUNT("count", "load", &options.count, 0, 1e9,
                 "records (0: until the end of standard input)"),
    OPTION_COUNT("size", "load", &options.size, 16, 1e6, "bytes of key and value (100)"),
    OPTION_COUNT("delay-min", "load", &options.delay_min_ms, 0, 1e12, "ms (0)"),
    OPTION_COUNT("delay-max", "load", &options.delay_max_ms, 0, 1e12, "ms (0)"),
    OPTION_FLAG("at-least-once", "ladder", &options.at_least_once, "without transactions"),
    { 0 },
};

static const struct options *read_options(void) {
    if (options.brokers == NULL || options.topic == NULL)
        options_wrong("--brokers, --topic", "one is missing");
    if (options.delay_max_ms < options.delay_min_ms)
        options_wrong("--delay-max", "less than --delay-min");
    report_init("\"workload\":\"%s\"", given.workload->name);
    return &options;
}

const struct program program = {
    .workloads = workloads, .table = table, .quick = 1, .read = read_options
};

static void acknowledge(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    (void)producer, (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        report_failure("a record was not taken: %s", rd_kafka_err2str(message->err));
}

rd_kafka_t *client_open(const struct options *of, rd_kafka_type_t type,
                        const char *const properties[][2]) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", of->brokers, NULL, 0);
    for (; (*properties)[0] != NULL; properties++)
        if (rd_kafka_conf_set(conf, (*properties)[0], (*properties)[1], why, sizeof(why)) !=
            RD_KAFKA_CONF_OK)
            report_failure("%s", why);
    if (type == RD_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(conf, acknowledge);
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof(why));
    if (client == NULL)
        report_failure("%s", why);
    return client;
}

void options_step_topic(const struct options *of, uint64_t step, char name[256]) {
    snprintf(name, 256, "%.200s.%" PRIu64, of->topic, of->steps_ms[step]);
}
