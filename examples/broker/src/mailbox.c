/* SPDX-License-Identifier: MIT */
#include "mailbox.h"

#include "blocking.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool mailbox_init(struct mailbox *mailbox) {
    atomic_init(&mailbox->newest, NULL);
    mailbox->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return mailbox->event >= 0;
}

void mailbox_fini(struct mailbox *mailbox) {
    close(mailbox->event);
}

void mailbox_put(struct mailbox *mailbox, struct waiting *waiting, bool wake) {
    struct waiting *newest = atomic_load_explicit(&mailbox->newest, memory_order_relaxed);
    do
        waiting->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&mailbox->newest, &newest, waiting,
                                                  memory_order_release, memory_order_relaxed));
    if (newest == NULL && wake) /* otherwise whoever put the first one has seen to it */
        mailbox_wake(mailbox);
}

struct waiting *mailbox_take(struct mailbox *mailbox) {
    struct waiting *newest = atomic_exchange_explicit(&mailbox->newest, NULL, memory_order_acquire);
    struct waiting *oldest = NULL;
    while (newest != NULL) {
        struct waiting *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool mailbox_is_empty(const struct mailbox *mailbox) {
    return atomic_load_explicit(&mailbox->newest, memory_order_acquire) == NULL;
}

void mailbox_wake(struct mailbox *mailbox) {
    uint64_t one = 1;
    ssize_t written = write(mailbox->event, &one, sizeof(one));
    (void)written; /* it fails only when the counter is full: then the owner is awake */
}

void mailbox_hush(struct mailbox *mailbox) {
    uint64_t count;
    ssize_t got = read(mailbox->event, &count, sizeof(count));
    (void)got; /* nothing there, no matter */
}
