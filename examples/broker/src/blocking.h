/* SPDX-License-Identifier: MIT */
/*
 * blocking.h - BLPOP, BRPOP and BLMOVE of clients that have to wait: requests of the purgatory.
 *
 * A blocked client is a request that waits on the keys that the command names. Clients get items in
 * the order in which they blocked.
 *
 * A command that pushes only records that a list has changed. At the end of the command, still
 * under the store's lock, blocking_serve() checks each changed key for as many requests as the list
 * has items. The try_complete hook pops an item. A BLMOVE pushes it to another list, which is
 * recorded in turn: so a chain of BLMOVEs is a loop here, not a recursion.
 *
 * All requests are submitted and all keys are checked under the store's lock. So the hooks may use
 * the store. A request that has ended goes to the mailbox of its client's loop, whichever thread
 * ends it. That loop replies and frees it.
 */
#ifndef BROKER_BLOCKING_H
#define BROKER_BLOCKING_H

#include "broker.h"
#include "buffer.h"
#include "resp.h"

struct client;

/* The request of a blocked client. */
struct blocked_request {
    struct htw_request request;
    struct client *client;
    struct blocked_request *next; /* in the mailbox */
    struct item *item;            /* the item for the client; NULL: none yet */
    size_t memory; /* bytes of this struct, and of what the purgatory allocates for it */
    enum htw_reason reason;
    uint8_t from;          /* enum list_end */
    uint8_t to;            /* enum list_end; of a move */
    bool is_move;          /* the key behind the others is the destination */
    bool is_wrong_type;    /* the destination is not a list */
    uint32_t served;       /* index of the key that had the item */
    uint32_t key_count;    /* number of keys on which it waits */
    struct htw_key keys[]; /* copies; their bytes follow the array */
};

/* The arguments of a blocking command. */
struct blocking_options {
    const struct resp_argument *keys;
    size_t key_count;
    const struct resp_argument *destination; /* NULL: not a move */
    enum list_end from;
    enum list_end to;
    int64_t timeout_ns;
};

/* The hooks of the purgatory; `context` is the broker. */
bool blocking_try_complete(void *context, struct htw_request *request);
void blocking_on_complete(void *context, struct htw_request *request, enum htw_reason reason);
void blocking_release(void *context, struct htw_request *request);

/*
 * Blocks a client. Its request goes through the mailbox when it ends, also if it ends within this
 * call. Returns false if the client is not blocked: then the reply says why.
 */
bool blocking_start(struct broker *broker, struct client *client,
                    const struct blocking_options *options, struct buffer *reply,
                    struct blocked_request **ret_blocked);

/* Writes the reply for a request that has ended. */
void blocking_reply(const struct blocked_request *blocked, struct buffer *reply);

/* Frees a request that has ended. If the reply was not delivered, pushes the item back to its end
   of the list. */
void blocking_finish(struct broker *broker, struct blocked_request *blocked, bool is_delivered);

/* Records that a list has more items. Under the store's lock. */
void blocking_list_changed(struct broker *broker, struct entry *entry);

/* Serves the requests that wait for the recorded lists. Under the store's lock. */
void blocking_serve(struct broker *broker);

#endif /* BROKER_BLOCKING_H */
