/* SPDX-License-Identifier: MIT */
/* options.h - the command line. */
#ifndef BROKER_OPTIONS_H
#define BROKER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define THREADS_MAX 64

struct options {
    const char *bind;
    uint16_t port; /* 0: any free port */
    unsigned threads;
    unsigned max_clients;
    uint64_t max_request; /* bytes of a request */
    uint64_t max_output;  /* bytes of unsent replies from which on a client is throttled */
    uint64_t max_memory;  /* bytes of keys and values, and again of clients; 0: no limit */
    bool reuse_port;      /* other servers may listen on the same port */
    const char *monitor;  /* the path of a socket, "yes": the default one, or NULL */
    const char *journal;  /* the file of LPUSHIN and LPUSHAT, or NULL */
};

/* Parses the command line. Returns false if the program ends, with exit status `ret_status`. */
bool options_parse(struct options *options, int argc, char **argv, int *ret_status);

#endif /* BROKER_OPTIONS_H */
