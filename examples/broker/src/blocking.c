/* SPDX-License-Identifier: MIT */
/* blocking.c - the hooks of the purgatory, and how a push serves blocked clients. */
#include "blocking.h"

#include "client.h"
#include "list_key.h"
#include "loop.h"
#include "reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static struct blocked_request *blocked_of(struct htw_request *request) {
    return HTW_CONTAINER_OF(request, struct blocked_request, request);
}

/* ------------------------------------------------------------------ hooks */

static bool is_served(const struct broker *broker, const struct htw_key *key) {
    const struct item *served = broker->served_key;
    return served != NULL && served->size == key->size &&
           memcmp(served->bytes, key->bytes, key->size) == 0;
}

/*
 * Pops an item from the key that is being served, and from no other: on another key with items,
 * clients that blocked earlier may be first. Runs under the store's lock.
 */
bool blocking_try_complete(void *context, struct htw_request *request) {
    struct broker *broker = context;
    struct blocked_request *blocked = blocked_of(request);
    for (uint32_t i = 0; i < blocked->key_count; i++) {
        if (!is_served(broker, &blocked->keys[i]))
            continue;
        bool wrong_type; /* a string that replaced the list: the client waits on */
        struct entry *entry = list_key_find(&broker->store, blocked->keys[i].bytes,
                                            blocked->keys[i].size, &wrong_type);
        if (entry == NULL || entry->value.list->count == 0)
            continue;
        blocked->served = i;
        if (!blocked->is_move) {
            blocked->item = list_key_pop(&broker->store, entry, blocked->from);
            return true;
        }
        const struct htw_key *where = &blocked->keys[blocked->key_count];
        blocked->is_wrong_type =
            list_key_move(broker, entry, blocked->from, where->bytes, where->size, blocked->to,
                          &blocked->item) == LIST_KEY_WRONG_TYPE;
        return true;
    }
    return false;
}

void blocking_on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    blocked_of(request)->reason = reason;
}

void blocking_release(void *context, struct htw_request *request) {
    struct broker *broker = context;
    struct blocked_request *blocked = blocked_of(request);
    struct loop *loop = blocked->client->loop;
    atomic_fetch_sub_explicit(&broker->blocked_clients, 1, memory_order_relaxed);
    mailbox_push(&loop->mailbox, blocked, loop != loop_current());
}

/* ------------------------------------------------------------------ start, reply, finish */

/* Bytes that the purgatory allocates for each key, at most. It also copies long keys. */
#define KEY_COST 112

static struct blocked_request *blocked_create(struct client *client,
                                              const struct blocking_options *options) {
    size_t count = options->key_count + (options->destination != NULL ? 1 : 0);
    size_t bytes_of_keys = 0;
    for (size_t i = 0; i < count; i++)
        bytes_of_keys += (i < options->key_count ? &options->keys[i] : options->destination)->size;
    size_t size = sizeof(struct blocked_request) + count * sizeof(struct htw_key) + bytes_of_keys;
    struct blocked_request *blocked = malloc(size);
    if (blocked == NULL)
        return NULL;
    *blocked =
        (struct blocked_request) { .client = client,
                                   .memory = block_cost(size) + bytes_of_keys + count * KEY_COST,
                                   .from = (uint8_t)options->from,
                                   .to = (uint8_t)options->to,
                                   .is_move = options->destination != NULL,
                                   .key_count = (uint32_t)options->key_count };
    char *bytes = (char *)&blocked->keys[count];
    for (size_t i = 0; i < count; i++) {
        const struct resp_argument *key =
            i < options->key_count ? &options->keys[i] : options->destination;
        memcpy(bytes, key->bytes, key->size);
        blocked->keys[i] = (struct htw_key) { bytes, key->size };
        bytes += key->size;
    }
    return blocked;
}

bool blocking_start(struct broker *broker, struct client *client,
                    const struct blocking_options *options, struct buffer *reply,
                    struct blocked_request **ret_blocked) {
    struct blocked_request *blocked = blocked_create(client, options);
    if (blocked == NULL) {
        reply_error(reply, REPLY_NO_MEMORY);
        return false;
    }
    atomic_fetch_add_explicit(&broker->blocked_clients, 1, memory_order_relaxed);
    int result =
        htw_purgatory_try_complete_else_watch(broker->purgatory, &blocked->request, blocked->keys,
                                              blocked->key_count, options->timeout_ns);
    if (result >= 0) {
        *ret_blocked = blocked;
        return true;
    }
    atomic_fetch_sub_explicit(&broker->blocked_clients, 1, memory_order_relaxed);
    free(blocked);
    if (result == -ESHUTDOWN)
        reply_null_array(reply);
    else
        reply_error(reply, REPLY_NO_MEMORY);
    return false;
}

void blocking_reply(const struct blocked_request *blocked, struct buffer *reply) {
    if (blocked->reason != HTW_REASON_COMPLETED) {
        reply_null_array(
            reply); /* a timeout, or the program ends: clients take both as a timeout */
    } else if (blocked->is_wrong_type) {
        reply_error(reply, REPLY_WRONG_TYPE);
    } else if (blocked->item == NULL) {
        reply_error(reply, REPLY_NO_MEMORY);
    } else {
        if (!blocked->is_move) {
            const struct htw_key *key = &blocked->keys[blocked->served];
            reply_array(reply, 2);
            reply_bulk(reply, key->bytes, key->size);
        }
        reply_bulk(reply, blocked->item->bytes, blocked->item->size);
    }
}

void blocking_finish(struct broker *broker, struct blocked_request *blocked, bool is_delivered) {
    if (blocked->item != NULL && !blocked->is_move && !is_delivered) {
        const struct htw_key *key = &blocked->keys[blocked->served];
        store_lock(&broker->store);
        if (list_key_push(broker, key->bytes, key->size, blocked->from, blocked->item))
            blocked->item = NULL;
        blocking_serve(broker);
        store_unlock(&broker->store);
    }
    free(blocked->item);
    free(blocked);
}

/* ------------------------------------------------------------------ events */

void blocking_list_changed(struct broker *broker, struct entry *entry) {
    if (entry->is_queued ||
        atomic_load_explicit(&broker->blocked_clients, memory_order_relaxed) == 0)
        return; /* a client that blocks later looks at the list first */
    entry->is_queued = true;
    DL_APPEND(broker->store.changed, entry);
}

/* Repeats, because a request may end without an item, for example with WRONGTYPE. */
static void serve_key(struct broker *broker, const struct item *key) {
    while (true) {
        bool wrong_type;
        struct entry *entry = list_key_find(&broker->store, key->bytes, key->size, &wrong_type);
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
        /* A copy, because the entry is deleted with its last item. */
        struct item *key = item_create(entry->key, entry->key_size);
        broker->served_key = key;
        if (key != NULL)
            serve_key(broker, key);
        broker->served_key = NULL;
        free(key);
    }
}
