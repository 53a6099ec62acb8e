/* SPDX-License-Identifier: MIT */
/* commands_lists.c - list commands that never block. */
#include "blocking.h"
#include "command.h"
#include "list_key.h"
#include "number.h"
#include "reply.h"

#include <stdlib.h>

/* Finds the list of the first argument; `ret_entry` is NULL if there is none. Returns false after
   an error reply if the key holds a string. */
static bool find(struct call *call, struct entry **ret_entry) {
    bool wrong_type;
    *ret_entry = list_key_find(&call->broker->store, call->arguments[1].bytes,
                               call->arguments[1].size, &wrong_type);
    if (wrong_type)
        reply_error(call->reply, REPLY_WRONG_TYPE);
    return !wrong_type;
}

/* Pushes all elements. Blocked clients are served after the command. */
static void push(struct call *call, enum list_end end) {
    struct store *store = &call->broker->store;
    struct entry *entry;
    if (!find(call, &entry))
        return;
    entry = store_list(store, call->arguments[1].bytes, call->arguments[1].size, call->count - 2);
    for (size_t i = 2; entry != NULL && i < call->count; i++) {
        struct item *item = item_create(call->arguments[i].bytes, call->arguments[i].size);
        if (item == NULL) { /* the items before it stay */
            store_delete_if_empty(store, entry);
            entry = NULL;
        } else {
            store_push(store, entry, end, item);
            blocking_list_changed(call->broker, entry);
        }
    }
    if (entry == NULL)
        reply_error(call->reply, REPLY_NO_MEMORY);
    else
        reply_integer(call->reply, (int64_t)entry->value.list->count);
}

void command_lpush(struct call *call) {
    push(call, LIST_LEFT);
}

void command_rpush(struct call *call) {
    push(call, LIST_RIGHT);
}

static void reply_item(struct call *call, struct entry *entry, enum list_end end) {
    struct item *item = list_key_pop(&call->broker->store, entry, end);
    reply_bulk(call->reply, item->bytes, item->size);
    free(item);
}

static void pop(struct call *call, const char *name, enum list_end end) {
    struct entry *entry;
    int64_t count = 1;
    if (call->count > 3) {
        reply_error(call->reply, "ERR wrong number of arguments for '%s' command", name);
        return;
    }
    if (call->count == 3 &&
        (!number_parse(call->arguments[2].bytes, call->arguments[2].size, &count) || count < 0)) {
        reply_error(call->reply, "ERR value is out of range, must be positive");
        return;
    }
    if (!find(call, &entry))
        return;
    if (call->count == 2) {
        if (entry == NULL)
            reply_null(call->reply);
        else
            reply_item(call, entry, end);
        return;
    }
    if (entry == NULL) {
        reply_null_array(call->reply);
        return;
    }
    size_t there = entry->value.list->count;
    size_t taken = (uint64_t)count < there ? (size_t)count : there;
    reply_array(call->reply, taken);
    for (size_t i = 0; i < taken; i++)
        reply_item(call, entry, end);
}

void command_lpop(struct call *call) {
    pop(call, "lpop", LIST_LEFT);
}

void command_rpop(struct call *call) {
    pop(call, "rpop", LIST_RIGHT);
}

void command_llen(struct call *call) {
    struct entry *entry;
    if (find(call, &entry))
        reply_integer(call->reply, entry == NULL ? 0 : (int64_t)entry->value.list->count);
}

void command_lrange(struct call *call) {
    struct entry *entry;
    int64_t first, last;
    if (!command_integer(call, 2, &first) || !command_integer(call, 3, &last) ||
        !find(call, &entry))
        return;
    int64_t count = entry == NULL ? 0 : (int64_t)entry->value.list->count;
    first = first < 0 ? first + count : first;
    first = first < 0 ? 0 : first;
    last = last < 0 ? last + count : last;
    last = last >= count ? count - 1 : last;
    reply_array(call->reply, last < first ? 0 : (size_t)(last - first + 1));
    for (int64_t i = first; i <= last; i++) {
        const struct item *item = list_at(entry->value.list, (size_t)i);
        reply_bulk(call->reply, item->bytes, item->size);
    }
}
