/* SPDX-License-Identifier: MIT */
/* program.c - htw-bench-serve: its workloads and options, and the servers that are measured. */
#include "options.h"

#include <unistd.h>

extern const struct workload workload_put, workload_cycle, workload_hand, workload_beside,
    workload_delayed, workload_lateness, workload_waiting;

static const struct workload *const workloads[] = {
    &workload_put,     &workload_cycle,    &workload_hand,    &workload_beside,
    &workload_delayed, &workload_lateness, &workload_waiting, NULL,
};

static const struct named htw = { "htw", "htw serve" };
static const struct named beanstalkd = { "beanstalkd", "beanstalkd 1.12 of Debian" };
static const void *peers[PEERS_MAX] = { &htw, &beanstalkd };

/* Workloads whose `count` are clients. */
#define OF_CLIENTS "put cycle hand waiting"

static struct options options;

static struct bench_option table[] = {
    OPTION_TEXT("serve", NULL, &options.program, "the absolute path of htw-serve"),
    OPTION_TEXT("folder", NULL, &options.folder, "an empty folder for all files"),
    OPTION_FLAG("durable", NULL, &options.is_durable, "what is answered is on the disk"),
    OPTION_COUNT("clients", OF_CLIENTS, &options.clients, 1, 20000,
                 "connections (1; hand 16, waiting 10000)"),
    OPTION_COUNT("count", "delayed beside", &options.count, 1, 100e6,
                 "jobs, or commands of the pipeline (1000000)"),
    OPTION_COUNT("rate", "hand lateness", &options.rate, 1, 10e6,
                 "jobs a second (hand: half of what it can do; lateness 10000)"),
    OPTION_NUMBER("seconds", "put cycle hand lateness waiting", &given.seconds, 0.01, 3600,
                  "measured time (2; lateness 5)"),
    OPTION_NUMBER("warmup", "put cycle hand waiting", &given.warmup, 0.01, 3600,
                  "seconds before the measured time (0.5)"),
    OPTION_FLAG("quick", NULL, &given.is_quick, "a fifth of the times, and fewer jobs"),
    { 0 },
};

static const struct options *read_options(void) {
    options.is_htw = given.peer == &htw;
    if (options.program == NULL && options.is_htw)
        options_wrong("--serve is missing", "the program htw-serve");
    if (options.folder == NULL)
        options_wrong("--folder is missing", "an empty folder for all files");
    if (chdir(options.folder) != 0)
        options_wrong("--folder", strerror(errno));
    if (options.clients == 0)
        options.clients = strstr(OF_CLIENTS, given.workload->name) == NULL ? 1 : given.count;
    if (options.count == 0)
        options.count = given.count;
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"mode\":\"%s\",\"clients\":%u",
                given.workload->name, ((const struct named *)given.peer)->name,
                options.is_durable ? "durable" : "memory", (unsigned)options.clients);
    return &options;
}

const struct program program = {
    .workloads = workloads,
    .table = table,
    .peers = peers,
    .quick = 5,
    .warmup = 0.5,
    .quick_warmup = 0.1,
    .read = read_options,
};
