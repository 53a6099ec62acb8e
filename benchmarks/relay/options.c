/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-relay. */
#include "options.h"

#include "../common/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct options given = { .size = 100 };

static const char *set_brokers(const char *text) {
    given.brokers = text;
    return NULL;
}

static const char *set_topic(const char *text) {
    given.topic = text;
    return NULL;
}

static const char *set_to(const char *text) {
    given.to = text;
    return NULL;
}

static const char *set_steps(const char *text) {
    for (given.step_count = 0; *text != '\0'; given.step_count++) {
        char *end;
        if (given.step_count == STEPS_MAX)
            return "too many";
        given.steps_ms[given.step_count] = strtoull(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0'))
            return "not MS,MS,...";
        text = *end == ',' ? end + 1 : end;
    }
    return given.step_count > 0 ? NULL : "none";
}

static struct bench_option table[] = {
    OPTION_SET("brokers", NULL, set_brokers, "HOST:PORT"),
    OPTION_SET("topic", NULL, set_topic, "where records wait; of a ladder: the start of the names"),
    OPTION_SET("to", "ladder", set_to, "where they are delivered"),
    OPTION_SET("steps", NULL, set_steps, "MS,MS,...: the delays of a ladder, with a topic each"),
    OPTION_COUNT("rate", "load", &given.rate, 0, 1e7, "records a second (0: as fast as it goes)"),
    OPTION_COUNT("count", "load", &given.count, 0, 1e9,
                 "records (0: until the end of standard input)"),
    OPTION_COUNT("size", "load", &given.size, 16, 1e6, "bytes of key and value (100)"),
    OPTION_COUNT("delay-min", "load", &given.delay_min_ms, 0, 1e12, "ms (0)"),
    OPTION_COUNT("delay-max", "load", &given.delay_max_ms, 0, 1e12, "ms (0)"),
    OPTION_FLAG("ids", "load", &given.has_ids, "give each record a htw-id"),
    OPTION_FLAG("at-least-once", "ladder", &given.at_least_once, "without transactions"),
    { 0 },
};

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, NULL, argc, argv);
    if (given.brokers == NULL || given.topic == NULL)
        options_wrong("--brokers, --topic", "one is missing");
    if (given.delay_max_ms < given.delay_min_ms)
        options_wrong("--delay-max", "less than --delay-min");
    *options = given;
}

void options_step_topic(const struct options *options, uint64_t step, char name[256]) {
    snprintf(name, 256, "%.200s.%" PRIu64, options->topic, options->steps_ms[step]);
}
