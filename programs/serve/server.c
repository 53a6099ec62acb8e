/* SPDX-License-Identifier: MIT */
/* server.c - timers, the queue of turns, and what the page tells. */
#include "server.h"

struct htw__server_numbers htw__server_numbers(struct htw__server *server) {
    pthread_mutex_lock(&server->mutex);
    struct htw__server_numbers numbers = server->numbers;
    pthread_mutex_unlock(&server->mutex);
    return numbers;
}

void htw__server_stop_timer(struct htw__server *server, htw_handle *timer) {
    if (*timer != 0)
        (void)htw_cancel(server->scheduler, *timer);
    *timer = 0;
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
