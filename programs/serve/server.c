/* SPDX-License-Identifier: MIT */
/* server.c - timers, the queue of turns, and what the page tells. */
#include "server.h"

#include "../../src/base/clock.h"

int64_t htw__server_now(void) {
    return htw__clock_boottime_ns();
}

struct htw__server_numbers htw__server_numbers(struct htw__server *server) {
    pthread_mutex_lock(&server->mutex);
    struct htw__server_numbers numbers = server->numbers;
    pthread_mutex_unlock(&server->mutex);
    return numbers;
}

void htw__server_ring(void *arg, const struct htw_expiration *expiration) {
    struct htw__serve_timer *timer = arg;
    (void)expiration;
    timer->ring(timer->server, timer);
}

bool htw__server_start_timer(struct htw__server *server, struct htw__serve_timer *timer,
                             int64_t delay_ns, const struct htw_site *site) {
    timer->server = server;
    return htw_schedule_here(server->scheduler, delay_ns, site, timer, &timer->handle) == 0;
}

void htw__server_move_timer(struct htw__serve_timer *timer, int64_t delay_ns) {
    (void)htw_reschedule(timer->server->scheduler, timer->handle,
                         delay_ns); /* the wheel has the level: start.c */
}

void htw__server_stop_timer(struct htw__serve_timer *timer) {
    if (timer->handle != 0)
        (void)htw_cancel(timer->server->scheduler, timer->handle);
    timer->handle = 0;
}

void htw__server_queue(struct htw__connection *connection) {
    struct htw__server *server = connection->server;
    if (connection->is_queued)
        return;
    connection->is_queued = true;
    connection->next_turn = NULL;
    *server->last_turn = connection;
    server->last_turn = &connection->next_turn;
}
