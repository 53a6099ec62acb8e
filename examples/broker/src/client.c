/* SPDX-License-Identifier: MIT */
/* client.c - the turns of a connection. */
#include "client.h"

#include "blocking.h"
#include "command.h"
#include "loop.h"
#include "client_memory.h"
#include "journal.h"
#include "reply.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

/* Limits of one turn, so that other clients get theirs. */
#define REQUESTS_PER_TURN 128
#define REPLY_BYTES_PER_TURN ((size_t)256 << 10)
#define READ_MAX ((size_t)1 << 20)

/* A larger array of arguments is freed after the request. */
#define ARGUMENTS_KEPT 4096

static const struct options *options_of(const struct client *client) {
    return &client->loop->broker->options;
}

/* ------------------------------------------------------------------ create and close */

void client_create(struct loop *loop, int socket) {
    struct client *client = calloc(1, sizeof(*client));
    if (client == NULL) {
        close(socket);
        return;
    }
    client->loop = loop;
    client->socket = socket;
    client->interest = EPOLLIN | EPOLLRDHUP;
    client->id = atomic_fetch_add(&loop->broker->last_client_id, 1) + 1;
    atomic_fetch_add(&loop->broker->clients, 1);
    pthread_mutex_lock(&loop->mutex);
    DL_APPEND(loop->clients, client);
    pthread_mutex_unlock(&loop->mutex);
    /* Last: from now on its loop may use it, and may free it. */
    if (!loop_watch(loop, socket, EPOLLIN | EPOLLRDHUP, client))
        client_close(client);
}

/* Frees a closed client, unless something still refers to it. */
static void free_if_unused(struct client *client) {
    if (client->socket < 0 && client->blocked == NULL && client->undurable == 0 &&
        !client->is_queued && !client->is_in_turn)
        free(client);
}

static void finish_blocked(struct client *client, bool is_delivered) {
    blocking_finish(client->loop->broker, client->blocked, is_delivered);
    client->blocked = NULL;
    client->is_answered = false;
}

void client_close(struct client *client) {
    struct loop *loop = client->loop;
    if (client->socket < 0)
        return;
    /* With unread input, close() would discard sent bytes that have not arrived yet. */
    if (client->is_closing) {
        shutdown(client->socket, SHUT_WR);
        recv(client->socket, loop->input, LOOP_INPUT_SIZE, MSG_DONTWAIT);
    }
    client_memory_update(client, 0);
    pthread_mutex_lock(&loop->mutex);
    DL_DELETE(loop->clients, client); /* first: other threads may read it there */
    pthread_mutex_unlock(&loop->mutex);
    close(client->socket); /* also removes it from the epoll set */
    client->socket = -1;
    atomic_fetch_sub(&loop->broker->clients, 1);
    free(client->name);
    buffer_fini(&client->input);
    buffer_fini(&client->output);
    buffer_fini(&client->kept);
    if (client->is_answered)
        finish_blocked(client, false);
    else if (client->blocked != NULL) /* goes to the mailbox */
        htw_request_cancel(loop->broker->purgatory, &client->blocked->request);
    free_if_unused(client);
}

/* ------------------------------------------------------------------ between turns */

static size_t unsent(const struct client *client) {
    return client->output.size - client->sent;
}

/* Whether its unsent replies have reached the limit. */
static bool is_throttled(const struct client *client) {
    return unsent(client) >= options_of(client)->max_output;
}

/* Whether the kernel has accepted all its replies. */
static bool is_drained(const struct client *client) {
    return client->output.size == 0 && client->undurable == 0;
}

static bool can_execute(const struct client *client) {
    return client->blocked == NULL && client->undurable == 0 && !client->is_closing &&
           !is_throttled(client) && client->input.size > 0 && client->input.size >= client->needed;
}

static size_t memory_of(const struct client *client) {
    size_t bytes = client->input.capacity + client->output.capacity + client->kept.capacity +
                   client->undurable * block_cost(sizeof(struct put));
    if (client->name != NULL)
        bytes += block_cost(strlen(client->name) + 1);
    if (client->blocked != NULL)
        bytes += client->blocked->memory;
    if (client->is_answered && client->blocked->item != NULL)
        bytes += item_cost(client->blocked->item);
    return bytes;
}

/* Tells epoll which events to report. */
static void update_interest(struct client *client) {
    bool reads = !client->is_closing && !is_throttled(client) && client->undurable == 0;
    uint32_t interest = reads ? EPOLLIN | EPOLLRDHUP : 0;
    if (client->output.size > 0 && !client->is_queued)
        interest |= EPOLLOUT;
    if (interest != client->interest && loop_change(client->loop, client->socket, interest, client))
        client->interest = interest;
}

/* Ends a turn. May free the client. */
static void end_turn(struct client *client) {
    client->is_in_turn = false;
    if (client->socket >= 0 && is_drained(client)) {
        if (client->is_answered)
            finish_blocked(client, true);
        if (client->is_closing && client->blocked == NULL) {
            client_close(client);
            return;
        }
    }
    if (client->socket >= 0) {
        if (can_execute(client))
            loop_queue(client->loop, client);
        client_memory_update(client, memory_of(client));
        update_interest(client);
    }
    free_if_unused(client);
}

/* ------------------------------------------------------------------ output */

/* Sends what is unsent from earlier turns. */
static void send_rest(struct client *client) {
    struct buffer *output = &client->output;
    ssize_t sent = send(client->socket, output->bytes + client->sent, unsent(client),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        client_close(client);
        return;
    }
    client->sent += sent < 0 ? 0 : (size_t)sent;
    if (client->sent == output->size) {
        buffer_fini(output);
        client->sent = 0;
    }
}

/* Stores the unsent part of a reply. Returns false if there is no memory. */
static bool save_rest(struct client *client, struct buffer *reply, size_t sent) {
    struct buffer *output = &client->output;
    if (output->size == 0 && reply->size - sent > REPLY_BYTES_PER_TURN) { /* long: not copied */
        *output = *reply;
        *reply = (struct buffer) { .bytes = NULL };
        client->sent = sent;
        return true;
    }
    if (client->sent > output->size / 2) {
        buffer_drop(output, client->sent);
        client->sent = 0;
    }
    buffer_append(output, reply->bytes + sent, reply->size - sent);
    return !output->failed;
}

/* Sends the reply in the loop's buffer. `is_later`: in the client's next turn. */
static void flush(struct client *client, bool is_later) {
    struct loop *loop = client->loop;
    struct buffer *reply = &loop->reply;
    ssize_t sent = 0;
    bool is_broken = reply->failed;
    if (client->undurable > 0) {
        buffer_append(&client->kept, reply->bytes, reply->size);
        is_broken = is_broken || client->kept.failed;
        reply->size = 0;
    }
    if (!is_broken && reply->size > 0 && client->output.size == 0 && !is_later)
        sent = send(client->socket, reply->bytes, reply->size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        is_broken = errno != EAGAIN && errno != EINTR;
        sent = 0;
    }
    if (!is_broken && (size_t)sent < reply->size) {
        is_broken = !save_rest(client, reply, (size_t)sent);
        if (is_later)
            loop_queue(loop, client);
    }
    if (reply->capacity > 4 * REPLY_BYTES_PER_TURN || reply->failed)
        buffer_fini(reply);
    reply->size = 0;
    if (is_broken)
        client_close(client);
}

/* ------------------------------------------------------------------ input */

/* Executes one request, or replies what is wrong with it. Returns false if no further request can
   be executed now. */
static bool execute_one(struct client *client, char *bytes, size_t size, size_t *ret_consumed) {
    struct loop *loop = client->loop;
    struct resp_request *request = &loop->request;
    switch (resp_parse(request, bytes, size, options_of(client)->max_request)) {
    case RESP_REQUEST:
        *ret_consumed = request->consumed;
        if (request->count > 0)
            command_execute(client, request->arguments, request->count, &loop->reply);
        return true;
    case RESP_MORE:
        client->needed = request->needed;
        return false;
    case RESP_INVALID:
        reply_error(&loop->reply, "ERR %s", request->error);
        break;
    case RESP_NO_MEMORY:
        reply_error(&loop->reply, REPLY_NO_MEMORY);
        break;
    }
    client->is_closing = true;
    return false;
}

/* Executes requests within the limits of a turn, stores the rest, and replies. */
static void execute(struct client *client, char *bytes, size_t size) {
    struct loop *loop = client->loop;
    size_t at = 0, before = unsent(client), mark = options_of(client)->max_output;
    unsigned count = 0;
    bool goes_on = size >= client->needed;
    while (at < size && goes_on && count < REQUESTS_PER_TURN &&
           loop->reply.size < REPLY_BYTES_PER_TURN && before + loop->reply.size < mark) {
        size_t consumed = 0;
        client->needed = 0;
        goes_on = execute_one(client, bytes + at, size - at, &consumed) &&
                  client->blocked == NULL && !client->is_closing;
        at += consumed;
        count++;
    }
    if (client->blocked != NULL)
        loop->blocked_clients++;
    if (client->undurable > 0)
        loop->undurable_clients++;
    if (client->is_closing)
        at = size;
    if (bytes == loop->input)
        buffer_append(&client->input, bytes + at, size - at);
    else
        buffer_drop(&client->input, at);
    bool has_failed = client->input.failed;
    if (client->input.size == 0)
        buffer_fini(&client->input);
    if (loop->request.capacity > ARGUMENTS_KEPT)
        resp_fini(&loop->request);
    /* A client whose push has served others gets its reply after them: they have waited longer. */
    flush(client, !client->is_closing && loop_has_answers(loop));
    if (has_failed)
        client_close(client);
}

/* The other side has closed its end, or the connection is broken. */
static void input_ended(struct client *client, ssize_t got) {
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == 0 && !is_drained(client) && client->blocked == NULL)
        client->is_closing = true; /* the other side may still read */
    else
        client_close(client);
}

/* Makes room for more of an incomplete request. The memory grows with what the client sends, not
   with the length that it announces. */
static bool reserve_part(struct client *client) {
    struct buffer *input = &client->input;
    size_t more = input->size < 2 * LOOP_INPUT_SIZE ? LOOP_INPUT_SIZE / 2 : input->size / 4;
    if (client->needed > input->size && client->needed - input->size < more)
        more = client->needed - input->size;
    return buffer_reserve(input, more);
}

static void read_input(struct client *client) {
    struct loop *loop = client->loop;
    struct buffer *input = &client->input;
    bool is_part = input->size > 0; /* an incomplete request; append to it */
    if (is_part && !reserve_part(client)) {
        client_close(client);
        return;
    }
    char *to = is_part ? input->bytes + input->size : loop->input;
    size_t room = is_part ? input->capacity - input->size : LOOP_INPUT_SIZE;
    ssize_t got = recv(client->socket, to, room < READ_MAX ? room : READ_MAX, MSG_DONTWAIT);
    if (got <= 0) {
        input_ended(client, got);
    } else if (is_part) {
        input->size += (size_t)got;
        execute(client, input->bytes, input->size);
    } else {
        execute(client, loop->input, (size_t)got);
    }
}

/* Reads and stores what a blocked client sends. */
static void read_ahead(struct client *client) {
    struct loop *loop = client->loop;
    ssize_t got = recv(client->socket, loop->input, LOOP_INPUT_SIZE, MSG_DONTWAIT);
    if (got <= 0) {
        input_ended(client, got);
        return;
    }
    buffer_append(&client->input, loop->input, (size_t)got);
    if (!client->input.failed && client->input.size <= options_of(client)->max_request + READ_MAX)
        return;
    client_close(client);
    loop_count(&loop->closed_for_input);
}

/* ------------------------------------------------------------------ turns */

static void take_turn(struct client *client, uint32_t events) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 ||
        ((events & EPOLLRDHUP) != 0 && client->blocked != NULL))
        client_close(client);
    else if (client->output.size > 0)
        send_rest(client);
    if (client->socket < 0 || client->is_closing || is_throttled(client) || client->undurable > 0)
        return;
    if (client->is_answered && is_drained(client))
        finish_blocked(client, true);
    if (can_execute(client))
        execute(client, client->input.bytes, client->input.size);
    else if ((events & (EPOLLIN | EPOLLRDHUP)) != 0 && client->blocked == NULL)
        read_input(client);
    else if ((events & EPOLLIN) != 0)
        read_ahead(client);
}

void client_turn(struct client *client) {
    uint32_t events = client->events;
    client->events = 0;
    client->is_in_turn = true;
    if (client->socket >= 0)
        take_turn(client, events);
    end_turn(client);
}

/* Whether the other side has closed. epoll may not have reported it yet. */
static bool has_hung_up(const struct client *client) {
    struct pollfd file = { .fd = client->socket, .events = POLLRDHUP };
    return poll(&file, 1, 0) != 0;
}

void client_resume(struct client *client) {
    struct loop *loop = client->loop;
    client->is_in_turn = true;
    loop->blocked_clients--;
    if (client->socket < 0 || (client->blocked->item != NULL && has_hung_up(client))) {
        finish_blocked(client, false);
        client_close(client);
    } else {
        blocking_reply(client->blocked, &loop->reply);
        client->is_answered = true;
        flush(client, false);
    }
    end_turn(client);
}

void client_durable(struct client *client) {
    struct loop *loop = client->loop;
    client->is_in_turn = true;
    loop->undurable_clients--;
    journal_take_replies(client, client->socket < 0 ? NULL : &loop->reply);
    if (client->socket >= 0)
        flush(client, false);
    end_turn(client);
}

void client_close_after_output(struct client *client) {
    client->is_in_turn = true;
    client->is_closing = true;
    end_turn(client);
}
