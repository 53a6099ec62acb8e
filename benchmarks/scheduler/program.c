/* SPDX-License-Identifier: MIT */
/* program.c - htw-bench-scheduler: its workloads, peers and options. */
#include "options.h"

#define HTW_CHOICE UINT64_MAX

extern const struct workload workload_threads, workload_foreign, workload_headline,
    workload_lateness, workload_stall, workload_idle, workload_memory, workload_pair,
    workload_scope;
extern const struct peer peer_htw, peer_htw_absolute, peer_htw_100us, peer_htw_fine;
extern const struct peer peer_heap_cond, peer_at_once, peer_libevent;

static const struct workload *const workloads[] = {
    &workload_threads, &workload_foreign, &workload_headline, &workload_lateness, &workload_stall,
    &workload_idle,    &workload_memory,  &workload_pair,     &workload_scope,    NULL,
};

static const void *peers[PEERS_MAX] = {
    &peer_htw,      &peer_htw_absolute, &peer_htw_100us, &peer_htw_fine, &peer_heap_cond,
#ifdef BENCH_WITH_LIBEVENT
    &peer_libevent,
#endif
    &peer_at_once,
};

static struct options options = { .producers = 1 };
static uint64_t workers = HTW_CHOICE;

static struct bench_option table[] = {
    OPTION_COUNT("producers", "threads foreign", &options.producers, 1, 1024,
                 "threads that schedule (1)"),
    OPTION_COUNT("workers", NULL, &workers, 0, 256,
                 "of htw: threads that run callbacks (htw's own choice)"),
    OPTION_NUMBER(
        "seconds", "threads foreign pair headline lateness idle scope", &given.seconds, 0.01, 3600,
        "measured time (threads, foreign, pair 5; headline, lateness 10; idle 20; scope 4)"),
    OPTION_NUMBER("warmup", NULL, &given.warmup, 0.01, 3600,
                  "seconds before the measured time (2)"),
    OPTION_COUNT("timers", "stall memory", &options.timers, 1000, 100e6,
                 "how many timers (1000000)"),
    OPTION_FLAG("quick", NULL, &given.is_quick,
                "a fifth of the measured time and half of the warm-up"),
    { 0 },
};

static const struct options *read_options(void) {
    char workers_part[16] = "";
    options.peer = given.peer;
    if (workers != HTW_CHOICE && !options.peer->has_workers)
        options_wrong("--workers: the peer has none", options.peer->name);
    if (workers != HTW_CHOICE)
        snprintf(workers_part, sizeof(workers_part), "-w%d", (int)workers);
    options.workers = workers == HTW_CHOICE ? -1 : (int)workers;
    if (options.timers == 0)
        options.timers = given.count;
    report_init("\"workload\":\"%s\",\"peer\":\"%s%s\",\"producers\":%u", given.workload->name,
                options.peer->name, workers_part, (unsigned)options.producers);
    return &options;
}

const struct program program = {
    .workloads = workloads,
    .table = table,
    .peers = peers,
    .quick = 5,
    .warmup = 2,
    .quick_warmup = 1,
    .read = read_options,
};
