/* SPDX-License-Identifier: MIT */
/*
 * mailbox.h - how any thread gives an ended request to the loop of its client.
 *
 * A lock-free stack, to which any thread pushes and which its loop empties as a whole. An eventfd
 * wakes the loop; it is written only when the stack was empty.
 */
#ifndef BROKER_MAILBOX_H
#define BROKER_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>

struct blocked_request;

struct mailbox {
    _Atomic(struct blocked_request *) newest;
    int event; /* an eventfd */
};

/* Returns false if there is no file descriptor. */
bool mailbox_init(struct mailbox *mailbox);
void mailbox_fini(struct mailbox *mailbox);

/* `wake` is false in the thread of the loop itself, which empties the mailbox before it sleeps. */
void mailbox_push(struct mailbox *mailbox, struct blocked_request *blocked, bool wake);

/* Removes all requests, and returns them oldest first; NULL if there are none. Only for the loop.
   */
struct blocked_request *mailbox_pop_all(struct mailbox *mailbox);
bool mailbox_is_empty(const struct mailbox *mailbox);

/* Wakes the loop from epoll_wait(); the loop clears the event. */
void mailbox_wake(struct mailbox *mailbox);
void mailbox_clear_event(struct mailbox *mailbox);

#endif /* BROKER_MAILBOX_H */
