/* SPDX-License-Identifier: MIT */
/*
 * mailbox.h - how other threads tell a loop that one of its blocked clients is to be answered.
 *
 * A stack that anybody pushes to and the owner takes as a whole, so that no lock is needed, and
 * an eventfd that is written only when the stack was empty.
 */
#ifndef BROKER_MAILBOX_H
#define BROKER_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>

struct waiting;

struct mailbox {
    _Atomic(struct waiting *) newest;
    int event; /* readable: look inside */
};

/* false: no file descriptor. */
bool mailbox_init(struct mailbox *mailbox);
void mailbox_fini(struct mailbox *mailbox);

/* `wake`: by another thread than the owner, who looks inside anyway before it sleeps. */
void mailbox_put(struct mailbox *mailbox, struct waiting *waiting, bool wake);

/* All that is inside, the oldest first; NULL: nothing. Only the owner. */
struct waiting *mailbox_take(struct mailbox *mailbox);
bool mailbox_is_empty(const struct mailbox *mailbox);

/* Makes the owner look up; and so that it can sleep again, once it has. */
void mailbox_wake(struct mailbox *mailbox);
void mailbox_hush(struct mailbox *mailbox);

#endif /* BROKER_MAILBOX_H */
