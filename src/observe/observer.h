/* SPDX-License-Identifier: MIT */
/*
 * observer.h - what one part of a scheduler has observed: counts by site, the ring of the flight recorder, and more.
 *
 * Each shard, each expirer and each thread that runs callbacks has an observer, of which one thread at a time is
 * the writer: the one with the lock of the shard, in the role of the expirer, or that thread. Any thread reads, at any
 * time and without a lock. So the tables of an observer stay where they are until it is destroyed.
 */
#ifndef HTW_SRC_OBSERVE_OBSERVER_H
#define HTW_SRC_OBSERVE_OBSERVER_H

#include "../scheduler/observe.h"

#include <htw/timer.h>

/* ---- the tables of an observer */

/* The first table of sites has 64 entries, which is 4 KiB; each next one four times as many. It has those that find no
   room in the ones before. */
#define HTW__SITE_TABLES 4u

enum htw__table_number {
    HTW__TABLE_SITES,
    HTW__TABLE_EVENTS = HTW__TABLE_SITES + HTW__SITE_TABLES,
    HTW__TABLE_HERDS,  /* of an expirer */
    HTW__TABLE_STACKS, /* of a shard */
    HTW__TABLES
};

/* What each table begins with. */
struct htw__table_head {
    size_t bytes;
};

struct htw__site_table {
    struct htw__table_head table;
    uint32_t count; /* of the entries in use; for the writer */
    alignas(64) struct htw__site_entry entries[];
};

static inline size_t htw__site_table_size(const struct htw__site_table *table) {
    return (table->table.bytes - sizeof(*table)) / sizeof(table->entries[0]);
}

/* An event as it is kept. Numbers by themselves: a reader may find an event while another takes its place. */
struct htw__event_record {
    struct htw__counter time_ns, deadline_ns, duration_ns, handle, origin, kind;
};

struct htw__event_ring {
    struct htw__table_head table;
    uint64_t size;             /* a power of two */
    struct htw__counter count; /* of the events that were added */
    struct htw__event_record events[];
};

struct htw__observer {
    alignas(64) const struct htw_allocator *allocator;
    struct htw__table_head *_Atomic tables[HTW__TABLES]; /* NULL: not yet needed */
    uint32_t site_count;                                 /* for the writer */
    struct htw__site_entry others;                       /* of the sites that found no room */
};

/* NULL: there is none. Any thread. */
static inline void *htw__observer_table(const struct htw__observer *observer, unsigned number) {
    /* order: The table must be seen as it was before it was added, or later. [relaxed: `observe`] */
    return atomic_load_explicit(&observer->tables[number], memory_order_acquire);
}

/* A table that begins with `zeroed` bytes of 0. NULL: no memory. */
void *htw__table_create(const struct htw__observer *observer, size_t bytes, size_t zeroed);

/* A thread that adds the first table of a kind holds the mutex of the observation; the next ones of sites are the writer's. */
static inline void htw__observer_add_table(struct htw__observer *observer, unsigned number,
                                           void *table) {
    /* order: Who finds the table must see it as it is now. [relaxed: `observe`] */
    atomic_store_explicit(&observer->tables[number], table, memory_order_release);
}

/* The first table of sites, and a ring of so many events. False: no memory. */
bool htw__observer_add_sites(struct htw__observer *observer);
bool htw__observer_add_ring(struct htw__observer *observer, uint64_t size);

/* The memory of its tables. Any thread. */
uint64_t htw__observer_bytes(const struct htw__observer *observer);
void htw__observer_fini(struct htw__observer *observer);

/* ---- the writer */

/* htw__observer_site() for a site that is not at its first place. */
struct htw__site_entry *htw__observer_find_site(struct htw__observer *observer, htw__origin origin);

/* The entry of a site, which stays where it is. Where there is no memory or room for one: that of the
   others. */
static inline struct htw__site_entry *htw__observer_site(struct htw__observer *observer,
                                                         htw__origin origin) {
    struct htw__site_table *table = htw__observer_table(observer, HTW__TABLE_SITES);
    if (HTW__LIKELY(table != NULL)) {
        struct htw__site_entry *entry =
            &table->entries[htw__site_place(origin, HTW__SITE_FIRST_BITS)];
        if (HTW__LIKELY(htw__counter_read(&entry->origin) == origin))
            return entry;
    }
    return htw__observer_find_site(observer, origin);
}

struct htw__event {
    enum htw_event_kind kind;
    htw__origin origin;
    int64_t time_ns, deadline_ns, duration_ns;
    htw_handle handle;
    uint32_t runner, order; /* for readers: whose it is; a number for those of the same time */
};

void htw__observer_record(struct htw__observer *observer, const struct htw__event *event);

/* ---- readers */

/* Copies the events of a ring to `events`, which has room for `size` of the ring. Returns how many;
   `*ret_lost`: how many there were before. */
size_t htw__event_ring_copy(const struct htw__event_ring *ring, struct htw__event *events,
                            uint64_t *ret_lost);

#endif /* HTW_SRC_OBSERVE_OBSERVER_H */
