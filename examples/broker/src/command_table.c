/* SPDX-License-Identifier: MIT */
/*
 * command_table.c - which commands there are, and how one is found.
 *
 * To add a command, write a row here and declare its function in command.h. command_find() is a
 * binary search, so the rows are sorted by the length of the name, then by the name;
 * tests/test_commands.c fails where a row is out of order or a name occurs twice.
 */
#include "command.h"

#include <string.h>
#include <strings.h>

const struct command command_table[] = {
    { "DEL", command_del, -2, COMMAND_STORE, 1, -1 },
    { "GET", command_get, 2, COMMAND_STORE, 1, 1 },
    { "SET", command_set, -3, COMMAND_STORE | COMMAND_GROWS, 1, 1 },
    { "TTL", command_ttl, 2, COMMAND_STORE, 1, 1 },
    { "ECHO", command_echo, 2, 0, 0, 0 },
    { "INFO", command_info, -1, COMMAND_STORE, 0, 0 },
    { "LLEN", command_llen, 2, COMMAND_STORE, 1, 1 },
    { "LPOP", command_lpop, -2, COMMAND_STORE, 1, 1 },
    { "PING", command_ping, -1, 0, 0, 0 },
    { "PTTL", command_pttl, 2, COMMAND_STORE, 1, 1 },
    { "QUIT", command_quit, -1, 0, 0, 0 },
    { "RPOP", command_rpop, -2, COMMAND_STORE, 1, 1 },
    { "TYPE", command_type, 2, COMMAND_STORE, 1, 1 },
    { "BLPOP", command_blpop, -3, COMMAND_STORE, 1, -2 },
    { "BRPOP", command_brpop, -3, COMMAND_STORE, 1, -2 },
    { "HELLO", command_hello, -1, 0, 0, 0 },
    { "LMOVE", command_lmove, 5, COMMAND_STORE | COMMAND_GROWS, 1, 2 },
    { "LPUSH", command_lpush, -3, COMMAND_STORE | COMMAND_GROWS, 1, 1 },
    { "RPUSH", command_rpush, -3, COMMAND_STORE | COMMAND_GROWS, 1, 1 },
    { "BLMOVE", command_blmove, 6, COMMAND_STORE | COMMAND_GROWS, 1, 2 },
    { "CLIENT", command_client, -2, 0, 0, 0 },
    { "CONFIG", command_config, -2, 0, 0, 0 },
    { "DBSIZE", command_dbsize, 1, COMMAND_STORE, 0, 0 },
    { "EXISTS", command_exists, -2, COMMAND_STORE, 1, -1 },
    { "EXPIRE", command_expire, 3, COMMAND_STORE, 1, 1 },
    { "LRANGE", command_lrange, 4, COMMAND_STORE, 1, 1 },
    { "SELECT", command_select, 2, 0, 0, 0 },
    { "COMMAND", command_command, -1, 0, 0, 0 },
    { "FLUSHDB", command_flushall, -1, COMMAND_STORE, 0, 0 },
    { "LPUSHAT", command_lpushat, 4, COMMAND_STORE | COMMAND_GROWS, 1, 1 },
    { "LPUSHIN", command_lpushin, 4, COMMAND_STORE | COMMAND_GROWS, 1, 1 },
    { "PERSIST", command_persist, 2, COMMAND_STORE, 1, 1 },
    { "PEXPIRE", command_pexpire, 3, COMMAND_STORE, 1, 1 },
    { "FLUSHALL", command_flushall, -1, COMMAND_STORE, 0, 0 },
};

const size_t command_count = sizeof(command_table) / sizeof(command_table[0]);

const struct command *command_find(const struct resp_argument *name) {
    size_t low = 0, high = command_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = command_table[middle].name;
        size_t size = strlen(other);
        int order = name->size != size ? (name->size < size ? -1 : 1)
                                       : strncasecmp(name->bytes, other, size);
        if (order == 0)
            return &command_table[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool command_takes(const struct command *command, size_t count) {
    return command->arity < 0 ? count >= (size_t)-command->arity : count == (size_t)command->arity;
}
