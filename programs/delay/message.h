/* SPDX-License-Identifier: MIT */
/* message.h - one message in memory, from its reading to its release. */
#ifndef HTW_DELAY_MESSAGE_H
#define HTW_DELAY_MESSAGE_H

#include "../kit/times.h"

#include <htw/wheel.h>

#include <stddef.h>
#include <stdint.h>

struct htw__message {
    union {
        struct htw_timer timer;    /* while it waits in the wheel */
        struct htw__message *next; /* while it waits in the output queue */
    } in;
    int64_t due_ns;     /* since the start of the program */
    size_t size;        /* of `bytes`, with the terminator that ends the record */
    int64_t instant_ns; /* by the wall clock, as the line said; INT64_MAX: the line had a delay */
    char bytes[];
};

/* Copies a message and ends it with `terminator`. NULL when there is no memory. */
struct htw__message *htw__message_create(const char *bytes, size_t size, char terminator);

/* Frees it; the message must be neither in a wheel nor in a queue. */
void htw__message_destroy(struct htw__message *message);

/* The bytes that it takes, without what malloc adds. */
size_t htw__message_memory(const struct htw__message *message);

/* The message whose timer the wheel handed out; NULL for NULL. */
struct htw__message *htw__message_of(struct htw_timer *timer);

#endif /* HTW_DELAY_MESSAGE_H */
