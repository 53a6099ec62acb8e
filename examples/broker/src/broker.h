/* SPDX-License-Identifier: MIT */
/* broker.h - what all threads share. */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "options.h"
#include "store.h"

#include <htw/purgatory.h>

#include <stdatomic.h>

struct loop;

struct broker {
    struct options options;
    /* Both are embedded in the first loop: their callbacks run between two rounds of it. */
    struct htw_scheduler *scheduler;      /* time-outs, expiry, LPUSHIN */
    struct htw_scheduler *wall_scheduler; /* LPUSHAT */
    struct htw_purgatory *purgatory;      /* the clients that are blocked */
    struct store store;
    const struct item *served; /* see blocking_serve(); guarded by the store's lock */
    struct loop *loops;        /* options.threads of them; the first is run by main() */
    uint16_t port;
    unsigned dealt; /* connections, to the loops in turn; only the first loop's thread uses it */
    atomic_uint_fast64_t client_memory; /* see memory.h */
    atomic_uint clients;
    atomic_uint waiting;  /* of these, blocked */
    atomic_bool draining; /* the program is about to end */
    atomic_uint_fast64_t last_client_id;
    uint64_t deliveries;        /* that are to come; guarded by the store's lock */
    uint64_t deliveries_failed; /* the key held no list; the same */
};

/* false: said why on stderr. */
bool broker_init(struct broker *broker, const struct options *options);
/* All clients must be gone and all threads have ended. */
void broker_fini(struct broker *broker);

#endif /* BROKER_BROKER_H */
