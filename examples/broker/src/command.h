/* SPDX-License-Identifier: MIT */
/* command.h - which commands there are, and how one is carried out. */
#ifndef BROKER_COMMAND_H
#define BROKER_COMMAND_H

#include "broker.h"
#include "buffer.h"
#include "client.h"
#include "resp.h"

/* A request that is being carried out. */
struct call {
    struct broker *broker;
    struct client *client;
    const struct resp_argument *arguments; /* the first is the name */
    size_t count;
    struct buffer *reply; /* exactly one reply goes there, unless the client is blocked now */
};

struct command {
    const char *name;
    void (*run)(struct call *call);
    int arity;     /* arguments, the name included; negative: at least so many */
    int flags;     /* see command.c */
    int first_key; /* where the keys begin; 0: it has none */
    int last_key;  /* negative: counted from the end */
};

/* The command of that name, in capitals or not; NULL: there is none. */
const struct command *command_find(const struct resp_argument *name);

/* Whether a command may have so many arguments, the name included. */
bool command_takes(const struct command *command, size_t count);

/* Looks the command up, checks what can be checked of each, takes the store's lock if it
   needs it, runs it, and serves those who have waited for what it did. */
void command_execute(struct client *client, const struct resp_argument *arguments, size_t count,
                     struct buffer *reply);

/* How many there are. */
size_t command_count(void);

/* Whether an argument is this word, in capitals or not. */
bool command_is(const struct resp_argument *argument, const char *word);

/* Reads an integer; false: the reply says that it is none. */
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
