/* SPDX-License-Identifier: MIT */
#include "blocking.h"

#include "client.h"
#include "lists.h"
#include "loop.h"
#include "reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static struct waiting *waiting_of(struct htw_request *request) {
    return (struct waiting *)((char *)request - offsetof(struct waiting, request));
}

/* ------------------------------------------------------------------ hooks */

static bool is_served(const struct broker *broker, const struct htw_key *key) {
    const struct item *served = broker->served;
    return served != NULL && served->size == key->size &&
           memcmp(served->bytes, key->bytes, key->size) == 0;
}

/*
 * Takes an item from the key that is being served; of the other keys, of which one may have got an
 * item in the same step, those are to be served first who came first. Called under the store's
 * lock.
 */
bool blocking_try_complete(void *context, struct htw_request *request) {
    struct broker *broker = context;
    struct waiting *waiting = waiting_of(request);
    for (uint32_t i = 0; i < waiting->key_count; i++) {
        if (!is_served(broker, &waiting->keys[i]))
            continue;
        bool wrong_type; /* a string that took the place of a list: no reason to give up */
        struct entry *entry =
            lists_find(&broker->store, waiting->keys[i].bytes, waiting->keys[i].size, &wrong_type);
        if (entry == NULL || entry->value.list->count == 0)
            continue;
        waiting->served = i;
        if (!waiting->is_move) {
            waiting->item = lists_take(&broker->store, entry, waiting->from);
            return true;
        }
        const struct htw_key *where = &waiting->keys[waiting->key_count];
        waiting->is_wrong_type = lists_move(broker, entry, waiting->from, where->bytes, where->size,
                                            waiting->to, &waiting->item) == LISTS_WRONG_TYPE;
        return true;
    }
    return false;
}

void blocking_on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    waiting_of(request)->reason = reason;
}

void blocking_release(void *context, struct htw_request *request) {
    struct broker *broker = context;
    struct waiting *waiting = waiting_of(request);
    struct loop *loop = waiting->client->loop;
    atomic_fetch_sub_explicit(&broker->waiting, 1, memory_order_relaxed);
    mailbox_put(&loop->mailbox, waiting, loop != loop_current());
}

/* ------------------------------------------------------------------ beginning and end */

/* What the purgatory takes for a key at most: a watch and a cell; a long key is copied, too. */
#define KEY_COST 112

static struct waiting *waiting_create(struct client *client, const struct blocking_call *call) {
    size_t count = call->key_count + (call->destination != NULL ? 1 : 0);
    size_t bytes_of_keys = 0;
    for (size_t i = 0; i < count; i++)
        bytes_of_keys += (i < call->key_count ? &call->keys[i] : call->destination)->size;
    size_t size = sizeof(struct waiting) + count * sizeof(struct htw_key) + bytes_of_keys;
    struct waiting *waiting = malloc(size);
    if (waiting == NULL)
        return NULL;
    *waiting = (struct waiting) { .client = client,
                                  .memory = block_cost(size) + bytes_of_keys + count * KEY_COST,
                                  .from = (uint8_t)call->from,
                                  .to = (uint8_t)call->to,
                                  .is_move = call->destination != NULL,
                                  .key_count = (uint32_t)call->key_count };
    char *bytes = (char *)&waiting->keys[count];
    for (size_t i = 0; i < count; i++) {
        const struct resp_argument *key = i < call->key_count ? &call->keys[i] : call->destination;
        memcpy(bytes, key->bytes, key->size);
        waiting->keys[i] = (struct htw_key) { bytes, key->size };
        bytes += key->size;
    }
    return waiting;
}

bool blocking_begin(struct broker *broker, struct client *client, const struct blocking_call *call,
                    struct buffer *reply, struct waiting **ret_waiting) {
    struct waiting *waiting = waiting_create(client, call);
    if (waiting == NULL) {
        reply_error(reply, REPLY_NO_MEMORY);
        return false;
    }
    atomic_fetch_add_explicit(&broker->waiting, 1, memory_order_relaxed);
    int result = htw_purgatory_try_complete_else_watch(
        broker->purgatory, &waiting->request, waiting->keys, waiting->key_count, call->timeout_ns);
    if (result >= 0) {
        *ret_waiting = waiting;
        return true;
    }
    atomic_fetch_sub_explicit(&broker->waiting, 1, memory_order_relaxed);
    free(waiting);
    if (result == -ESHUTDOWN)
        reply_null_array(reply);
    else
        reply_error(reply, REPLY_NO_MEMORY);
    return false;
}

void blocking_answer(const struct waiting *waiting, struct buffer *reply) {
    if (waiting->reason != HTW_REASON_COMPLETED) {
        reply_null_array(reply); /* also at the end of the program: for clients a time-out */
    } else if (waiting->is_wrong_type) {
        reply_error(reply, REPLY_WRONG_TYPE);
    } else if (waiting->item == NULL) {
        reply_error(reply, REPLY_NO_MEMORY);
    } else {
        if (!waiting->is_move) {
            const struct htw_key *key = &waiting->keys[waiting->served];
            reply_array(reply, 2);
            reply_bulk(reply, key->bytes, key->size);
        }
        reply_bulk(reply, waiting->item->bytes, waiting->item->size);
    }
}

void blocking_end(struct broker *broker, struct waiting *waiting, bool is_delivered) {
    if (waiting->item != NULL && !waiting->is_move && !is_delivered) {
        const struct htw_key *key = &waiting->keys[waiting->served];
        store_lock(&broker->store);
        if (lists_give(broker, key->bytes, key->size, waiting->from, waiting->item))
            waiting->item = NULL;
        blocking_serve(broker);
        store_unlock(&broker->store);
    }
    free(waiting->item);
    free(waiting);
}

/* ------------------------------------------------------------------ events */

void blocking_note(struct broker *broker, struct entry *entry) {
    if (entry->is_queued || atomic_load_explicit(&broker->waiting, memory_order_relaxed) == 0)
        return; /* who comes to wait from now on finds the items by himself */
    entry->is_queued = true;
    DL_APPEND(broker->store.changed, entry);
}

/* Until the items are used up or nobody waits; some answers, such as WRONGTYPE, use up none. */
static void serve_key(struct broker *broker, const struct item *key) {
    while (true) {
        bool wrong_type;
        struct entry *entry = lists_find(&broker->store, key->bytes, key->size, &wrong_type);
        if (entry == NULL || htw_purgatory_check_at_most(broker->purgatory, key->bytes, key->size,
                                                         entry->value.list->count) <= 0)
            return;
    }
}

void blocking_serve(struct broker *broker) {
    struct store *store = &broker->store;
    while (store->changed != NULL) {
        struct entry *entry = store->changed;
        DL_DELETE(store->changed, entry);
        entry->is_queued = false;
        /* The entry may be deleted meanwhile, when its last item is taken: so with a copy. */
        struct item *key = item_create(entry->key, entry->key_size);
        broker->served = key;
        if (key != NULL)
            serve_key(broker, key);
        broker->served = NULL;
        free(key);
    }
}
