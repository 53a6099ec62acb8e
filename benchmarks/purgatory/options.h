/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-purgatory asks for. */
#ifndef BENCH_PURGATORY_OPTIONS_H
#define BENCH_PURGATORY_OPTIONS_H

#include "../common/program.h"

/* The most keys of a request. */
#define KEYS_PER_REQUEST_MAX 8

struct options {
    uint64_t threads;
    uint64_t workers;     /* that run callbacks; 0: the expirer does */
    uint64_t per_request; /* keys of a request */
    uint64_t keys;        /* of all requests */
    bool own_keys;        /* of pair: each thread has so many for itself */
    bool distinct;        /* of memory: no two requests share a key */
    uint64_t requests;    /* pending at any time, over all threads */
};

#endif
