/* SPDX-License-Identifier: MIT */
/* connection.c - the turns of a connection. */
#include "connection.h"

#include "commands.h"
#include "operation.h"
#include "reader.h"
#include "reservation.h"
#include "tube.h"

#include "../../src/base/assert.h"
#include "../../src/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits of a turn, so that others get theirs. */
#define TURN_NS (HTW_MILLISECOND / 20)
#define OUTPUT_PER_TURN ((size_t)256 << 10)

/* What is read ahead behind a command that waits. */
#define AHEAD_MAX ((size_t)HTW__SERVE_INPUT)

/* Bodies of all connections that are under way to the journal; it refuses more than twice as many. */
#define UNDER_WAY_MAX ((size_t)16 << 20)

/* ---- create and close */

/* That tube is always there. */
static bool use_default(struct htw__connection *connection) {
    if (!htw__tube_watch(connection, "default"))
        return false;
    connection->use = htw__tube_get(connection->server, "default");
    connection->use->users++;
    return true;
}

static void destroy(struct htw__connection *connection) {
    free(connection->watched);
    free(connection);
}

void htw__connection_create(struct htw__server *server, int socket) {
    struct htw__connection *connection = calloc(1, sizeof(*connection));
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data = { .ptr = connection } };
    if (connection != NULL)
        connection->server = server;
    if (connection == NULL || !use_default(connection)) {
        if (connection != NULL)
            destroy(connection);
        close(socket);
        return;
    }
    connection->fd = socket;
    connection->interest = event.events;
    htw__ring_init(&connection->reservations);
    htw__ring_push_back(&server->connections, &connection->link);
    server->connection_count++;
    server->total_connections++;
    if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, socket, &event) != 0)
        htw__connection_close(connection);
}

/* A closed connection goes at the end of the round, when nothing refers to it any more. */
static void note_if_unused(struct htw__connection *connection) {
    if (connection->fd >= 0 || connection->first != NULL || connection->is_queued ||
        connection->is_in_turn)
        return;
    connection->next_turn = connection->server->unused;
    connection->server->unused = connection;
}

void htw__connections_free(struct htw__server *server) {
    struct htw__connection *next;
    for (struct htw__connection *connection = server->unused; connection != NULL;
         connection = next) {
        next = connection->next_turn;
        destroy(connection);
    }
    server->unused = NULL;
}

static void count_memory(struct htw__connection *connection) {
    size_t bytes = connection->input.capacity + connection->output.capacity;
    connection->server->memory += bytes - connection->counted;
    connection->counted = bytes;
}

static void unhold(struct htw__connection *connection) {
    if (connection->is_held)
        htw__link_unlink(&connection->held);
    connection->is_held = false;
}

static void leave_tubes(struct htw__connection *connection) {
    struct htw__server *server = connection->server;
    htw__tube_ignore_all(connection);
    connection->use->users--;
    htw__tube_release(server, connection->use);
    connection->use = NULL;
}

static void give_back_all(struct htw__connection *connection) {
    while (!htw__ring_is_empty(&connection->reservations))
        htw__reservation_give_back(
            connection->server, HTW__HOLDER(connection->reservations._next, htw__reservation, link),
            false);
}

void htw__connection_close(struct htw__connection *connection) {
    struct htw__server *server = connection->server;
    if (connection->fd < 0)
        return;
    /* With unread input, close() would discard sent bytes that have not arrived yet. */
    if (connection->is_closing) {
        shutdown(connection->fd, SHUT_WR);
        (void)!recv(connection->fd, server->input, HTW__SERVE_INPUT, MSG_DONTWAIT);
    }
    close(connection->fd); /* also removes it from the epoll set */
    connection->fd = -1;
    server->connection_count--;
    server->producers -= connection->is_producer;
    server->workers -= connection->is_worker;
    htw__link_unlink(&connection->link);
    unhold(connection);
    htw__operation_end_wait(connection, HTW__WAIT_TIMED_OUT);
    give_back_all(connection);
    leave_tubes(connection);
    htw__buffer_fini(&connection->input);
    htw__buffer_fini(&connection->output);
    count_memory(connection);
    note_if_unused(connection);
}

/* ---- between turns */

static size_t unsent(const struct htw__connection *connection) {
    return connection->output.size - connection->sent;
}

static bool is_throttled(const struct htw__connection *connection) {
    return unsent(connection) >= connection->server->options.max_output;
}

/* Whether its input may have a command that can start. */
static bool can_execute(const struct htw__connection *connection) {
    return connection->input.size > 0 && !connection->is_closing && !connection->is_blocked &&
           !connection->is_partial && !is_throttled(connection);
}

static bool can_read(const struct htw__connection *connection) {
    return !connection->is_closing && !connection->has_ended && !is_throttled(connection) &&
           (!connection->is_blocked || connection->input.size < AHEAD_MAX);
}

static void update_interest(struct htw__connection *connection, bool reads) {
    uint32_t interest = reads ? EPOLLIN : 0;
    if (!connection->is_half_closed)
        interest |= EPOLLRDHUP;
    if (unsent(connection) > 0)
        interest |= EPOLLOUT;
    struct epoll_event event = { .events = interest, .data = { .ptr = connection } };
    if (interest != connection->interest && !connection->is_hung_up &&
        epoll_ctl(connection->server->epoll, EPOLL_CTL_MOD, connection->fd, &event) == 0)
        connection->interest = interest;
}

/* ---- output */

static void flush(struct htw__connection *connection) {
    struct htw__buffer *output = &connection->output;
    if (output->failed) {
        htw__connection_close(connection);
        return;
    }
    size_t size = unsent(connection);
    if (size == 0)
        return;
    ssize_t sent =
        send(connection->fd, output->bytes + connection->sent, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        htw__connection_close(connection);
        return;
    }
    connection->sent += sent < 0 ? 0 : (size_t)sent;
    if (connection->sent == output->size) {
        htw__buffer_fini(output);
        connection->sent = 0;
    } else if (connection->sent > output->size / 2) {
        htw__buffer_drop(output, connection->sent);
        connection->sent = 0;
    }
}

/* ---- input */

/* Throws away what is in the way of the next command. Returns how many bytes that are. */
static size_t skip(struct htw__connection *connection, const char *bytes, size_t size) {
    if (connection->skipped > 0) {
        size_t now = size < connection->skipped ? size : (size_t)connection->skipped;
        connection->skipped -= now;
        if (connection->skipped == 0)
            htw__command_answer(connection, "JOB_TOO_BIG\r\n");
        return now;
    }
    const char *end = htw__serve_line_end(bytes, size);
    if (end == NULL) /* a \r may be the first half of its end */
        return size > 0 && bytes[size - 1] == '\r' ? size - 1 : size;
    connection->skips_line = false;
    htw__command_answer(connection, "BAD_FORMAT\r\n");
    return (size_t)(end - bytes);
}

/* Starts a put if its body is there. Returns the bytes that are consumed; 0: none yet, or it has to wait. */
static size_t start_put(struct htw__connection *connection, struct htw__serve_line *line,
                        const char *bytes, size_t size, size_t consumed) {
    size_t whole = consumed + line->size + 2;
    if (connection->server->bytes_under_way >= UNDER_WAY_MAX) {
        htw__ring_push_back(&connection->server->held, &connection->held);
        connection->is_held = connection->is_blocked = true;
        return 0;
    }
    if (line->size > connection->server->options.max_job_size) {
        connection->server->commands[HTW__VERB_PUT]++;
        connection->skipped = (uint64_t)line->size + 2;
        return consumed;
    }
    if (size < whole)
        return 0;
    if (memcmp(bytes + whole - 2, "\r\n", 2) != 0) {
        connection->server->commands[HTW__VERB_PUT]++;
        htw__command_answer(connection, "EXPECTED_CRLF\r\n");
        return whole;
    }
    line->body = bytes + consumed;
    htw__command_start(connection, line);
    return whole;
}

static void answer_wrong_line(struct htw__connection *connection,
                              enum htw__serve_line_result result) {
    if (result == HTW__SERVE_LINE_HTTP)
        connection->is_closing = true;
    else if (result == HTW__SERVE_LINE_TOO_LONG)
        connection->skips_line = true;
    else
        htw__command_answer(connection, result == HTW__SERVE_LINE_BAD ? "BAD_FORMAT\r\n"
                                                                      : "UNKNOWN_COMMAND\r\n");
}

/* Returns the bytes that were consumed; 0: the next command is not complete, or has to wait. */
static size_t execute_one(struct htw__connection *connection, const char *bytes, size_t size) {
    struct htw__serve_line line;
    size_t consumed;
    if (connection->last_answer != NULL) {
        connection->is_blocked = true;
        return 0;
    }
    if (connection->skipped > 0 || connection->skips_line)
        return skip(connection, bytes, size);
    enum htw__serve_line_result result = htw__serve_line_read(bytes, size, &line, &consumed);
    if (result == HTW__SERVE_LINE_MORE)
        return 0;
    if (result != HTW__SERVE_LINE_COMMAND) {
        answer_wrong_line(connection, result);
        return result == HTW__SERVE_LINE_TOO_LONG ? HTW__SERVE_LINE_MAX - 1 : consumed;
    }
    if (!htw__command_may_start(connection, line.verb)) {
        connection->is_blocked = true;
        return 0;
    }
    if (line.verb == HTW__VERB_PUT)
        return start_put(connection, &line, bytes, size, consumed);
    htw__command_start(connection, &line);
    return consumed;
}

/* Executes commands within the limits of a turn. Returns the bytes that were consumed. */
static size_t execute(struct htw__connection *connection, const char *bytes, size_t size) {
    size_t at = 0, before = connection->output.size;
    int64_t end_ns = connection->server->now_ns + TURN_NS;
    connection->is_partial = false;
    while (at < size && (at == 0 || htw__clock_monotonic_ns() < end_ns)) {
        if (connection->is_closing || connection->is_blocked || is_throttled(connection) ||
            connection->output.size - before >= OUTPUT_PER_TURN)
            break;
        size_t answered = connection->output.size;
        size_t consumed = execute_one(connection, bytes + at, size - at);
        HTW_ASSERT(connection->first == NULL || connection->output.size == answered); /* in order */
        at += consumed;
        if (consumed == 0) {
            connection->is_partial = !connection->is_blocked;
            break;
        }
    }
    return connection->is_closing ? size : at;
}

static void execute_input(struct htw__connection *connection) {
    struct htw__buffer *input = &connection->input;
    htw__buffer_drop(input, execute(connection, input->bytes, input->size));
    if (input->size == 0)
        htw__buffer_fini(input);
}

/* Reads into the buffer of the server: few connections have input that stays. */
static void read_input(struct htw__connection *connection) {
    char *bytes = connection->server->input;
    struct htw__buffer *input = &connection->input;
    ssize_t got = recv(connection->fd, bytes, HTW__SERVE_INPUT, MSG_DONTWAIT);
    if (got == 0) {
        connection->has_ended = true;
    } else if (got < 0) {
        if (errno != EAGAIN && errno != EINTR)
            htw__connection_close(connection);
    } else if (input->size == 0) {
        size_t used = execute(connection, bytes, (size_t)got);
        htw__buffer_append(input, bytes + used, (size_t)got - used);
    } else {
        htw__buffer_append(input, bytes, (size_t)got);
        if (!input->failed)
            execute_input(connection);
    }
    if (input->failed)
        htw__connection_close(connection);
}

/* ---- turns */

/* The other side has closed, or the connection is broken. What it has sent before is executed. */
static void hang_up(struct htw__connection *connection) {
    connection->is_hung_up = true;
    (void)epoll_ctl(connection->server->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
    if (connection->request != 0)
        htw__connection_close(connection);
}

static void take_turn(struct htw__connection *connection, uint32_t events) {
    if ((events & EPOLLRDHUP) != 0 && !connection->is_half_closed) {
        connection->is_half_closed = true;
        htw__operation_end_wait(connection, HTW__WAIT_TIMED_OUT);
    }
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 && !connection->is_hung_up)
        hang_up(connection);
    if (connection->fd < 0)
        return;
    if (can_execute(connection))
        execute_input(connection);
    else if (((events & (EPOLLIN | EPOLLRDHUP)) != 0 || connection->is_hung_up) &&
             can_read(connection))
        read_input(connection);
    if (connection->fd >= 0)
        flush(connection);
}

static void end_turn(struct htw__connection *connection) {
    connection->is_in_turn = false;
    if (connection->fd < 0) {
        note_if_unused(connection);
        return;
    }
    bool executes = can_execute(connection), reads = can_read(connection);
    bool starts_none =
        connection->is_closing || (connection->has_ended && !connection->is_blocked && !executes);
    if (starts_none && connection->first == NULL && unsent(connection) == 0) {
        htw__connection_close(connection);
        return;
    }
    if (executes || (connection->is_hung_up && reads))
        htw__server_queue(connection);
    count_memory(connection);
    update_interest(connection, reads);
}

void htw__connection_turn(struct htw__connection *connection) {
    uint32_t events = connection->events;
    connection->events = 0;
    connection->is_in_turn = true;
    if (connection->fd >= 0)
        take_turn(connection, events);
    end_turn(connection);
}

void htw__connection_drain(struct htw__connection *connection) {
    connection->is_closing = true;
    htw__operation_end_wait(connection, HTW__WAIT_TIMED_OUT);
    htw__server_queue(connection);
}

/* ---- operations */

static void resume(struct htw__connection *connection) {
    connection->is_blocked = false;
    htw__server_queue(connection);
}

static void resume_held(struct htw__server *server) {
    struct htw__link *link;
    while (server->bytes_under_way < UNDER_WAY_MAX / 2 &&
           (link = htw__ring_pop_front(&server->held)) != NULL) {
        struct htw__connection *connection = HTW__HOLDER(link, htw__connection, held);
        connection->is_held = false;
        resume(connection);
    }
}

static void destroy_operation(struct htw__operation *operation) {
    struct htw__server *server = operation->server;
    server->operations--;
    server->bytes_under_way -= operation->bytes;
    if (operation->tube != NULL) {
        operation->tube->holders--;
        htw__tube_release(server, operation->tube);
    }
    htw__reader_release(operation);
    free(operation->reservation);
    free(operation->found);
    htw__buffer_fini(&operation->tubes);
    free(operation);
}

void htw__connection_done(struct htw__operation *operation) {
    struct htw__connection *connection = operation->connection;
    struct htw__server *server = connection->server;
    operation->is_done = true;
    while ((operation = connection->first) != NULL && operation->is_done) {
        htw__command_finish(operation);
        connection->first = operation->next;
        connection->under_way--;
        destroy_operation(operation);
    }
    if (connection->first == NULL && connection->last_answer != NULL) {
        htw__command_answer(connection, connection->last_answer);
        connection->last_answer = NULL;
    }
    if (connection->fd < 0) {
        give_back_all(connection);
        htw__buffer_fini(&connection->output);
        note_if_unused(connection);
    } else if (!connection->is_held) {
        resume(connection);
    }
    resume_held(server);
}
