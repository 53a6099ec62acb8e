/* SPDX-License-Identifier: MIT */
/* server.c - timers, and the queue of turns. */
#include "server.h"

#include "../../base/clock.h"

int64_t htw__server_now(void) {
    return htw__clock_boottime_ns();
}

uint64_t htw__server_tick(int64_t ns) {
    return (uint64_t)(ns / HTW_MILLISECOND);
}

void htw__server_set_timer(struct htw__server *server, struct htw__serve_timer *timer,
                           int64_t at_ns) {
    int error = htw_wheel_schedule(server->wheel, &timer->timer,
                                   htw__server_tick(at_ns + HTW_MILLISECOND - 1));
    (void)error; /* the wheel has all its levels */
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
