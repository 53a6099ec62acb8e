/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "htw-bench-scheduler"

enum { WORKLOAD = 1, PEER, PRODUCERS, WORKERS, SECONDS, WARMUP, TIMERS, LAG, QUICK, HELP };

static const struct option known[] = {
    { "workload", required_argument, NULL, WORKLOAD },
    { "peer", required_argument, NULL, PEER },
    { "producers", required_argument, NULL, PRODUCERS },
    { "workers", required_argument, NULL, WORKERS },
    { "seconds", required_argument, NULL, SECONDS },
    { "warmup", required_argument, NULL, WARMUP },
    { "timers", required_argument, NULL, TIMERS },
    { "lag", required_argument, NULL, LAG },
    { "quick", no_argument, NULL, QUICK },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static void help(FILE *stream) {
    fputs("usage: " NAME " --workload NAME --peer NAME [OPTION]...\n"
          "  --workload  threads, foreign, headline, lateness, stall, idle, memory or pair\n"
          "  --peer      one of the list below\n"
          "  --producers scheduling threads of threads and foreign (1)\n"
          "  --workers   of htw: threads that run callbacks, 0 to 256 (htw's default)\n"
          "  --seconds   measured time (threads, foreign 5; headline, lateness 10; idle 20)\n"
          "  --warmup    seconds before it (2)\n"
          "  --timers    of stall and memory (1000000)\n"
          "  --lag       of threads: how many timers of a producer are pending (1000)\n"
          "  --quick     a fifth of the measured time and half of the warm-up\n"
          "peers:\n",
          stream);
    for (size_t i = 0; peers[i] != NULL; i++)
        fprintf(stream, "  %-12s %s\n", peers[i]->name, peers[i]->about);
}

static void wrong(const char *what, const char *value) {
    fprintf(stderr, NAME ": %s: %s\n", what, value);
    exit(2);
}

static double number(const char *text, double low, double high, bool whole) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(value >= low && value <= high) ||
        (whole && value != (double)(int64_t)value))
        wrong("not a number in the range", text);
    return value;
}

static const struct workload *workload_named(const char *name) {
    for (size_t i = 0; workloads[i] != NULL; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    return NULL;
}

/* Returns whether it was --quick. */
static bool set(struct options *options, int option) {
    switch (option) {
    case WORKLOAD:
        options->workload = workload_named(optarg);
        if (options->workload == NULL)
            wrong("no such workload", optarg);
        break;
    case PEER:
        options->peer = peer_named(optarg);
        if (options->peer == NULL)
            wrong("no such peer", optarg);
        break;
    case PRODUCERS:
        options->producers = (int)number(optarg, 1, 1024, true);
        break;
    case WORKERS:
        options->workers = (int)number(optarg, 0, 256, true);
        break;
    case SECONDS:
        options->seconds = number(optarg, 0.01, 3600, false);
        break;
    case WARMUP:
        options->warmup = number(optarg, 0.01, 3600, false);
        break;
    case TIMERS:
        options->timers = (uint64_t)number(optarg, 1000, 100e6, true);
        break;
    case LAG:
        options->lag = (int)number(optarg, 1, 1e6, true);
        break;
    case QUICK:
        return true;
    case HELP:
        help(stdout);
        exit(0);
    default: /* getopt has said what is wrong */
        exit(2);
    }
    return false;
}

/* What differs from the peer's own choices, or from the JVM's workload, shows in the name. */
static void name_peer(struct options *options) {
    char workers[16] = "", lag[16] = "";
    if (options->workers >= 0)
        snprintf(workers, sizeof(workers), "-w%d", options->workers);
    if (options->lag > 0)
        snprintf(lag, sizeof(lag), "-lag%d", options->lag);
    snprintf(options->peer_name, sizeof(options->peer_name), "%s%s%s", options->peer->name, workers,
             lag);
}

static void complete(struct options *options, bool quick) {
    if (options->workload == NULL || options->peer == NULL)
        wrong("--workload and --peer are needed", "--help lists them");
    if (options->producers != 1 && !options->workload->many_producers)
        wrong("has one producer", options->workload->name);
    if (options->workers >= 0 && !options->peer->has_workers)
        wrong("has no workers", options->peer->name);
    if (options->timers != 0 && options->workload->timers == 0)
        wrong("does not heed --timers", options->workload->name);
    if (options->lag != 0 && !options->workload->has_lag)
        wrong("does not heed --lag", options->workload->name);
    if (options->seconds == 0)
        options->seconds = options->workload->seconds / (quick ? 5 : 1);
    if (options->warmup == 0)
        options->warmup = quick ? 1 : 2;
    if (options->timers == 0)
        options->timers = quick ? options->workload->quick_timers : options->workload->timers;
    name_peer(options);
}

void options_parse(struct options *options, int argc, char **argv) {
    *options = (struct options) { .producers = 1, .workers = -1 };
    bool quick = false;
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        quick |= set(options, option);
    if (optind != argc)
        wrong("what is this", argv[optind]);
    complete(options, quick);
}
