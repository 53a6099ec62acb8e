/* SPDX-License-Identifier: MIT */
/* command.h - the commands, and how one is executed. */
#ifndef BROKER_COMMAND_H
#define BROKER_COMMAND_H

#include "broker.h"
#include "buffer.h"
#include "client.h"
#include "resp.h"

/* A command that is being executed. */
struct call {
    struct broker *broker;
    struct client *client;
    const struct resp_argument *arguments; /* the first one is the name */
    size_t count;
    struct buffer *reply; /* each command writes one reply, or blocks the client */
};

enum {
    COMMAND_STORE = 1, /* runs under the store's lock */
    COMMAND_GROWS = 2  /* takes memory: refused while the store is above its limit */
};

struct command {
    const char *name; /* in capitals */
    void (*run)(struct call *call);
    int arity;     /* number of arguments, including the name; negative: the least number */
    int flags;     /* COMMAND_... */
    int first_key; /* index of the first key; 0: no keys */
    int last_key;  /* index of the last key; negative: counted from the end */
};

/* All commands, sorted by the length of the name, then by the name; see command_table.c. */
extern const struct command command_table[];
extern const size_t command_count;

/* Finds a command by its name, in any case; NULL if there is none. */
const struct command *command_find(const struct resp_argument *name);

/* Whether a command accepts `count` arguments, including the name. */
bool command_takes(const struct command *command, size_t count);

/* Finds the command, checks the number of arguments and the limit on memory, runs it (under the
   store's lock, if it needs that), and serves blocked clients. */
void command_execute(struct client *client, const struct resp_argument *arguments, size_t count,
                     struct buffer *reply);

/* Whether an argument is this word, in any case. */
bool command_is(const struct resp_argument *argument, const char *word);

/* Reads an integer. Returns false after an error reply. */
bool command_integer(struct call *call, size_t index, int64_t *ret_value);

/* commands_connection.c */
void command_client(struct call *call);
void command_echo(struct call *call);
void command_hello(struct call *call);
void command_ping(struct call *call);
void command_quit(struct call *call);
void command_select(struct call *call);

/* commands_server.c */
void command_command(struct call *call);
void command_config(struct call *call);
void command_dbsize(struct call *call);
void command_flushall(struct call *call);

/* info.c */
void command_info(struct call *call);

/* commands_keys.c */
void command_del(struct call *call);
void command_exists(struct call *call);
void command_expire(struct call *call);
void command_get(struct call *call);
void command_persist(struct call *call);
void command_pexpire(struct call *call);
void command_pttl(struct call *call);
void command_set(struct call *call);
void command_ttl(struct call *call);
void command_type(struct call *call);

/* commands_lists.c */
void command_llen(struct call *call);
void command_lpop(struct call *call);
void command_lpush(struct call *call);
void command_lrange(struct call *call);
void command_rpop(struct call *call);
void command_rpush(struct call *call);

/* commands_moves.c */
void command_blmove(struct call *call);
void command_blpop(struct call *call);
void command_brpop(struct call *call);
void command_lmove(struct call *call);

/* delayed.c */
void command_lpushat(struct call *call);
void command_lpushin(struct call *call);

#endif /* BROKER_COMMAND_H */
