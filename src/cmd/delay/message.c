/* SPDX-License-Identifier: MIT */
/* message.c - a message in memory, from its reading to its release. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

/* The bytes begin in the padding at the end of the struct, which must be there whole. */
static size_t memory_for(size_t size) {
    size_t memory = offsetof(struct htw__message, bytes) + size;
    return memory > sizeof(struct htw__message) ? memory : sizeof(struct htw__message);
}

static size_t instant_size(bool has_instant) {
    return has_instant ? sizeof(struct htw__time) : 0;
}

struct htw__message *htw__message_create(const char *bytes, size_t size, char terminator,
                                         const struct htw__time *instant) {
    bool has_instant = instant != NULL;
    struct htw__message *message = malloc(memory_for(size + 1 + instant_size(has_instant)));
    if (message == NULL)
        return NULL;
    htw_timer_init(&message->in.timer);
    message->due = htw__time_of(0, 0);
    message->size = size + 1;
    message->has_instant = has_instant;
    memcpy(message->bytes, bytes, size);
    message->bytes[size] = terminator;
    if (has_instant)
        memcpy(message->bytes + size + 1, instant, sizeof(*instant));
    return message;
}

bool htw__message_instant(const struct htw__message *message, struct htw__time *ret_instant) {
    if (message->has_instant)
        memcpy(ret_instant, message->bytes + message->size, sizeof(*ret_instant));
    return message->has_instant;
}

void htw__message_destroy(struct htw__message *message) {
    free(message);
}

size_t htw__message_memory(const struct htw__message *message) {
    return memory_for(message->size + instant_size(message->has_instant));
}

struct htw__message *htw__message_of(struct htw_timer *timer) {
    return timer == NULL ? NULL : HTW_CONTAINER_OF(timer, struct htw__message, in.timer);
}
