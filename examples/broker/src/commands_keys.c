/* SPDX-License-Identifier: MIT */
/* commands_keys.c - strings, and the commands for keys of any type. */
#include "command.h"
#include "expiry.h"
#include "reply.h"

#include <stdlib.h>

static struct entry *find(struct call *call, size_t index) {
    return store_find(&call->broker->store, call->arguments[index].bytes,
                      call->arguments[index].size);
}

/* ------------------------------------------------------------------ SET, GET */

struct set_options {
    bool if_absent, if_present, keeps_expiry, returns_old;
    int64_t unit_ns; /* 0: no expiry */
    int64_t value;   /* in units of `unit_ns` */
};

/* Returns false after an error reply. */
static bool parse_set_options(struct call *call, struct set_options *options) {
    for (size_t i = 3; i < call->count; i++) {
        const struct resp_argument *word = &call->arguments[i];
        bool has_unit = options->unit_ns != 0;
        if (command_is(word, "NX") && !options->if_present) {
            options->if_absent = true;
        } else if (command_is(word, "XX") && !options->if_absent) {
            options->if_present = true;
        } else if (command_is(word, "GET")) {
            options->returns_old = true;
        } else if (command_is(word, "KEEPTTL") && !has_unit) {
            options->keeps_expiry = true;
        } else if ((command_is(word, "EX") || command_is(word, "PX")) && !has_unit &&
                   !options->keeps_expiry && i + 1 < call->count) {
            options->unit_ns = command_is(word, "EX") ? HTW_SECOND : HTW_MILLISECOND;
            if (!command_integer(call, ++i, &options->value))
                return false;
        } else {
            reply_error(call->reply, REPLY_SYNTAX);
            return false;
        }
    }
    return true;
}

/* Computes the instant `value` units from now. Returns false if it overflows. */
static bool deadline(struct call *call, int64_t value, int64_t unit_ns, int64_t *ret_deadline_ns) {
    int64_t delay_ns, now_ns = store_now(&call->broker->store);
    return !__builtin_mul_overflow(value, unit_ns, &delay_ns) &&
           !__builtin_add_overflow(now_ns, delay_ns, ret_deadline_ns);
}

/* Stores the value. Returns 0; -1: no memory. */
static int assign(struct call *call, const struct set_options *options, int64_t deadline_ns) {
    const struct resp_argument *arguments = call->arguments;
    struct item *item = item_create(arguments[2].bytes, arguments[2].size);
    bool is_new = find(call, 1) == NULL;
    struct entry *entry =
        item == NULL ? NULL
                     : store_set(&call->broker->store, arguments[1].bytes, arguments[1].size, item);
    if (entry == NULL) {
        free(item);
        return -1;
    }
    if (options->unit_ns == 0 && !options->keeps_expiry && !is_new)
        expiry_clear(entry);
    if (options->unit_ns != 0 && !expiry_set(entry, deadline_ns)) {
        store_delete(&call->broker->store,
                     entry); /* without its timer the key would stay for ever */
        return -1;
    }
    return 0;
}

void command_set(struct call *call) {
    struct set_options options = { .unit_ns = 0 };
    int64_t deadline_ns = 0;
    if (!parse_set_options(call, &options))
        return;
    if (options.unit_ns != 0 &&
        (options.value <= 0 || !deadline(call, options.value, options.unit_ns, &deadline_ns))) {
        reply_error(call->reply, "ERR invalid expire time in 'set' command");
        return;
    }
    const struct entry *old = find(call, 1);
    if (options.returns_old && old != NULL && old->kind != ENTRY_STRING) {
        reply_error(call->reply, REPLY_WRONG_TYPE);
        return;
    }
    bool is_refused = old != NULL ? options.if_absent : options.if_present;
    struct item *shown = NULL;
    if (options.returns_old && old != NULL)
        shown = item_create(old->value.string->bytes, old->value.string->size);
    if (!is_refused && assign(call, &options, deadline_ns) != 0)
        reply_error(call->reply, REPLY_NO_MEMORY);
    else if (shown != NULL)
        reply_bulk(call->reply, shown->bytes, shown->size);
    else if (options.returns_old || is_refused)
        reply_null(call->reply);
    else
        reply_status(call->reply, "OK");
    free(shown);
}

void command_get(struct call *call) {
    const struct entry *entry = find(call, 1);
    if (entry == NULL)
        reply_null(call->reply);
    else if (entry->kind != ENTRY_STRING)
        reply_error(call->reply, REPLY_WRONG_TYPE);
    else
        reply_bulk(call->reply, entry->value.string->bytes, entry->value.string->size);
    if (entry == NULL)
        call->broker->store.misses++;
    else
        call->broker->store.hits++;
}

/* ------------------------------------------------------------------ keys of any type */

void command_del(struct call *call) {
    int64_t count = 0;
    for (size_t i = 1; i < call->count; i++) {
        struct entry *entry = find(call, i);
        if (entry == NULL)
            continue;
        store_delete(&call->broker->store, entry);
        count++;
    }
    reply_integer(call->reply, count);
}

void command_exists(struct call *call) {
    int64_t count = 0;
    for (size_t i = 1; i < call->count; i++)
        count += find(call, i) != NULL;
    reply_integer(call->reply, count);
}

void command_type(struct call *call) {
    const struct entry *entry = find(call, 1);
    reply_status(call->reply, entry == NULL                 ? "none"
                              : entry->kind == ENTRY_STRING ? "string"
                                                            : "list");
}

/* ------------------------------------------------------------------ expiry */

static void expire(struct call *call, const char *name, int64_t unit_ns) {
    int64_t value, deadline_ns = 0;
    if (!command_integer(call, 2, &value))
        return;
    /* A time in the past deletes the key. Redis refuses it only if it overflows int64_t
       milliseconds. */
    bool is_past = value <= 0 && value >= INT64_MIN / (unit_ns / HTW_MILLISECOND);
    if (!is_past && (value < 0 || !deadline(call, value, unit_ns, &deadline_ns))) {
        reply_error(call->reply, "ERR invalid expire time in '%s' command", name);
        return;
    }
    struct entry *entry = find(call, 1);
    if (entry != NULL && is_past)
        store_delete(&call->broker->store, entry);
    else if (entry != NULL && !expiry_set(entry, deadline_ns)) {
        reply_error(call->reply, REPLY_NO_MEMORY);
        return;
    }
    reply_integer(call->reply, entry != NULL);
}

void command_expire(struct call *call) {
    expire(call, "expire", HTW_SECOND);
}

void command_pexpire(struct call *call) {
    expire(call, "pexpire", HTW_MILLISECOND);
}

void command_persist(struct call *call) {
    struct entry *entry = find(call, 1);
    reply_integer(call->reply, entry != NULL && expiry_clear(entry));
}

void command_pttl(struct call *call) {
    const struct entry *entry = find(call, 1);
    reply_integer(call->reply, entry == NULL ? -2 : expiry_remaining_ms(entry));
}

void command_ttl(struct call *call) {
    const struct entry *entry = find(call, 1);
    int64_t left_ms = entry == NULL ? -2 : expiry_remaining_ms(entry);
    reply_integer(call->reply, left_ms < 0 ? left_ms : (left_ms + 500) / 1000);
}
