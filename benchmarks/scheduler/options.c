/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-scheduler. */
#include "options.h"

#include "../common/options.h"

#include <stdio.h>

#define HTW_CHOICE UINT64_MAX

static struct options given = { .producers = 1 };
static uint64_t workers = HTW_CHOICE;
static bool is_quick;

static const char *set_peer(const char *name) {
    given.peer = peer_named(name);
    return given.peer == NULL ? "no such peer" : NULL;
}

static struct bench_option table[] = {
    OPTION_SET("peer", NULL, set_peer, "one of the list below"),
    OPTION_COUNT("producers", "threads foreign", &given.producers, 1, 1024,
                 "threads that schedule (1)"),
    OPTION_COUNT("workers", NULL, &workers, 0, 256,
                 "of htw: threads that run callbacks (htw's own choice)"),
    OPTION_NUMBER("seconds", "threads foreign pair headline lateness idle", &given.seconds, 0.01,
                  3600, "measured time (threads, foreign, pair 5; headline, lateness 10; idle 20)"),
    OPTION_NUMBER("warmup", NULL, &given.warmup, 0.01, 3600,
                  "seconds before the measured time (2)"),
    OPTION_COUNT("timers", "stall memory", &given.timers, 1000, 100e6, "how many timers (1000000)"),
    OPTION_COUNT("lag", "threads", &given.lag, 1, 1e6, "pending timers of a producer (1000)"),
    OPTION_FLAG("quick", NULL, &is_quick, "a fifth of the measured time and half of the warm-up"),
    { 0 },
};

static void print_peers(void) {
    puts("\npeers:");
    for (size_t i = 0; peers[i] != NULL; i++)
        options_print_named(peers[i]->name, peers[i]->about);
}

static void set_defaults(void) {
    char workers_part[16] = "", lag_part[16] = "";
    if (workers != HTW_CHOICE)
        snprintf(workers_part, sizeof(workers_part), "-w%d", (int)workers);
    if (given.lag != 0)
        snprintf(lag_part, sizeof(lag_part), "-lag%d", (int)given.lag);
    snprintf(given.peer_name, sizeof(given.peer_name), "%s%s%s", given.peer->name, workers_part,
             lag_part);
    given.workers = workers == HTW_CHOICE ? -1 : (int)workers;
    if (given.lag == 0)
        given.lag = 1000;
    if (given.seconds == 0)
        given.seconds = given.workload->seconds / (is_quick ? 5 : 1);
    if (given.warmup == 0)
        given.warmup = is_quick ? 1 : 2;
    if (given.timers == 0)
        given.timers = is_quick ? given.workload->quick_count : given.workload->count;
}

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, print_peers, argc, argv);
    if (given.peer == NULL)
        options_wrong("--peer is missing", "--help lists the peers");
    if (workers != HTW_CHOICE && !given.peer->has_workers)
        options_wrong("--workers: the peer has none", given.peer->name);
    set_defaults();
    *options = given;
}
