/* SPDX-License-Identifier: MIT */
/* client.c - a connection. */
#include "client.h"

#include "blocking.h"
#include "command.h"
#include "loop.h"
#include "memory.h"
#include "reply.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

/* What a client may execute in one turn: then others have theirs. */
#define REQUESTS_A_TURN 128
#define REPLIES_A_TURN ((size_t)256 << 10)
#define READ_MAX ((size_t)1 << 20)

/* A larger array is given back when a request of many arguments has been executed. */
#define ARGUMENTS_KEPT 4096

static const struct options *options_of(const struct client *client) {
    return &client->loop->broker->options;
}

/* ------------------------------------------------------------------ life */

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
    /* Last: from now on the client is its loop's, and may be gone. */
    if (!loop_watch(loop, socket, EPOLLIN | EPOLLRDHUP, client))
        client_close(client);
}

/* Frees a client that is closed, unless something still refers to it. */
static void free_if_unused(struct client *client) {
    if (client->socket < 0 && client->waiting == NULL && !client->is_queued && !client->is_in_turn)
        free(client);
}

static void end_waiting(struct client *client, bool is_delivered) {
    blocking_end(client->loop->broker, client->waiting, is_delivered);
    client->waiting = NULL;
    client->is_answered = false;
}

void client_close(struct client *client) {
    struct loop *loop = client->loop;
    if (client->socket < 0)
        return;
    /* What is unread would make the kernel throw away what was sent and has not arrived. */
    if (client->is_leaving) {
        shutdown(client->socket, SHUT_WR);
        recv(client->socket, loop->input, LOOP_INPUT_SIZE, MSG_DONTWAIT);
    }
    memory_count(client, 0);
    pthread_mutex_lock(&loop->mutex);
    DL_DELETE(loop->clients, client); /* first, since others may be looking at it there */
    pthread_mutex_unlock(&loop->mutex);
    close(client->socket); /* leaves the epoll set, too */
    client->socket = -1;
    atomic_fetch_sub(&loop->broker->clients, 1);
    free(client->name);
    buffer_fini(&client->input);
    buffer_fini(&client->output);
    if (client->is_answered)
        end_waiting(client, false);
    else if (client->waiting !=
             NULL) /* comes to the mailbox, now or from the thread that ends it */
        htw_request_cancel(loop->broker->purgatory, &client->waiting->request);
    free_if_unused(client);
}

/* ------------------------------------------------------------------ between turns */

static size_t owed(const struct client *client) {
    return client->output.size - client->sent;
}

/* It must take replies before anything else is done for it. */
static bool is_held(const struct client *client) {
    return owed(client) >= options_of(client)->max_output;
}

static bool can_execute(const struct client *client) {
    return client->waiting == NULL && !client->is_leaving && !is_held(client) &&
           client->input.size > 0 && client->input.size >= client->needed;
}

static size_t memory_of(const struct client *client) {
    size_t bytes = client->input.capacity + client->output.capacity;
    if (client->name != NULL)
        bytes += block_cost(strlen(client->name) + 1);
    if (client->waiting != NULL)
        bytes += client->waiting->memory;
    if (client->is_answered && client->waiting->item != NULL)
        bytes += item_cost(client->waiting->item);
    return bytes;
}

/* What epoll is to report. */
static void update_interest(struct client *client) {
    bool reads = !client->is_leaving && !is_held(client);
    uint32_t interest = reads ? EPOLLIN | EPOLLRDHUP : 0;
    if (client->output.size > 0 && !client->is_queued)
        interest |= EPOLLOUT;
    if (interest != client->interest && loop_change(client->loop, client->socket, interest, client))
        client->interest = interest;
}

/* After anything was done for it. It may be gone on return. */
static void end_turn(struct client *client) {
    client->is_in_turn = false;
    if (client->socket >= 0 && client->output.size == 0) {
        if (client->is_answered)
            end_waiting(client, true);
        if (client->is_leaving && client->waiting == NULL) {
            client_close(client);
            return;
        }
    }
    if (client->socket >= 0) {
        if (can_execute(client))
            loop_queue(client->loop, client);
        memory_count(client, memory_of(client));
        update_interest(client);
    }
    free_if_unused(client);
}

/* ------------------------------------------------------------------ output */

/* Sends what the client has been owed for a while. */
static void send_rest(struct client *client) {
    struct buffer *output = &client->output;
    ssize_t sent = send(client->socket, output->bytes + client->sent, owed(client),
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

/* Keeps what is not to be sent now. false: no memory. */
static bool keep_rest(struct client *client, struct buffer *reply, size_t sent) {
    struct buffer *output = &client->output;
    if (output->size == 0 && reply->size - sent > REPLIES_A_TURN) { /* not copied: it is long */
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

/* Sends what is in the loop's reply. `is_later`: when the client has its next turn. */
static void flush(struct client *client, bool is_later) {
    struct loop *loop = client->loop;
    struct buffer *reply = &loop->reply;
    ssize_t sent = 0;
    bool is_broken = reply->failed;
    if (!is_broken && reply->size > 0 && client->output.size == 0 && !is_later)
        sent = send(client->socket, reply->bytes, reply->size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        is_broken = errno != EAGAIN && errno != EINTR;
        sent = 0;
    }
    if (!is_broken && (size_t)sent < reply->size) {
        is_broken = !keep_rest(client, reply, (size_t)sent);
        if (is_later)
            loop_queue(loop, client);
    }
    if (reply->capacity > 4 * REPLIES_A_TURN || reply->failed)
        buffer_fini(reply);
    reply->size = 0;
    if (is_broken)
        client_close(client);
}

/* ------------------------------------------------------------------ input */

/* Executes a request, or says what is wrong with it. false: nothing more can be done now. */
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
    client->is_leaving = true;
    return false;
}

/* Executes what can be in this turn, keeps the rest, and answers. */
static void execute(struct client *client, char *bytes, size_t size) {
    struct loop *loop = client->loop;
    size_t at = 0, before = owed(client), mark = options_of(client)->max_output;
    unsigned count = 0;
    bool goes_on = size >= client->needed;
    while (at < size && goes_on && count < REQUESTS_A_TURN && loop->reply.size < REPLIES_A_TURN &&
           before + loop->reply.size < mark) {
        size_t consumed = 0;
        client->needed = 0;
        goes_on = execute_one(client, bytes + at, size - at, &consumed) &&
                  client->waiting == NULL && !client->is_leaving;
        at += consumed;
        count++;
    }
    if (client->waiting != NULL)
        loop->blocked++;
    if (client->is_leaving)
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
    /* A client whose push has served others is answered after them: they have waited longer. */
    flush(client, !client->is_leaving && loop_has_answers(loop));
    if (has_failed)
        client_close(client);
}

/* The other side has said that nothing more comes, or the connection is broken. */
static void input_ended(struct client *client, ssize_t got) {
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == 0 && client->output.size > 0 && client->waiting == NULL)
        client->is_leaving = true; /* it may still read */
    else
        client_close(client);
}

/* Room for more of a request of which there is a part. A client that only announces a long request
   is not given memory for it before it sends it. */
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
    bool is_part = input->size > 0; /* of a request; the rest goes behind it */
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

/* Reads what a blocked client sends, for later. */
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
    loop_count(&loop->flooded);
}

/* ------------------------------------------------------------------ turns */

static void take_turn(struct client *client, uint32_t events) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 ||
        ((events & EPOLLRDHUP) != 0 && client->waiting != NULL))
        client_close(client);
    else if (client->output.size > 0)
        send_rest(client);
    if (client->socket < 0 || client->is_leaving || is_held(client))
        return;
    if (client->is_answered && client->output.size == 0)
        end_waiting(client, true);
    if (can_execute(client))
        execute(client, client->input.bytes, client->input.size);
    else if ((events & (EPOLLIN | EPOLLRDHUP)) != 0 && client->waiting == NULL)
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

/* Whether the other side has closed, which epoll may not have told yet. */
static bool has_hung_up(const struct client *client) {
    struct pollfd file = { .fd = client->socket, .events = POLLRDHUP };
    return poll(&file, 1, 0) != 0;
}

void client_resume(struct client *client) {
    struct loop *loop = client->loop;
    client->is_in_turn = true;
    loop->blocked--;
    if (client->socket < 0 || (client->waiting->item != NULL && has_hung_up(client))) {
        end_waiting(client, false);
        client_close(client);
    } else {
        blocking_answer(client->waiting, &loop->reply);
        client->is_answered = true;
        flush(client, false);
    }
    end_turn(client);
}

void client_dismiss(struct client *client) {
    client->is_in_turn = true;
    client->is_leaving = true;
    end_turn(client);
}
