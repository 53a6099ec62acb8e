/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - the messages that the journal delivers, in its thread, on their way to the loop. A
 * delivery waits while too much is on its way, so that a slow reader of the output costs no memory.
 */
#ifndef HTW_SRC_CMD_DELAY_INBOX_H
#define HTW_SRC_CMD_DELAY_INBOX_H

#include "message.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct htw__inbox {
    int fd; /* an eventfd: something has happened */
    pthread_mutex_t mutex;
    pthread_cond_t room;
    struct htw__message *head, **tail;
    size_t bytes; /* of messages that were put and not released yet */
    bool is_closed;
    bool has_no_memory;
};

int htw__inbox_init(struct htw__inbox *self);
void htw__inbox_fini(struct htw__inbox *self);

/* Wakes the loop. Any thread. */
void htw__inbox_wake(struct htw__inbox *self);

/* In the journal's thread. NULL: there was no memory for a message. */
void htw__inbox_put(struct htw__inbox *self, struct htw__message *message);

/* In the loop: takes all messages, linked by `in.next`, after the descriptor was made unreadable. */
struct htw__message *htw__inbox_take(struct htw__inbox *self);

/* In the loop: a message was released or dropped. */
void htw__inbox_released(struct htw__inbox *self, const struct htw__message *message);

/* No delivery waits any more, and whether one had no memory. */
void htw__inbox_close(struct htw__inbox *self);
bool htw__inbox_has_no_memory(struct htw__inbox *self);

#endif /* HTW_SRC_CMD_DELAY_INBOX_H */
