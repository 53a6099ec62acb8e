/* SPDX-License-Identifier: MIT */
/* options.h - what the command line asks for. */
#ifndef BENCH_PURGATORY_OPTIONS_H
#define BENCH_PURGATORY_OPTIONS_H

#include "workload.h"

/* The most keys that a request of a workload stands on. */
#define KEYS_PER_REQUEST_MAX 8

struct options {
    const struct workload *workload;
    char case_name[60]; /* "k2-1000-of-1000": what was chosen where there is a choice */
    char peer_name[40]; /* "htw", with "-w1" where --workers was given, and so on */
    int threads;
    uint32_t shards;      /* of the purgatory; 0: its own choice */
    int workers;          /* that run callbacks; 0: the expirer does */
    unsigned per_request; /* keys a request stands on */
    uint64_t keys;        /* that there are */
    bool own_keys;        /* of pair: each thread has as many for itself */
    bool distinct;        /* of memory: no two requests share one */
    uint64_t requests;    /* pending at any time, over all threads */
    double rate;          /* of arrivals: only this many a second; 0: look for the highest */
    double seconds;
    double warmup;
};

/* Ends the process when the command line is wrong, or asks for help. */
void options_parse(struct options *options, int argc, char **argv);

#endif
