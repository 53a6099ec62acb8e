/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-purgatory. */
#include "options.h"

#include "../common/options.h"

#include <stdio.h>

static struct options given = { .threads = 1 };
static bool is_quick;

static struct bench_option table[] = {
    OPTION_COUNT("threads", "pair arrivals", &given.threads, 1, 256,
                 "that submit and complete (1)"),
    OPTION_COUNT("workers", NULL, &given.workers, 0, 256,
                 "threads of the scheduler that run callbacks (0: the expirer does)"),
    OPTION_COUNT("shards", NULL, &given.shards, 1, 65536,
                 "of the purgatory: a power of two (its own choice)"),
    OPTION_COUNT("per-request", "pair memory", &given.per_request, 1, KEYS_PER_REQUEST_MAX,
                 "keys of a request (2)"),
    OPTION_COUNT("keys", "pair memory", &given.keys, 1, 10e6, "how many keys there are (1000)"),
    OPTION_FLAG("own-keys", "pair", &given.own_keys, "each thread has so many keys for itself"),
    OPTION_FLAG("distinct", "memory", &given.distinct, "each request has keys of its own"),
    OPTION_COUNT("requests", "pair memory", &given.requests, 1, 10e6,
                 "pending at any time (pair 1000; memory 1000000)"),
    OPTION_NUMBER("rate", "arrivals", &given.rate, 1, 1e9,
                  "requests a second (looks for the highest)"),
    OPTION_NUMBER("seconds", "pair arrivals wake expire", &given.seconds, 0.01, 3600,
                  "measured time (arrivals 1.5; others 2)"),
    OPTION_NUMBER("warmup", NULL, &given.warmup, 0.01, 3600,
                  "seconds before the measured time (0.3)"),
    OPTION_FLAG("quick", NULL, &is_quick,
                "a quarter of the measured time, a tenth of the requests of memory"),
    { 0 },
};

/* Of the workloads that choose keys; the others have no count. */
static void set_keys(void) {
    const struct workload *workload = given.workload;
    if (given.distinct && given.keys != 0)
        options_wrong("--distinct and --keys", "not both");
    if (given.requests == 0)
        given.requests = is_quick ? workload->quick_count : workload->count;
    if (given.requests < given.threads)
        options_wrong("--requests: fewer than threads", workload->name);
    if (given.per_request == 0)
        given.per_request = 2;
    if (given.keys == 0)
        given.keys = given.distinct ? given.requests * given.per_request : 1000;
    snprintf(given.case_name, sizeof(given.case_name), "k%llu-%llu-of-%s%llu%s",
             (unsigned long long)given.per_request, (unsigned long long)given.requests,
             given.distinct ? "distinct-" : "", (unsigned long long)given.keys,
             given.own_keys ? "-each" : "");
}

static void name_peer(void) {
    char workers[16] = "", shards[16] = "";
    if (given.workers != 0)
        snprintf(workers, sizeof(workers), "-w%d", (int)given.workers);
    if (given.shards != 0)
        snprintf(shards, sizeof(shards), "-s%d", (int)given.shards);
    snprintf(given.peer_name, sizeof(given.peer_name), "htw%s%s", workers, shards);
}

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, NULL, argc, argv);
    if (given.workload->count != 0)
        set_keys();
    if (given.seconds == 0)
        given.seconds = given.workload->seconds / (is_quick ? 4 : 1);
    if (given.warmup == 0)
        given.warmup = is_quick ? 0.1 : 0.3;
    name_peer();
    *options = given;
}
