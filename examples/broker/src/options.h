/* SPDX-License-Identifier: MIT */
/* options.h - the command line. */
#ifndef BROKER_OPTIONS_H
#define BROKER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define THREADS_MAX 64

struct options {
    const char *bind;
    uint16_t port; /* 0: any that is free */
    unsigned threads;
    unsigned max_clients;
    uint64_t max_request; /* bytes of one request */
    uint64_t max_output;  /* bytes of replies not taken, from which on a client must wait */
    uint64_t max_memory;  /* bytes of keys and values, and of clients; 0: no limit */
    bool reuse_port;      /* others may listen on the port, too */
};

/* Reads the command line; false: the program is to end with `ret_status`. */
bool options_parse(struct options *options, int argc, char **argv, int *ret_status);

#endif /* BROKER_OPTIONS_H */
