/* SPDX-License-Identifier: MIT */
/* commands_connection.c - commands about the connection. They do not use the store. */
#include "command.h"
#include "loop.h"
#include "number.h"
#include "reply.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void command_ping(struct call *call) {
    if (call->count == 1)
        reply_status(call->reply, "PONG");
    else if (call->count == 2)
        reply_bulk(call->reply, call->arguments[1].bytes, call->arguments[1].size);
    else
        reply_error(call->reply, "ERR wrong number of arguments for 'ping' command");
}

void command_echo(struct call *call) {
    reply_bulk(call->reply, call->arguments[1].bytes, call->arguments[1].size);
}

void command_quit(struct call *call) {
    reply_status(call->reply, "OK");
    call->client->is_closing = true;
}

void command_select(struct call *call) {
    int64_t number;
    if (!command_integer(call, 1, &number))
        return;
    if (number != 0)
        reply_error(call->reply, "ERR DB index is out of range");
    else
        reply_status(call->reply, "OK");
}

/* Clients ask for version 3, and use version 2 if it is refused. */
void command_hello(struct call *call) {
    int64_t version = 2;
    if (call->count > 1 &&
        !number_parse(call->arguments[1].bytes, call->arguments[1].size, &version)) {
        reply_error(call->reply, "ERR Protocol version is not an integer or out of range");
        return;
    }
    if (version != 2) {
        reply_error(call->reply, "NOPROTO unsupported protocol version");
        return;
    }
    if (call->count > 2) { /* AUTH, SETNAME */
        reply_error(call->reply, "ERR Syntax error in HELLO option '%.*s'",
                    (int)(call->arguments[2].size < 64 ? call->arguments[2].size : 64),
                    call->arguments[2].bytes);
        return;
    }
    reply_array(call->reply, 14);
    reply_string(call->reply, "server");
    reply_string(call->reply, "redis");
    reply_string(call->reply, "version");
    reply_string(call->reply, "7.0.0");
    reply_string(call->reply, "proto");
    reply_integer(call->reply, 2);
    reply_string(call->reply, "id");
    reply_integer(call->reply, (int64_t)call->client->id);
    reply_string(call->reply, "mode");
    reply_string(call->reply, "standalone");
    reply_string(call->reply, "role");
    reply_string(call->reply, "master");
    reply_string(call->reply, "modules");
    reply_array(call->reply, 0);
}

/* ------------------------------------------------------------------ CLIENT */

#define NAME_MAX_SIZE 1024

static void set_name(struct call *call) {
    const struct resp_argument *name = &call->arguments[2];
    struct loop *loop = call->client->loop;
    for (size_t i = 0; i < name->size; i++) {
        if (name->bytes[i] < '!' || name->bytes[i] > '~') {
            reply_error(call->reply, "ERR Client names cannot contain spaces, newlines or special "
                                     "characters.");
            return;
        }
    }
    if (name->size > NAME_MAX_SIZE) { /* CLIENT LIST replies with all names */
        reply_error(call->reply, "ERR Client names cannot be longer than %d bytes", NAME_MAX_SIZE);
        return;
    }
    char *copy = name->size == 0 ? NULL : strndup(name->bytes, name->size);
    pthread_mutex_lock(&loop->mutex);
    free(call->client->name);
    call->client->name = copy;
    pthread_mutex_unlock(&loop->mutex);
    reply_status(call->reply, "OK");
}

/* Writes one line of CLIENT LIST. Under the mutex of the client's loop. */
static void describe(const struct client *client, struct buffer *text) {
    struct sockaddr_in address = { .sin_port = 0 };
    socklen_t size = sizeof(address);
    char host[INET_ADDRSTRLEN] = "?", line[160];
    if (getpeername(client->socket, (struct sockaddr *)&address, &size) == 0)
        inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host));
    int written =
        snprintf(line, sizeof(line),
                 "id=%llu addr=%s:%u fd=%d db=0 resp=2 name=", (unsigned long long)client->id, host,
                 ntohs(address.sin_port), client->socket);
    buffer_append(text, line, (size_t)written);
    if (client->name != NULL)
        buffer_append(text, client->name, strlen(client->name));
    buffer_append(text, "\n", 1);
}

/* Lists all clients, or only the caller. */
static void list_clients(struct call *call, bool all) {
    struct buffer text = { .bytes = NULL };
    for (unsigned i = 0; i < call->broker->options.threads; i++) {
        struct loop *loop = &call->broker->loops[i];
        pthread_mutex_lock(&loop->mutex);
        for (const struct client *client = loop->clients; client != NULL; client = client->next)
            if (all || client == call->client)
                describe(client, &text);
        pthread_mutex_unlock(&loop->mutex);
    }
    reply_bulk(call->reply, text.bytes, text.size);
    buffer_fini(&text);
}

void command_client(struct call *call) {
    const struct resp_argument *which = &call->arguments[1];
    const char *name = call->client->name; /* only this thread writes it */
    if (command_is(which, "ID") && call->count == 2)
        reply_integer(call->reply, (int64_t)call->client->id);
    else if (command_is(which, "GETNAME") && call->count == 2 && name == NULL)
        reply_null(call->reply);
    else if (command_is(which, "GETNAME") && call->count == 2)
        reply_string(call->reply, name);
    else if (command_is(which, "SETNAME") && call->count == 3)
        set_name(call);
    else if (command_is(which, "SETINFO") && call->count == 4)
        reply_status(call->reply, "OK");
    else if (command_is(which, "LIST") || command_is(which, "INFO"))
        list_clients(call, command_is(which, "LIST"));
    else
        reply_error(call->reply,
                    "ERR unknown subcommand '%.*s' or wrong number of arguments for 'client'",
                    (int)(which->size < 64 ? which->size : 64), which->bytes);
}
