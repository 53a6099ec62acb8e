/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "htw-bench-purgatory"

enum {
    WORKLOAD = 1,
    THREADS,
    WORKERS,
    SHARDS,
    PER_REQUEST,
    KEYS,
    OWN_KEYS,
    DISTINCT,
    REQUESTS,
    RATE,
    SECONDS,
    WARMUP,
    QUICK,
    HELP
};

static const struct option known[] = {
    { "workload", required_argument, NULL, WORKLOAD },
    { "threads", required_argument, NULL, THREADS },
    { "workers", required_argument, NULL, WORKERS },
    { "shards", required_argument, NULL, SHARDS },
    { "per-request", required_argument, NULL, PER_REQUEST },
    { "keys", required_argument, NULL, KEYS },
    { "own-keys", no_argument, NULL, OWN_KEYS },
    { "distinct", no_argument, NULL, DISTINCT },
    { "requests", required_argument, NULL, REQUESTS },
    { "rate", required_argument, NULL, RATE },
    { "seconds", required_argument, NULL, SECONDS },
    { "warmup", required_argument, NULL, WARMUP },
    { "quick", no_argument, NULL, QUICK },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static void help(void) {
    fputs("usage: " NAME " --workload NAME [OPTION]...\n"
          "  --workload     pair, memory, arrivals, wake or expire\n"
          "  --threads      that submit and complete, in pair and arrivals (1)\n"
          "  --workers      threads of the scheduler that run callbacks (0: the expirer does)\n"
          "  --shards       of the purgatory: a power of two (its own choice)\n"
          "  --per-request  keys that a request stands on, 1 to 8 (2; arrivals 3)\n"
          "  --keys         how many keys there are, in pair and memory (1000)\n"
          "  --own-keys     of pair: so many for each thread\n"
          "  --distinct     of memory: each request has keys of its own\n"
          "  --requests     pending at any time, in pair (1000) and memory (1000000)\n"
          "  --rate         of arrivals: so many a second; else the highest is looked for\n"
          "  --seconds      measured time (2)\n"
          "  --warmup       seconds before it (0.3)\n"
          "  --quick        a quarter of the measured time, a tenth of the requests of memory\n",
          stdout);
}

static void wrong(const char *what, const char *value) {
    fprintf(stderr, NAME ": %s: %s\n", what, value);
    exit(2);
}

static double number(double low, double high, bool whole) {
    char *end;
    errno = 0;
    double value = strtod(optarg, &end);
    if (end == optarg || *end != '\0' || errno != 0 || !(value >= low && value <= high) ||
        (whole && value != (double)(int64_t)value))
        wrong("not a number in the range", optarg);
    return value;
}

static const struct workload *workload_named(const char *name) {
    for (size_t i = 0; workloads[i] != NULL; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    wrong("no such workload", name);
    return NULL;
}

static void set_number(struct options *options, int option) {
    if (option == THREADS)
        options->threads = (int)number(1, 256, true);
    else if (option == WORKERS)
        options->workers = (int)number(0, 256, true);
    else if (option == SHARDS)
        options->shards = (uint32_t)number(1, 65536, true);
    else if (option == PER_REQUEST)
        options->per_request = (unsigned)number(1, KEYS_PER_REQUEST_MAX, true);
    else if (option == KEYS)
        options->keys = (uint64_t)number(1, 10e6, true);
    else if (option == REQUESTS)
        options->requests = (uint64_t)number(1, 10e6, true);
    else if (option == RATE)
        options->rate = number(1, 1e9, false);
    else if (option == SECONDS)
        options->seconds = number(0.01, 3600, false);
    else
        options->warmup = number(0.01, 3600, false);
}

/* Returns whether it was --quick. */
static bool set(struct options *options, int option) {
    switch (option) {
    case WORKLOAD:
        options->workload = workload_named(optarg);
        break;
    case OWN_KEYS:
        options->own_keys = true;
        break;
    case DISTINCT:
        options->distinct = true;
        break;
    case QUICK:
        return true;
    case HELP:
        help();
        exit(0);
    case '?': /* getopt has said what is wrong */
        exit(2);
    default:
        set_number(options, option);
    }
    return false;
}

static void refuse(const struct options *options) {
    const struct workload *workload = options->workload;
    if (workload == NULL)
        wrong("--workload is needed", "--help lists them");
    bool is_pair = strcmp(workload->name, "pair") == 0;
    bool is_memory = strcmp(workload->name, "memory") == 0;
    bool is_arrivals = strcmp(workload->name, "arrivals") == 0;
    if (options->threads != 1 && !workload->many_threads)
        wrong("has one thread", workload->name);
    if ((options->keys != 0 || options->per_request != 0) && !workload->chooses_keys)
        wrong("does not heed --keys and --per-request", workload->name);
    if ((options->own_keys && !is_pair) || (options->distinct && !is_memory))
        wrong("does not heed --own-keys or --distinct", workload->name);
    if (options->requests != 0 && workload->requests == 0)
        wrong("does not heed --requests", workload->name);
    if (options->rate != 0 && !is_arrivals)
        wrong("does not heed --rate", workload->name);
    if (options->seconds != 0 && workload->seconds == 0)
        wrong("does not heed --seconds", workload->name);
    if (options->distinct && options->keys != 0)
        wrong("--distinct and --keys", "not both");
}

static void complete(struct options *options, bool quick) {
    refuse(options);
    const struct workload *workload = options->workload;
    if (options->requests == 0)
        options->requests = quick ? workload->quick_requests : workload->requests;
    if (workload->chooses_keys && options->per_request == 0)
        options->per_request = 2;
    if (options->distinct)
        options->keys = options->requests * options->per_request;
    if (options->keys == 0)
        options->keys = 1000;
    if (options->seconds == 0)
        options->seconds = workload->seconds / (quick ? 4 : 1);
    if (options->warmup == 0)
        options->warmup = quick ? 0.1 : 0.3;
    if (workload->many_threads && workload->requests != 0 &&
        options->requests < (uint64_t)options->threads)
        wrong("not one request for each thread", workload->name);
}

static void name_case(struct options *options) {
    if (options->workload->chooses_keys)
        snprintf(options->case_name, sizeof(options->case_name), "k%u-%llu-of-%s%llu%s",
                 options->per_request, (unsigned long long)options->requests,
                 options->distinct ? "distinct-" : "", (unsigned long long)options->keys,
                 options->own_keys ? "-each" : "");
    char workers[16] = "", shards[16] = "";
    if (options->workers != 0)
        snprintf(workers, sizeof(workers), "-w%d", options->workers);
    if (options->shards != 0)
        snprintf(shards, sizeof(shards), "-s%u", options->shards);
    snprintf(options->peer_name, sizeof(options->peer_name), "htw%s%s", workers, shards);
}

void options_parse(struct options *options, int argc, char **argv) {
    *options = (struct options) { .threads = 1 };
    bool quick = false;
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        quick |= set(options, option);
    if (optind != argc)
        wrong("what is this", argv[optind]);
    complete(options, quick);
    name_case(options);
}
