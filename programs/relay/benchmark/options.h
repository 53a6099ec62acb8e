/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-relay asks for. */
#ifndef BENCH_RELAY_OPTIONS_H
#define BENCH_RELAY_OPTIONS_H

#include "../../../benchmarks/common/program.h"

#include <librdkafka/rdkafka.h>

#define STEPS_MAX 16

struct options {
    const char *brokers;
    const char *topic;
    const char *to; /* of ladder: the destination */
    uint64_t rate;  /* records a second; 0: as fast as they are taken */
    uint64_t count; /* records in all; 0: until the end of standard input */
    uint64_t size;  /* of key and value together */
    uint64_t delay_min_ms, delay_max_ms;
    uint64_t steps_ms[STEPS_MAX]; /* the delays of a ladder, a topic each */
    uint64_t step_count;
    bool at_least_once;
};

/* The topic of a delay of the ladder. */
void options_step_topic(const struct options *options, uint64_t step, char name[256]);

/* A client with these properties, up to a name that is NULL. A record that is not taken ends the program. */
rd_kafka_t *client_open(const struct options *options, rd_kafka_type_t type,
                        const char *const properties[][2]);

extern const struct workload workload_load, workload_ladder;

#endif
