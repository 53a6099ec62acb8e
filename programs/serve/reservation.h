/* SPDX-License-Identifier: MIT */
/*
 * reservation.h - a job that a connection has reserved, and its time to run.
 *
 * The journal has leased it for ever; what ends the lease is a step of the job, or here its time or the end of its
 * connection. A second before its time it is SOON: a connection that has such a job does not wait for another one.
 */
#ifndef HTW_SERVE_RESERVATION_H
#define HTW_SERVE_RESERVATION_H

#include "server.h"

struct htw__reservation {
    struct htw__key_node node; /* by id */
    struct htw__link link;     /* of the connection; of those that could not be given back */
    htw_handle timer;
    struct htw__connection *connection; /* NULL: it is to be given back */
    struct htw__tube *tube;
    uint64_t id;
    uint32_t attempt;
    bool is_soon;
    bool has_timed_out; /* to be given back: why */
    int64_t ttr_ns, end_ns;
};

struct htw__operation;

/* Makes it of a job that was leased to the operation. False: there is no memory, and the job goes back. */
bool htw__reservation_begin(struct htw__operation *operation);

/* NULL: no connection has reserved the job, or (`connection` is not NULL) another connection has. */
struct htw__reservation *htw__reservation_find(const struct htw__server *server, uint64_t id,
                                               const struct htw__connection *connection);

/* Its time begins again. */
void htw__reservation_touch(struct htw__reservation *reservation);

/* A step has ended it. */
void htw__reservation_end(struct htw__server *server, struct htw__reservation *reservation);

/* The job is READY again. */
void htw__reservation_give_back(struct htw__server *server, struct htw__reservation *reservation,
                                bool has_timed_out);

/* Gives those back for which there was no memory. */
void htw__reservations_retry(struct htw__server *server);

/* How long reservations of a job last; where another program has put it, it may not say that. */
static inline int64_t htw__reservation_ttr(int64_t lease_ns) {
    return lease_ns == 0 ? HTW_MINUTE : lease_ns;
}

#endif /* HTW_SERVE_RESERVATION_H */
