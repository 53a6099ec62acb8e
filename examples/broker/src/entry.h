/* SPDX-License-Identifier: MIT */
/* entry.h - a key with its value, as the table, the store and the expiry see it. */
#ifndef BROKER_ENTRY_H
#define BROKER_ENTRY_H

#include <htw/scheduler.h>

struct item;
struct list;
struct store;

enum entry_kind { ENTRY_STRING, ENTRY_LIST };

struct entry {
    /* In the table; see table.h. */
    struct entry *next_in_bucket;
    uint32_t hash;
    union {
        struct item *string; /* not NULL */
        struct list *list;   /* not NULL; empty only during a command */
    } value;
    /* In the queue of changed lists; see blocking.h. */
    struct entry *prev;
    struct entry *next;
    /* See expiry.h. */
    struct store *store;
    int64_t deadline_ns;
    htw_handle expiry;
    enum entry_kind kind;
    bool is_queued; /* in the queue of changed lists */
    size_t key_size;
    char key[];
};

#endif /* BROKER_ENTRY_H */
