/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what is measured: htw's journal, SQLite alone, and servers, which the benchmark starts
 * and stops. All files of a peer lie in the working directory.
 */
#ifndef BENCH_JOURNAL_PEER_H
#define BENCH_JOURNAL_PEER_H

#include "load.h"

#include <stdbool.h>
#include <stdint.h>

struct peer {
    const char *name; /* as struct named */
    const char *about;
    bool is_embedded; /* in this process; otherwise a server */
    unsigned clients; /* of cycle */

    /* Starts on what the folder holds, or with nothing. Returns when it answers. `in_flight`: the
       most jobs that callbacks may have received and not ended. */
    void (*start)(const struct peer *peer, size_t in_flight);
    void (*stop)(void); /* properly */

    /* Connections are not closed: the process ends. */
    void *(*connect)(void);

    /* Puts one job. It is durable when this returns. */
    void (*put)(void *connection, int64_t deadline_ns, const char *payload, size_t size);

    /* Puts a job that is ready, leases the first one and ends it, each durable before the next, but the lease
       only if `is_durable`. NULL: the peer has no queues here. */
    void (*pass)(void *connection, const char *payload, size_t size, bool is_durable);

    /*
     * Ends the jobs that the last round has taken, puts as many if load->replaces, and
     * load->put_next besides, and takes up to load->in_flight jobs that are due; all in as few
     * transactions or messages as there can be. Counts what has ended in `load`. (A peer with
     * callbacks only puts load->put_next jobs.)
     */
    void (*round)(void *connection, struct load *load);

    /* Callbacks: end the jobs that are due, and replace them. NULL: the peer has rounds. `load` NULL:
       leave them where they are. */
    void (*receive)(struct load *load);

    uint64_t (*count)(void);      /* jobs in the store */
    uint64_t (*disk_bytes)(void); /* what they take there */
    uint64_t (*resident_bytes)(void);

    /* Lets the log grow from now on, as a backup does that takes long; NULL: there is no such log. */
    void (*hold_log)(void);
};

#endif
