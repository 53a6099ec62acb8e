/* SPDX-License-Identifier: MIT */
/* reservation.c - the life of a reservation. */
#include "reservation.h"

#include "operation.h"
#include "tube.h"

#include <errno.h>
#include <stdlib.h>

#define SOON_NS HTW_SECOND

static void set_soon(struct htw__reservation *reservation, bool is_soon) {
    if (reservation->is_soon != is_soon)
        reservation->connection->soon += is_soon ? 1 : (size_t)-1;
    reservation->is_soon = is_soon;
}

/* Its time begins. Returns how long it is until its timer must ring. */
static int64_t renew(struct htw__reservation *reservation) {
    bool is_soon = reservation->ttr_ns <= SOON_NS;
    reservation->end_ns = htw__clock_boottime_ns() + reservation->ttr_ns;
    set_soon(reservation, is_soon);
    return reservation->ttr_ns - (is_soon ? 0 : SOON_NS);
}

static htw_callback ring;

bool htw__reservation_begin(struct htw__operation *operation) {
    struct htw__server *server = operation->server;
    struct htw__reservation *reservation = operation->reservation;
    operation->reservation = NULL;
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
        return false;
    }
    reservation->tube = htw__tube_get(server, operation->found->tube);
    if (reservation->tube != NULL)
        reservation->tube->holders++;
    reservation->ttr_ns = htw__reservation_ttr(operation->found->info.lease_ns);
    bool has_timer =
        htw_schedule_here(server->scheduler, renew(reservation), HTW_HERE(ring, "time to run"),
                          reservation, &reservation->timer) == 0;
    if (!has_timer)
        htw__reservation_give_back(server, reservation, false);
    return has_timer;
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

void htw__reservation_touch(struct htw__reservation *reservation) {
    (void)htw_reschedule(reservation->connection->server->scheduler, reservation->timer,
                         renew(reservation));
}

static void leave(struct htw__server *server, struct htw__reservation *reservation) {
    struct htw__tube *tube = reservation->tube;
    set_soon(reservation, false);
    htw__key_table_remove(&server->reservations, &reservation->node);
    htw__link_unlink(&reservation->link);
    htw__server_stop_timer(server, &reservation->timer);
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

/* That the job has ended meanwhile is no failure. */
static void given_back(void *arg, int result) {
    struct htw__server *server = arg;
    (void)result;
    /* order: The commit comes before: pairs with htw__look(). [relaxed: not played, as a scene has no
       server] */
    atomic_fetch_sub_explicit(&server->given_back, 1, memory_order_release);
}

/* Tries again later where there is no memory for the change. */
static void give_back(struct htw__server *server, struct htw__reservation *reservation) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = reservation->id;
    update.step = HTW_JOB_EXTEND;
    update.attempt = reservation->attempt;
    update.deadline_ns = reservation->has_timed_out ? 1 : INT64_MIN;
    /* order: The loop alone adds, and loads. */
    atomic_fetch_add_explicit(&server->given_back, 1, memory_order_relaxed);
    int error = htw_journal_update_later(server->journal, &update, given_back, server);
    if (error != 0)
        given_back(server, error);
    if (error != -ENOMEM && error != -EAGAIN) {
        free(reservation);
        return;
    }
    htw__ring_push_back(&server->kept, &reservation->link);
}

void htw__reservations_retry(struct htw__server *server) {
    struct htw__link kept, *link;
    htw__ring_init(&kept);
    htw__ring_splice_back(&kept, &server->kept);
    while ((link = htw__ring_pop_front(&kept)) != NULL)
        give_back(server, HTW__HOLDER(link, htw__reservation, link));
}

void htw__reservation_give_back(struct htw__server *server, struct htw__reservation *reservation,
                                bool has_timed_out) {
    reservation->has_timed_out = has_timed_out;
    leave(server, reservation);
    give_back(server, reservation);
}

/* A second before its time, and at that. */
static void ring(void *arg, const struct htw_expiration *expiration) {
    struct htw__reservation *reservation = arg;
    struct htw__server *server = reservation->connection->server;
    (void)expiration;
    if (!reservation->is_soon) {
        set_soon(reservation, true);
        (void)htw_reschedule(server->scheduler, reservation->timer,
                             reservation->end_ns - htw__clock_boottime_ns());
        htw__operation_end_wait(reservation->connection, HTW__WAIT_DEADLINE_SOON);
    } else {
        server->timeouts++;
        htw__reservation_give_back(server, reservation, true);
    }
}
