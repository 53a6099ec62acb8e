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

struct htw__message *htw__message_create(const char *bytes, size_t size, char terminator) {
    struct htw__message *message = malloc(memory_for(size + 1));
    if (message == NULL)
        return NULL;
    htw_timer_init(&message->in.timer);
    message->due_ns = 0;
    message->size = size + 1;
    message->instant_ns = INT64_MAX;
    memcpy(message->bytes, bytes, size);
    message->bytes[size] = terminator;
    return message;
}

void htw__message_destroy(struct htw__message *message) {
    free(message);
}

size_t htw__message_memory(const struct htw__message *message) {
    return memory_for(message->size);
}

struct htw__message *htw__message_of(struct htw_timer *timer) {
    return timer == NULL ? NULL : HTW_CONTAINER_OF(timer, struct htw__message, in.timer);
}
