/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-purgatory asks for. */
#ifndef BENCH_PURGATORY_OPTIONS_H
#define BENCH_PURGATORY_OPTIONS_H

#include "../common/workload.h"

#include <stdbool.h>

/* The most keys of a request. */
#define KEYS_PER_REQUEST_MAX 8

struct options {
    const struct workload *workload;
    char case_name[80]; /* "k2-1000-of-1000" for pair and memory, otherwise empty */
    char
        peer_name[40]; /* "htw", with "-w1" if there is --workers, and "-s4" if there is --shards */
    uint64_t threads;
    uint64_t shards;      /* of the purgatory; 0: its own choice */
    uint64_t workers;     /* that run callbacks; 0: the expirer does */
    uint64_t per_request; /* keys of a request */
    uint64_t keys;        /* of all requests */
    bool own_keys;        /* of pair: each thread has so many for itself */
    bool distinct;        /* of memory: no two requests share a key */
    uint64_t requests;    /* pending at any time, over all threads */
    double rate;          /* of arrivals: so many a second; 0: look for the highest */
    double seconds;
    double warmup;
};

/* Ends the process if the command line is wrong or asks for help. */
void options_read(struct options *options, int argc, char **argv);

#endif
