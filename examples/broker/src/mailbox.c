/* SPDX-License-Identifier: MIT */
/* mailbox.c - a lock-free stack and an eventfd. */
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

void mailbox_push(struct mailbox *mailbox, struct blocked_request *blocked, bool wake) {
    struct blocked_request *newest = atomic_load_explicit(&mailbox->newest, memory_order_relaxed);
    do
        blocked->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&mailbox->newest, &newest, blocked,
                                                  memory_order_release, memory_order_relaxed));
    if (newest == NULL && wake) /* otherwise the thread that pushed the first one wakes the loop */
        mailbox_wake(mailbox);
}

struct blocked_request *mailbox_pop_all(struct mailbox *mailbox) {
    struct blocked_request *newest =
        atomic_exchange_explicit(&mailbox->newest, NULL, memory_order_acquire);
    struct blocked_request *oldest = NULL;
    while (newest != NULL) {
        struct blocked_request *next = newest->next;
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
    (void)written; /* fails only if the counter is full: then the loop is awake */
}

void mailbox_clear_event(struct mailbox *mailbox) {
    uint64_t count;
    ssize_t got = read(mailbox->event, &count, sizeof(count));
    (void)got; /* it may have been clear */
}
