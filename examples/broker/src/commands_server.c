/* SPDX-License-Identifier: MIT */
/* commands_server.c - commands about the server, and those that clients send when they connect. */
#include "command.h"
#include "reply.h"

#include <stdio.h>

static void reply_keys(struct call *call) {
    const struct command *command = command_find(&call->arguments[2]);
    size_t count = call->count - 2;
    if (command == NULL) {
        reply_error(call->reply, "ERR Invalid command specified");
    } else if (command->first_key == 0) {
        reply_error(call->reply, "ERR The command has no key arguments");
    } else if (!command_takes(command, count)) {
        reply_error(call->reply, "ERR Invalid number of arguments specified for command");
    } else {
        size_t first = (size_t)command->first_key;
        size_t last =
            command->last_key < 0 ? count - (size_t)-command->last_key : (size_t)command->last_key;
        reply_array(call->reply, last - first + 1);
        for (size_t i = first; i <= last; i++)
            reply_bulk(call->reply, call->arguments[2 + i].bytes, call->arguments[2 + i].size);
    }
}

/* Clients that ask for descriptions of the commands accept an empty list. */
void command_command(struct call *call) {
    const struct resp_argument *which = call->count > 1 ? &call->arguments[1] : NULL;
    if (which == NULL || command_is(which, "DOCS") || command_is(which, "INFO"))
        reply_array(call->reply, 0);
    else if (command_is(which, "COUNT") && call->count == 2)
        reply_integer(call->reply, (int64_t)command_count);
    else if (command_is(which, "GETKEYS") && call->count > 3)
        reply_keys(call);
    else if (command_is(which, "COUNT") || command_is(which, "GETKEYS"))
        reply_error(call->reply, "ERR wrong number of arguments for 'command|%s' command",
                    command_is(which, "COUNT") ? "count" : "getkeys");
    else
        reply_error(call->reply, "ERR unknown subcommand '%.*s'. Try COMMAND HELP.",
                    (int)(which->size < 128 ? which->size : 128), which->bytes);
}

static void reply_setting(struct buffer *reply, const char *name, const char *value) {
    reply_array(reply, 2);
    reply_string(reply, name);
    reply_string(reply, value);
}

void command_config(struct call *call) {
    const struct options *options = &call->broker->options;
    char value[24];
    if (!command_is(&call->arguments[1], "GET") || call->count != 3) {
        reply_error(call->reply, "ERR only CONFIG GET with one name is supported");
    } else if (command_is(&call->arguments[2], "save")) {
        reply_setting(call->reply, "save", "");
    } else if (command_is(&call->arguments[2], "appendonly")) {
        reply_setting(call->reply, "appendonly", "no");
    } else if (command_is(&call->arguments[2], "maxmemory")) {
        snprintf(value, sizeof(value), "%llu", (unsigned long long)options->max_memory);
        reply_setting(call->reply, "maxmemory", value);
    } else if (command_is(&call->arguments[2], "maxclients")) {
        snprintf(value, sizeof(value), "%u", options->max_clients);
        reply_setting(call->reply, "maxclients", value);
    } else {
        reply_array(call->reply, 0);
    }
}

void command_dbsize(struct call *call) {
    reply_integer(call->reply, (int64_t)store_count(&call->broker->store));
}

/* ASYNC and SYNC are accepted, and make no difference. */
void command_flushall(struct call *call) {
    if (call->count > 2 || (call->count == 2 && !command_is(&call->arguments[1], "ASYNC") &&
                            !command_is(&call->arguments[1], "SYNC"))) {
        reply_error(call->reply, REPLY_SYNTAX);
        return;
    }
    store_clear(&call->broker->store);
    reply_status(call->reply, "OK");
}
