/* SPDX-License-Identifier: MIT */
/*
 * observer.h - what is observed of timers while that is switched on: counts by site, and the ring of the
 * flight recorder.
 *
 * Each shard, each expirer and each thread that runs callbacks has an observer, of which one thread at a time is
 * the writer: the one with the lock of the shard, in the role of the expirer, or that thread. Any thread reads, at any
 * time and without a lock. So what an observer has allocated stays where it is until it is destroyed.
 */
#ifndef HTW_SRC_OBSERVE_OBSERVER_H
#define HTW_SRC_OBSERVE_OBSERVER_H

#include "../base/compiler.h"
#include "../base/histogram.h"
#include "../base/random.h"
#include "../scheduler/record.h"
#include "../scheduler/state.h"

/* ---- counts by site */

/* What a site counts. */
enum htw__site_number {
    HTW__SITE_ARMED,
    HTW__SITE_CANCELLED,
    HTW__SITE_EXPIRED,
    HTW__SITE_LATE,
    HTW__SITE_CALLBACK_NS,
    HTW__SITE_WAKEUPS,
    HTW__SITE_NUMBERS
};

/* Who armed a timer, in one word: twice the address of its site and 1, or twice that of its callback; 0: unknown. (The
   highest bit of an address is that of the kernel, or a tag that does not count.) */
typedef uint64_t htw__origin;

static inline htw__origin htw__origin_of(const struct htw__record *record) {
    /* order: The flag is the same from the arming until the record is free. */
    uint64_t status = atomic_load_explicit(&record->status, memory_order_relaxed);
    return (uint64_t)(uintptr_t)record->callback << 1 | (status & HTW__HAS_SITE ? 1u : 0u);
}

static inline uintptr_t htw__origin_address(htw__origin origin) {
    return (uintptr_t)(origin >> 1);
}

static inline bool htw__origin_is_site(htw__origin origin) {
    return origin & 1;
}

/* A line of the cache. */
struct htw__site_entry {
    struct htw__counter origin; /* 0: not used */
    struct htw__counter numbers[HTW__SITE_NUMBERS];
    uint64_t _padding;
};

/* The first table has 64 entries, which is 4 KiB; each next one four times as many. It has those that find no
   room in the one before. */
#define HTW__SITE_FIRST_BITS 6u

struct htw__site_table {
    struct htw__site_table *_Atomic next;
    unsigned bits;  /* the table has 1 << bits entries */
    uint32_t count; /* of those in use; for the writer */
    alignas(64) struct htw__site_entry entries[];
};

/* ---- events */

/* An event as it is kept. Numbers by themselves: a reader may find an event while another takes its place. */
struct htw__event_record {
    struct htw__counter time_ns, deadline_ns, duration_ns, handle, origin, kind;
};

struct htw__event_ring {
    struct htw__counter count; /* of the events that were added */
    uint64_t size;             /* a power of two */
    struct htw__event_record events[];
};

/* ---- both */

struct htw__observer {
    alignas(64) const struct htw_scheduler *scheduler;
    struct htw__site_table *_Atomic table; /* NULL: not yet needed */
    struct htw__event_ring *_Atomic ring;  /* the same */
    uint32_t site_count;                   /* for the writer */
    struct htw__site_entry others;         /* of the sites that found no room */
    struct htw__counter lost;              /* events that found no ring */
};

/* The first table, or the next one; NULL: there is none. Any thread. */
static inline struct htw__site_table *htw__table_of(struct htw__site_table *_Atomic const *place) {
    /* order: The table must be seen empty, except for what was counted. [relaxed: `observe`] */
    return atomic_load_explicit(place, memory_order_acquire);
}

/* NULL: there is none. Any thread. */
static inline struct htw__event_ring *htw__observer_ring(const struct htw__observer *observer) {
    /* order: The size of the ring must be seen. [relaxed: `observe`] */
    return atomic_load_explicit(&observer->ring, memory_order_acquire);
}

void htw__observer_init(struct htw__observer *observer, const struct htw_scheduler *scheduler);
void htw__observer_fini(struct htw__observer *observer);

/* Allocates what the bits need. 0 or -ENOMEM. Any thread. */
int htw__observer_prepare(struct htw__observer *observer, uint32_t observe);

/* The memory that it has allocated. Any thread. */
uint64_t htw__observer_bytes(const struct htw__observer *observer);

/* ---- the writer */

static inline size_t htw__site_place(htw__origin origin, unsigned bits) {
    return (size_t)(origin * HTW__RANDOM_STEP >> (64u - bits));
}

/* The entry of a site, if it is at its first place; NULL: it is not. */
static inline struct htw__site_entry *htw__observer_first_place(struct htw__observer *observer,
                                                                htw__origin origin) {
    struct htw__site_table *table = htw__table_of(&observer->table);
    if (HTW__UNLIKELY(table == NULL))
        return NULL;
    struct htw__site_entry *entry = &table->entries[htw__site_place(origin, HTW__SITE_FIRST_BITS)];
    return HTW__LIKELY(htw__counter_read(&entry->origin) == origin) ? entry : NULL;
}

/* htw__observer_site() for a site that is not there. */
struct htw__site_entry *htw__observer_find_site(struct htw__observer *observer, htw__origin origin);

/* The entry of a site, which stays where it is. Where there is no memory or room for one: that of the
   others. */
static inline struct htw__site_entry *htw__observer_site(struct htw__observer *observer,
                                                         htw__origin origin) {
    struct htw__site_entry *entry = htw__observer_first_place(observer, origin);
    return HTW__LIKELY(entry != NULL) ? entry : htw__observer_find_site(observer, origin);
}

static inline void htw__site_add(struct htw__site_entry *entry, enum htw__site_number number,
                                 uint64_t n) {
    htw__counter_add(&entry->numbers[number], n);
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
