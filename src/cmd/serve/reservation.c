/* SPDX-License-Identifier: MIT */
/* reservation.c - the life of a reservation. */
#include "reservation.h"

#include "operation.h"
#include "tube.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define SOON_NS HTW_SECOND
#define RETRY_NS HTW_SECOND

static void set_soon(struct htw__reservation *reservation, bool is_soon) {
    if (reservation->is_soon != is_soon)
        reservation->connection->soon += is_soon ? 1 : (size_t)-1;
    reservation->is_soon = is_soon;
}

static void ring(struct htw__server *server, struct htw__serve_timer *timer);

void htw__reservation_begin(struct htw__operation *operation) {
    struct htw__server *server = operation->server;
    struct htw__reservation *reservation = operation->reservation;
    operation->reservation = NULL;
    reservation->timer.ring = ring;
    reservation->connection = operation->connection;
    reservation->id = operation->id;
    reservation->attempt = operation->attempt;
    htw__key_node_set(&reservation->node,
                      htw__key_hash(&reservation->id, sizeof(reservation->id), server->seed),
                      &reservation->id, sizeof(reservation->id));
    htw__key_table_insert(&server->reservations, &reservation->node);
    htw__ring_push_back(&reservation->connection->reservations, &reservation->link);
    if (operation->found == NULL) { /* no memory for its body */
        htw__reservation_give_back(server, reservation, false);
        return;
    }
    reservation->tube = htw__tube_get(server, operation->found->tube);
    if (reservation->tube != NULL)
        reservation->tube->holders++;
    reservation->ttr_ns = htw__reservation_ttr(operation->found->info.lease_ns);
    htw__reservation_touch(server, reservation);
}

struct htw__reservation *htw__reservation_find(const struct htw__server *server, uint64_t id,
                                               const struct htw__connection *connection) {
    struct htw__key_node *node = htw__key_table_find(
        &server->reservations, htw__key_hash(&id, sizeof(id), server->seed), &id, sizeof(id));
    struct htw__reservation *reservation = (struct htw__reservation *)(void *)node;
    return reservation != NULL && (connection == NULL || reservation->connection == connection)
               ? reservation
               : NULL;
}

void htw__reservation_touch(struct htw__server *server, struct htw__reservation *reservation) {
    int64_t now = htw__server_now();
    reservation->end_ns = now + reservation->ttr_ns;
    set_soon(reservation, reservation->ttr_ns <= SOON_NS);
    htw__server_set_timer(server, &reservation->timer,
                          reservation->end_ns - (reservation->is_soon ? 0 : SOON_NS));
}

static void leave(struct htw__server *server, struct htw__reservation *reservation) {
    struct htw__tube *tube = reservation->tube;
    set_soon(reservation, false);
    htw__key_table_remove(&server->reservations, &reservation->node);
    htw__link_unlink(&reservation->link);
    htw_wheel_cancel(server->wheel, &reservation->timer.timer);
    reservation->connection = NULL;
    reservation->tube = NULL;
    if (tube != NULL) {
        tube->holders--;
        htw__tube_release(server, tube);
    }
}

void htw__reservation_end(struct htw__server *server, struct htw__reservation *reservation) {
    leave(server, reservation);
    free(reservation);
}

/* Tries again where there is no memory for the change. */
static void give_back(struct htw__server *server, struct htw__reservation *reservation) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = reservation->id;
    update.step = HTW_JOB_EXTEND;
    update.attempt = reservation->attempt;
    update.deadline_ns = reservation->has_timed_out ? 1 : INT64_MIN;
    int error = htw_journal_update_later(server->journal, &update, NULL, NULL);
    if (error == -ENOMEM || error == -EAGAIN)
        htw__server_set_timer(server, &reservation->timer, htw__server_now() + RETRY_NS);
    else
        free(reservation);
}

void htw__reservation_give_back(struct htw__server *server, struct htw__reservation *reservation,
                                bool has_timed_out) {
    reservation->has_timed_out = has_timed_out;
    leave(server, reservation);
    give_back(server, reservation);
}

/* A second before its time, at that, and where it could not be given back. */
static void ring(struct htw__server *server, struct htw__serve_timer *timer) {
    struct htw__reservation *reservation =
        (struct htw__reservation *)(void *)((char *)timer -
                                            offsetof(struct htw__reservation, timer));
    if (reservation->connection == NULL) {
        give_back(server, reservation);
    } else if (!reservation->is_soon) {
        set_soon(reservation, true);
        htw__server_set_timer(server, &reservation->timer, reservation->end_ns);
        htw__operation_end_wait(reservation->connection, HTW__WAIT_DEADLINE_SOON);
    } else {
        server->timeouts++;
        htw__reservation_give_back(server, reservation, true);
    }
}
