/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "blocking.h"
#include "loop.h"
#include "number.h"
#include "reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    STORE = 1, /* runs under the store's lock */
    GROWS = 2  /* takes memory: refused when there is too much in the store already */
};

/* In order of length, then of the alphabet, by which they are found. */
static const struct command commands[] = {
    { "DEL", command_del, -2, STORE, 1, -1 },
    { "GET", command_get, 2, STORE, 1, 1 },
    { "SET", command_set, -3, STORE | GROWS, 1, 1 },
    { "TTL", command_ttl, 2, STORE, 1, 1 },
    { "ECHO", command_echo, 2, 0, 0, 0 },
    { "INFO", command_info, -1, STORE, 0, 0 },
    { "LLEN", command_llen, 2, STORE, 1, 1 },
    { "LPOP", command_lpop, -2, STORE, 1, 1 },
    { "PING", command_ping, -1, 0, 0, 0 },
    { "PTTL", command_pttl, 2, STORE, 1, 1 },
    { "QUIT", command_quit, -1, 0, 0, 0 },
    { "RPOP", command_rpop, -2, STORE, 1, 1 },
    { "TYPE", command_type, 2, STORE, 1, 1 },
    { "BLPOP", command_blpop, -3, STORE, 1, -2 },
    { "BRPOP", command_brpop, -3, STORE, 1, -2 },
    { "HELLO", command_hello, -1, 0, 0, 0 },
    { "LMOVE", command_lmove, 5, STORE | GROWS, 1, 2 },
    { "LPUSH", command_lpush, -3, STORE | GROWS, 1, 1 },
    { "RPUSH", command_rpush, -3, STORE | GROWS, 1, 1 },
    { "BLMOVE", command_blmove, 6, STORE | GROWS, 1, 2 },
    { "CLIENT", command_client, -2, 0, 0, 0 },
    { "CONFIG", command_config, -2, 0, 0, 0 },
    { "DBSIZE", command_dbsize, 1, STORE, 0, 0 },
    { "EXISTS", command_exists, -2, STORE, 1, -1 },
    { "EXPIRE", command_expire, 3, STORE, 1, 1 },
    { "LRANGE", command_lrange, 4, STORE, 1, 1 },
    { "SELECT", command_select, 2, 0, 0, 0 },
    { "COMMAND", command_command, -1, 0, 0, 0 },
    { "FLUSHDB", command_flushall, -1, STORE, 0, 0 },
    { "LPUSHAT", command_lpushat, 4, STORE | GROWS, 1, 1 },
    { "LPUSHIN", command_lpushin, 4, STORE | GROWS, 1, 1 },
    { "PERSIST", command_persist, 2, STORE, 1, 1 },
    { "PEXPIRE", command_pexpire, 3, STORE, 1, 1 },
    { "FLUSHALL", command_flushall, -1, STORE, 0, 0 },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *command_find(const struct resp_argument *name) {
    size_t low = 0, high = COMMANDS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = commands[middle].name;
        size_t size = strlen(other);
        int order = name->size != size ? (name->size < size ? -1 : 1)
                                       : strncasecmp(name->bytes, other, size);
        if (order == 0)
            return &commands[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Tells the arguments until their text is 128 bytes long, as redis-server does. */
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

bool command_takes(const struct command *command, size_t count) {
    return command->arity < 0 ? count >= (size_t)-command->arity : count == (size_t)command->arity;
}

/* The first words of requests that a web page can make a browser send to any port. */
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
        client->is_leaving = true; /* what follows may be a command hidden in a page's text */
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
    if ((command->flags & STORE) == 0) {
        command->run(&call);
        return;
    }
    store_lock(&broker->store);
    if ((command->flags & GROWS) != 0 && broker->options.max_memory > 0 &&
        store_memory(&broker->store) > broker->options.max_memory)
        reply_error(reply, REPLY_NO_MEMORY);
    else
        command->run(&call);
    blocking_serve(broker);
    store_unlock(&broker->store);
}

size_t command_count(void) {
    return COMMANDS;
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
