/* SPDX-License-Identifier: MIT */
/* program.c - htw-bench-purgatory: its workloads and options. */
#include "options.h"

extern const struct workload workload_pair, workload_memory, workload_arrivals, workload_wake,
    workload_expire;

static const struct workload *const workloads[] = {
    &workload_pair, &workload_memory, &workload_arrivals, &workload_wake, &workload_expire, NULL,
};

static struct options options = { .threads = 1 };

static struct bench_option table[] = {
    OPTION_COUNT("threads", "pair arrivals", &options.threads, 1, 256,
                 "that submit and complete (1)"),
    OPTION_COUNT("workers", NULL, &options.workers, 0, 256,
                 "threads of the scheduler that run callbacks (0: the expirer does)"),
    OPTION_COUNT("per-request", "pair memory", &options.per_request, 1, KEYS_PER_REQUEST_MAX,
                 "keys of a request (2)"),
    OPTION_COUNT("keys", "pair memory", &options.keys, 1, 10e6, "how many keys there are (1000)"),
    OPTION_FLAG("own-keys", "pair", &options.own_keys, "each thread has so many keys for itself"),
    OPTION_FLAG("distinct", "memory", &options.distinct, "each request has keys of its own"),
    OPTION_COUNT("requests", "pair memory", &options.requests, 1, 10e6,
                 "pending at any time (pair 1000; memory 1000000)"),
    OPTION_NUMBER("seconds", "pair arrivals wake expire", &given.seconds, 0.01, 3600,
                  "measured time (arrivals 1.5; others 2)"),
    OPTION_NUMBER("warmup", NULL, &given.warmup, 0.01, 3600,
                  "seconds before the measured time (0.3)"),
    OPTION_FLAG("quick", NULL, &given.is_quick,
                "a quarter of the measured time, a tenth of the requests of memory"),
    { 0 },
};

/* Of the workloads that choose keys; the others have no count. */
static void set_keys(char *case_name, size_t size) {
    if (options.distinct && options.keys != 0)
        options_wrong("--distinct and --keys", "not both");
    if (options.requests == 0)
        options.requests = given.count;
    if (options.requests < options.threads)
        options_wrong("--requests: fewer than threads", given.workload->name);
    if (options.per_request == 0)
        options.per_request = 2;
    if (options.keys == 0)
        options.keys = options.distinct ? options.requests * options.per_request : 1000;
    snprintf(case_name, size, "k%llu-%llu-of-%s%llu%s", (unsigned long long)options.per_request,
             (unsigned long long)options.requests, options.distinct ? "distinct-" : "",
             (unsigned long long)options.keys, options.own_keys ? "-each" : "");
}

static const struct options *read_options(void) {
    char case_name[80] = "", workers[16] = "";
    if (given.count != 0)
        set_keys(case_name, sizeof(case_name));
    if (options.workers != 0)
        snprintf(workers, sizeof(workers), "-w%d", (int)options.workers);
    report_init("\"workload\":\"%s\",\"case\":\"%s\",\"peer\":\"htw%s\",\"threads\":%u",
                given.workload->name, case_name, workers, (unsigned)options.threads);
    return &options;
}

const struct program program = {
    .workloads = workloads,
    .table = table,
    .quick = 4,
    .warmup = 0.3,
    .quick_warmup = 0.1,
    .read = read_options,
};
