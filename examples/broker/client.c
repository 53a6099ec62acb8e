/* SPDX-License-Identifier: MIT */
#include "client.h"

#include "blocking.h"
#include "command.h"
#include "loop.h"
#include "reply.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

/* What a client may execute in one round: then others have their turn. */
#define REQUESTS_A_ROUND 512
#define REPLIES_A_ROUND ((size_t)256 << 10)
#define READ_MAX ((size_t)1 << 20)

/* A larger array is given back when a request of many arguments has been executed. */
#define ARGUMENTS_KEPT 4096

/* ------------------------------------------------------------------ life */

void client_create(struct loop *loop, int socket) {
    struct client *client = calloc(1, sizeof(*client));
    if (client == NULL || !loop_watch(loop, socket, EPOLLIN | EPOLLRDHUP, client)) {
        free(client);
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
}

/* Brings the sum of all clients' buffers up to date. false: it has become too much. */
static bool account(struct client *client) {
    const struct options *options = &client->loop->broker->options;
    atomic_uint_fast64_t *buffered = &client->loop->broker->buffered;
    size_t now = client->input.capacity + client->output.capacity;
    if (now == client->accounted)
        return true;
    bool grows = now > client->accounted;
    uint64_t total = atomic_fetch_add(buffered, now - client->accounted) + now - client->accounted;
    client->accounted = now;
    return !grows || options->max_memory == 0 || total <= options->max_memory;
}

/* Frees a client that is closed, unless something still refers to it. */
static void free_if_unused(struct client *client) {
    if (client->socket < 0 && client->waiting == NULL && !client->is_queued)
        free(client);
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
    pthread_mutex_lock(&loop->mutex);
    DL_DELETE(loop->clients, client); /* first, since others may be looking at it there */
    pthread_mutex_unlock(&loop->mutex);
    close(client->socket); /* leaves the epoll set, too */
    client->socket = -1;
    atomic_fetch_sub(&loop->broker->clients, 1);
    free(client->name);
    buffer_fini(&client->input);
    buffer_fini(&client->output);
    account(client);
    if (client->waiting != NULL) /* comes to the mailbox, now or from whoever has just ended it */
        htw_request_cancel(loop->broker->purgatory, &client->waiting->request);
    free_if_unused(client);
}

/* What epoll is to tell: no input while the client is blocked and has sent more, nor that it has
   sent all when it only has replies to take. */
static void want(struct client *client, uint32_t interest) {
    interest = client->is_leaving ? interest & EPOLLOUT : interest | EPOLLRDHUP;
    if (interest != client->interest && loop_change(client->loop, client->socket, interest, client))
        client->interest = interest;
}

/* ------------------------------------------------------------------ output */

/* Writes what the client has been owed for a while. false: it is closed. */
static bool send_rest(struct client *client) {
    struct buffer *output = &client->output;
    ssize_t sent = send(client->socket, output->bytes + client->sent, output->size - client->sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        client_close(client);
        return false;
    }
    client->sent += sent < 0 ? 0 : (size_t)sent;
    if (client->sent == output->size) {
        buffer_fini(output);
        account(client);
        client->sent = 0;
        want(client, client->interest & ~(uint32_t)EPOLLOUT);
    } else {
        want(client, client->interest | EPOLLOUT);
    }
    return true;
}

/* Keeps what is not to be sent now. false: too much, and the client is closed. */
static bool keep_rest(struct client *client, const struct buffer *reply, size_t sent) {
    struct loop *loop = client->loop;
    struct buffer *output = &client->output;
    if (client->sent > output->size / 2) {
        buffer_drop(output, client->sent);
        client->sent = 0;
    }
    if (output->size - client->sent + reply->size - sent > loop->broker->options.max_output)
        output->failed = true;
    buffer_append(output, reply->bytes + sent, reply->size - sent);
    if (!account(client) || output->failed) {
        client_close(client);
        loop_count(&loop->overflowed);
        return false;
    }
    return true;
}

/*
 * Sends what is in the loop's reply. The client may be gone on return. One whose push has served
 * somebody is told of it after him, who has waited longer: when the queue is run.
 */
static void flush(struct client *client) {
    struct loop *loop = client->loop;
    struct buffer *reply = &loop->reply;
    ssize_t sent = 0;
    bool is_open = !reply->failed;
    bool is_later = !client->is_leaving && !mailbox_is_empty(&loop->mailbox);
    if (!is_open)
        client_close(client);
    else if (reply->size > 0 && client->output.size == 0 && !is_later)
        sent = send(client->socket, reply->bytes, reply->size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        client_close(client);
        is_open = false;
    }
    sent = sent < 0 ? 0 : sent;
    if (is_open && (size_t)sent < reply->size) {
        is_open = keep_rest(client, reply, (size_t)sent);
        if (is_open && !is_later)
            want(client, client->interest | EPOLLOUT);
        else if (is_open)
            loop_queue(loop, client);
    }
    if (reply->capacity > 4 * REPLIES_A_ROUND || reply->failed)
        buffer_fini(reply);
    reply->size = 0;
    if (is_open && client->is_leaving && client->output.size == 0)
        client_close(client);
}

/* ------------------------------------------------------------------ input */

/* Executes a request, or says what is wrong with it. false: nothing more can be done now. */
static bool execute_one(struct client *client, char *bytes, size_t size, size_t *ret_consumed) {
    struct loop *loop = client->loop;
    struct resp_request *request = &loop->request;
    switch (resp_parse(request, bytes, size, loop->broker->options.max_request)) {
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

/* Executes what can be in this round, keeps the rest, and answers. The client may be gone. */
static void execute(struct client *client, char *bytes, size_t size) {
    struct loop *loop = client->loop;
    size_t at = 0;
    unsigned count = 0;
    bool goes_on = size >= client->needed;
    while (at < size && goes_on && count < REQUESTS_A_ROUND && loop->reply.size < REPLIES_A_ROUND) {
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
    if (client->input.failed)
        client->is_leaving = true; /* no memory: not even to say so */
    else if (client->input.size == 0)
        buffer_fini(&client->input);
    else if (goes_on && at < size)
        loop_queue(loop, client);
    account(client); /* the next read is refused if it is too much */
    if (loop->request.capacity > ARGUMENTS_KEPT)
        resp_fini(&loop->request);
    flush(client);
}

static void read_input(struct client *client) {
    struct loop *loop = client->loop;
    struct buffer *input = &client->input;
    bool is_part = input->size > 0; /* of a request; the rest goes behind it */
    if (is_part && !buffer_reserve(input, input->size < LOOP_INPUT_SIZE / 2 ? LOOP_INPUT_SIZE / 2
                                                                            : input->size)) {
        client_close(client);
        return;
    }
    if (!account(client)) {
        client_close(client);
        loop_count(&loop->overflowed);
        return;
    }
    char *to = is_part ? input->bytes + input->size : loop->input;
    size_t room = is_part ? input->capacity - input->size : LOOP_INPUT_SIZE;
    room = room < READ_MAX ? room : READ_MAX;
    ssize_t got = recv(client->socket, to, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == 0 && client->output.size > 0) { /* it has shut down its side, and still reads */
        client->is_leaving = true;
        want(client, EPOLLOUT);
    } else if (got <= 0) {
        client_close(client);
    } else if (is_part) {
        input->size += (size_t)got;
        execute(client, input->bytes, input->size);
    } else {
        execute(client, loop->input, (size_t)got);
    }
}

/* ------------------------------------------------------------------ events */

void client_event(struct client *client, uint32_t events) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 ||
        ((events & EPOLLRDHUP) != 0 && client->waiting != NULL)) {
        client_close(client);
        return;
    }
    if ((events & EPOLLOUT) != 0) {
        if (!send_rest(client))
            return;
        if (client->is_leaving && client->output.size == 0) {
            client_close(client);
            return;
        }
    }
    if (client->waiting != NULL || client->is_leaving)
        want(client, client->interest & ~(uint32_t)EPOLLIN);
    else if ((events & (EPOLLIN | EPOLLRDHUP)) != 0 && !client->is_queued)
        read_input(client);
}

void client_continue(struct client *client) {
    if (client->socket < 0)
        free_if_unused(client);
    else if (client->output.size > 0 && !send_rest(client))
        return;
    else if (client->waiting == NULL && client->is_leaving)
        flush(client);
    else if (client->waiting == NULL)
        execute(client, client->input.bytes, client->input.size);
}

/* Whether the other side has closed, which epoll may not have told yet. */
static bool has_hung_up(const struct client *client) {
    struct pollfd file = { .fd = client->socket, .events = POLLRDHUP };
    return poll(&file, 1, 0) != 0;
}

void client_resume(struct client *client) {
    struct loop *loop = client->loop;
    struct waiting *waiting = client->waiting;
    /* An item that is sent to nobody would be lost. */
    bool is_open = client->socket >= 0 && (waiting->item == NULL || !has_hung_up(client));
    if (is_open)
        blocking_answer(waiting, &loop->reply);
    blocking_end(loop->broker, waiting, is_open);
    client->waiting = NULL;
    loop->blocked--;
    if (client->socket < 0) {
        free_if_unused(client);
    } else if (!is_open) {
        client_close(client);
    } else if (client->is_leaving) {
        flush(client);
    } else {
        want(client, client->interest | EPOLLIN);
        execute(client, client->input.bytes, client->input.size);
    }
}

void client_dismiss(struct client *client) {
    client->is_leaving = true;
    if (client->waiting == NULL)
        flush(client);
}
