/* SPDX-License-Identifier: MIT */
/* commands_server.c - commands about the whole, and those that clients send by themselves. */
#include "command.h"
#include "reply.h"

#include <stdio.h>

/* Clients that look for hints about the commands take an empty list for an answer. */
void command_command(struct call *call) {
    if (call->count > 1 && command_is(&call->arguments[1], "COUNT"))
        reply_integer(call->reply, (int64_t)command_count());
    else
        reply_array(call->reply, 0);
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

/* Also with ASYNC or SYNC, which mean the same here. */
void command_flushall(struct call *call) {
    store_clear(&call->broker->store);
    reply_status(call->reply, "OK");
}
