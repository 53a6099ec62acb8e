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

struct command {
    const char *name;
    void (*run)(struct call *call);
    int arity; /* arguments, the name included; negative: at least so many */
    int flags;
};

/* In order of length, then of the alphabet, by which they are found. */
static const struct command commands[] = {
    { "DEL", command_del, -2, STORE },
    { "GET", command_get, 2, STORE },
    { "SET", command_set, -3, STORE | GROWS },
    { "TTL", command_ttl, 2, STORE },
    { "ECHO", command_echo, 2, 0 },
    { "INFO", command_info, -1, STORE },
    { "LLEN", command_llen, 2, STORE },
    { "LPOP", command_lpop, -2, STORE },
    { "PING", command_ping, -1, 0 },
    { "PTTL", command_pttl, 2, STORE },
    { "QUIT", command_quit, -1, 0 },
    { "RPOP", command_rpop, -2, STORE },
    { "TYPE", command_type, 2, STORE },
    { "BLPOP", command_blpop, -3, STORE },
    { "BRPOP", command_brpop, -3, STORE },
    { "HELLO", command_hello, -1, 0 },
    { "LMOVE", command_lmove, 5, STORE | GROWS },
    { "LPUSH", command_lpush, -3, STORE | GROWS },
    { "RPUSH", command_rpush, -3, STORE | GROWS },
    { "BLMOVE", command_blmove, 6, STORE | GROWS },
    { "CLIENT", command_client, -2, 0 },
    { "CONFIG", command_config, -2, 0 },
    { "DBSIZE", command_dbsize, 1, STORE },
    { "EXISTS", command_exists, -2, STORE },
    { "EXPIRE", command_expire, 3, STORE },
    { "LRANGE", command_lrange, 4, STORE },
    { "SELECT", command_select, 2, 0 },
    { "COMMAND", command_command, -1, 0 },
    { "FLUSHDB", command_flushall, -1, STORE },
    { "LPUSHAT", command_lpushat, 4, STORE | GROWS },
    { "LPUSHIN", command_lpushin, 4, STORE | GROWS },
    { "PERSIST", command_persist, 2, STORE },
    { "PEXPIRE", command_pexpire, 3, STORE },
    { "FLUSHALL", command_flushall, -1, STORE },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const struct resp_argument *name) {
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

void command_execute(struct client *client, const struct resp_argument *arguments, size_t count,
                     struct buffer *reply) {
    struct broker *broker = client->loop->broker;
    struct call call = { broker, client, arguments, count, reply };
    const struct command *command = find(&arguments[0]);
    loop_count(&client->loop->commands);
    if (command == NULL) {
        reply_unknown(&call);
        return;
    }
    if (command->arity < 0 ? count < (size_t)-command->arity : count != (size_t)command->arity) {
        reply_arity(&call, command);
        return;
    }
    if ((command->flags & STORE) == 0) {
        command->run(&call);
        return;
    }
    store_lock(&broker->store);
    if ((command->flags & GROWS) != 0 && broker->options.max_memory > 0 &&
        broker->store.memory > broker->options.max_memory)
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
