/* SPDX-License-Identifier: MIT */
/* broker.h - the state that all threads share. */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "options.h"
#include "store.h"

#include <htw/monitor.h>
#include <htw/purgatory.h>

#include <stdatomic.h>

struct loop;

struct broker {
    struct options options;
    /* Both schedulers are embedded: the first loop runs their callbacks. */
    struct htw_scheduler *scheduler;      /* timeouts, expiry, LPUSHIN */
    struct htw_scheduler *wall_scheduler; /* LPUSHAT */
    struct htw_purgatory *purgatory;      /* the requests of blocked clients */
    struct htw_monitor *monitor;          /* NULL: none */
    struct htw_journal *journal;          /* LPUSHIN and LPUSHAT; NULL: they are not in a file */
    struct store store;
    const struct item *served_key; /* set by blocking_serve(); guarded by the store's lock */
    struct loop *loops;            /* options.threads of them; main() runs the first */
    uint16_t port;
    unsigned assigned;                  /* connections so far; only the first loop uses it */
    atomic_uint_fast64_t client_memory; /* see client_memory.h */
    atomic_uint clients;                /* connected */
    atomic_uint blocked_clients;
    atomic_bool is_stopping; /* the program ends */
    atomic_uint_fast64_t last_client_id;
    uint64_t deliveries;        /* pending ones without a journal; guarded by the store's lock */
    uint64_t deliveries_failed; /* the key held a string; guarded by the store's lock */
};

/* Returns false after it has written the reason to stderr. */
bool broker_init(struct broker *broker, const struct options *options);
/* All clients must be closed, and all other threads must have ended. */
void broker_fini(struct broker *broker);

#endif /* BROKER_BROKER_H */
