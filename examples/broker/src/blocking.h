/* SPDX-License-Identifier: MIT */
/*
 * blocking.h - BLPOP, BRPOP and BLMOVE: a request of the purgatory that waits on the keys, in the
 * order in which clients came.
 *
 * A command that pushes only notes that a list has changed. When it is over, and still under the
 * store's lock, blocking_serve() has the purgatory check each such key for as many requests as
 * there are items. The hook takes an item; if it moves it, it changes another list, which joins
 * the queue: a chain of BLMOVEs is a loop here, and not a recursion.
 *
 * All requests are submitted and all keys are checked under the store's lock, so that a hook which
 * looks at the store has it. A request that has ended goes to the mailbox of its client's loop,
 * whichever thread ended it, and is freed there.
 */
#ifndef BROKER_BLOCKING_H
#define BROKER_BLOCKING_H

#include "broker.h"
#include "buffer.h"
#include "resp.h"

struct client;

/* A client's request that is blocked. */
struct waiting {
    struct htw_request request;
    struct client *client;
    struct waiting *next; /* in a mailbox */
    struct item *item;    /* what it has got */
    size_t memory;        /* bytes of this and of what the purgatory keeps for it */
    enum htw_reason reason;
    uint8_t from;          /* enum list_end */
    uint8_t to;            /* the same, of a move */
    bool is_move;          /* the last of the keys is where to */
    bool is_wrong_type;    /* of the key where to */
    uint32_t served;       /* the key that had the item */
    uint32_t key_count;    /* on which it waits */
    struct htw_key keys[]; /* copies, with their bytes behind them */
};

/* What is wanted, before anybody waits. */
struct blocking_call {
    const struct resp_argument *keys;
    size_t key_count;
    const struct resp_argument *destination; /* NULL: no move */
    enum list_end from;
    enum list_end to;
    int64_t timeout_ns;
};

/* The hooks, for the options of the purgatory, with the broker as their context. */
bool blocking_try_complete(void *context, struct htw_request *request);
void blocking_on_complete(void *context, struct htw_request *request, enum htw_reason reason);
void blocking_release(void *context, struct htw_request *request);

/*
 * Lets a client wait. `ret_waiting` is what it waits for; the client hears of it again
 * through the mailbox, even if it has been served already. false: it has been answered.
 */
bool blocking_begin(struct broker *broker, struct client *client, const struct blocking_call *call,
                    struct buffer *reply, struct waiting **ret_waiting);

/* Writes the answer of a request that has come out of the mailbox. */
void blocking_answer(const struct waiting *waiting, struct buffer *reply);

/* Frees it. An item that nobody can be given, because the client has gone, is put back. */
void blocking_end(struct broker *broker, struct waiting *waiting, bool is_delivered);

/* A list has got items. */
void blocking_note(struct broker *broker, struct entry *entry);

/* Serves whoever waits for what has been noted. */
void blocking_serve(struct broker *broker);

#endif /* BROKER_BLOCKING_H */
