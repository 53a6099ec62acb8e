/* SPDX-License-Identifier: MIT */
/* commands_moves.c - BLPOP, BRPOP, LMOVE and BLMOVE: at once if possible, otherwise blocked. */
#include "blocking.h"
#include "command.h"
#include "list_key.h"
#include "reply.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads seconds with a fraction; 0 means for ever. Returns false after an error reply. */
static bool parse_timeout(struct call *call, size_t index, int64_t *ret_timeout_ns) {
    const struct resp_argument *argument = &call->arguments[index];
    char text[128], *end;
    double seconds = NAN;
    if (argument->size > 0 && argument->size < sizeof(text) && argument->bytes[0] > ' ') {
        memcpy(text, argument->bytes, argument->size);
        text[argument->size] = '\0';
        seconds = strtod(text, &end);
        if (end != text + argument->size)
            seconds = NAN;
    }
    if (isnan(seconds))
        reply_error(call->reply, "ERR timeout is not a float or out of range");
    else if (seconds < 0)
        reply_error(call->reply, "ERR timeout is negative");
    else if (seconds >= (double)INT64_MAX / (double)HTW_SECOND)
        reply_error(call->reply, "ERR timeout is out of range");
    else {
        *ret_timeout_ns = seconds > 0 ? (int64_t)ceil(seconds * (double)HTW_SECOND) : HTW_NEVER_NS;
        return true;
    }
    return false;
}

static bool parse_end(struct call *call, size_t index, enum list_end *ret_end) {
    *ret_end = command_is(&call->arguments[index], "LEFT") ? LIST_LEFT : LIST_RIGHT;
    if (*ret_end == LIST_LEFT || command_is(&call->arguments[index], "RIGHT"))
        return true;
    reply_error(call->reply, REPLY_SYNTAX);
    return false;
}

/* ------------------------------------------------------------------ BLPOP, BRPOP */

/* Pops from the first list that has an item. Returns false, without a reply, if there is none. */
static bool pop_at_once(struct call *call, enum list_end end) {
    for (size_t i = 1; i + 1 < call->count; i++) {
        const struct resp_argument *key = &call->arguments[i];
        bool wrong_type;
        struct entry *entry =
            list_key_find(&call->broker->store, key->bytes, key->size, &wrong_type);
        if (wrong_type) {
            reply_error(call->reply, REPLY_WRONG_TYPE);
            return true;
        }
        if (entry == NULL)
            continue;
        struct item *item = list_key_pop(&call->broker->store, entry, end);
        reply_array(call->reply, 2);
        reply_bulk(call->reply, key->bytes, key->size);
        reply_bulk(call->reply, item->bytes, item->size);
        free(item);
        return true;
    }
    return false;
}

static void blocking_pop(struct call *call, enum list_end end) {
    struct blocking_options options = { .keys = call->arguments + 1,
                                        .key_count = call->count - 2,
                                        .from = end };
    if (parse_timeout(call, call->count - 1, &options.timeout_ns) && !pop_at_once(call, end))
        blocking_start(call->broker, call->client, &options, call->reply, &call->client->blocked);
}

void command_blpop(struct call *call) {
    blocking_pop(call, LIST_LEFT);
}

void command_brpop(struct call *call) {
    blocking_pop(call, LIST_RIGHT);
}

/* ------------------------------------------------------------------ LMOVE, BLMOVE */

/* Moves an item. Returns false, without a reply, if there is none. */
static bool move_at_once(struct call *call, enum list_end from, enum list_end to) {
    const struct resp_argument *source = &call->arguments[1], *target = &call->arguments[2];
    bool wrong_type;
    struct item *copy = NULL;
    enum list_key_move outcome = LIST_KEY_WRONG_TYPE;
    struct entry *entry =
        list_key_find(&call->broker->store, source->bytes, source->size, &wrong_type);
    if (entry == NULL && !wrong_type)
        return false;
    if (entry != NULL)
        outcome = list_key_move(call->broker, entry, from, target->bytes, target->size, to, &copy);
    if (outcome == LIST_KEY_WRONG_TYPE)
        reply_error(call->reply, REPLY_WRONG_TYPE);
    else if (outcome == LIST_KEY_NO_MEMORY)
        reply_error(call->reply, REPLY_NO_MEMORY);
    else
        reply_bulk(call->reply, copy->bytes, copy->size);
    free(copy);
    return true;
}

void command_lmove(struct call *call) {
    enum list_end from, to;
    if (parse_end(call, 3, &from) && parse_end(call, 4, &to) && !move_at_once(call, from, to))
        reply_null(call->reply);
}

void command_blmove(struct call *call) {
    struct blocking_options options = { .keys = call->arguments + 1,
                                        .key_count = 1,
                                        .destination = call->arguments + 2 };
    if (parse_end(call, 3, &options.from) && parse_end(call, 4, &options.to) &&
        parse_timeout(call, 5, &options.timeout_ns) &&
        !move_at_once(call, options.from, options.to))
        blocking_start(call->broker, call->client, &options, call->reply, &call->client->blocked);
}
