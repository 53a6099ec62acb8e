/* SPDX-License-Identifier: MIT */
/* command.c - executes a command: its checks, the store's lock, the clients that it serves. */
#include "command.h"

#include "blocking.h"
#include "loop.h"
#include "number.h"
#include "reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Lists the arguments until the text has 128 bytes, as redis-server does. */
static void reply_unknown(const struct call *call) {
    char list[160] = "";
    int size = 0;
    for (size_t i = 1; i < call->count && size < 128; i++) {
        const struct resp_argument *argument = &call->arguments[i];
        int most = 128 - size;
        size +=
            snprintf(list + size, sizeof(list) - (size_t)size, "'%.*s' ",
                     argument->size < (size_t)most ? (int)argument->size : most, argument->bytes);
    }
    reply_error(call->reply, "ERR unknown command '%.*s', with args beginning with: %s",
                (int)(call->arguments[0].size < 128 ? call->arguments[0].size : 128),
                call->arguments[0].bytes, list);
}

static void reply_arity(const struct call *call, const struct command *command) {
    char name[16];
    size_t size = strlen(command->name);
    for (size_t i = 0; i <= size; i++)
        name[i] = (char)(command->name[i] >= 'A' ? command->name[i] | 0x20 : 0);
    reply_error(call->reply, "ERR wrong number of arguments for '%s' command", name);
}

/* Whether it is the first word of an HTTP request, which a web page can send to any port. */
static bool is_http(const struct resp_argument *name) {
    return command_is(name, "POST") || command_is(name, "Host:");
}

void command_execute(struct client *client, const struct resp_argument *arguments, size_t count,
                     struct buffer *reply) {
    struct broker *broker = client->loop->broker;
    struct call call = { broker, client, arguments, count, reply };
    const struct command *command = command_find(&arguments[0]);
    loop_count(&client->loop->commands);
    if (command == NULL && is_http(&arguments[0])) {
        client->is_closing = true; /* what follows may be a command in the text of the page */
        return;
    }
    if (command == NULL) {
        reply_unknown(&call);
        return;
    }
    if (!command_takes(command, count)) {
        reply_arity(&call, command);
        return;
    }
    if ((command->flags & COMMAND_STORE) == 0) {
        command->run(&call);
        return;
    }
    store_lock(&broker->store);
    if ((command->flags & COMMAND_GROWS) != 0 && broker->options.max_memory > 0 &&
        store_memory(&broker->store) > broker->options.max_memory)
        reply_error(reply, REPLY_NO_MEMORY);
    else
        command->run(&call);
    blocking_serve(broker);
    store_unlock(&broker->store);
}

bool command_is(const struct resp_argument *argument, const char *word) {
    return argument->size == strlen(word) &&
           strncasecmp(argument->bytes, word, argument->size) == 0;
}

bool command_integer(struct call *call, size_t index, int64_t *ret_value) {
    if (number_parse(call->arguments[index].bytes, call->arguments[index].size, ret_value))
        return true;
    reply_error(call->reply, REPLY_NOT_AN_INTEGER);
    return false;
}
