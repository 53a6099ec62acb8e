/* SPDX-License-Identifier: MIT */
/* observer.c - counts by site, and the ring of the flight recorder, of one writer. */
#include "observer.h"

#include <string.h>

#define FIRST_BITS HTW__SITE_FIRST_BITS
#define LAST_BITS 12u
_Static_assert(HTW_SITES_MAX == 1u << LAST_BITS, "the last table may be filled");

#define EVENTS_DEFAULT 65536u
#define RING_MIN 8u

void htw__observer_init(struct htw__observer *observer, const struct htw_scheduler *scheduler) {
    *observer = (struct htw__observer) { .scheduler = scheduler };
}

/* ---- tables */

static size_t table_bytes(unsigned bits) {
    return sizeof(struct htw__site_table) + ((size_t)1 << bits) * sizeof(struct htw__site_entry);
}

/* The table behind `*place`, created if there is none; NULL: no memory. Any thread. */
static struct htw__site_table *table_at(struct htw__observer *observer,
                                        struct htw__site_table *_Atomic *place, unsigned bits) {
    const struct htw_allocator *allocator = &observer->scheduler->allocator;
    struct htw__site_table *present = htw__table_of(place);
    if (present != NULL)
        return present;
    struct htw__site_table *table = htw__allocate(allocator, table_bytes(bits));
    if (table == NULL)
        return NULL;
    *table = (struct htw__site_table) { .bits = bits };
    memset(table->entries, 0, table_bytes(bits) - sizeof(*table));
    /* order: Release: who finds the table must see it empty. Acquire: the same, where another thread
       was faster. [acquire: `observe`; release: no, as what it publishes is plain memory, of which the
       explorer has no older values; failed relaxed: `observe`] */
    if (atomic_compare_exchange_strong_explicit(place, &present, table, memory_order_acq_rel,
                                                memory_order_acquire))
        return table;
    htw__release(allocator, table, table_bytes(bits));
    return present;
}

/* Takes a free entry for a site; NULL: the table is full enough. */
static struct htw__site_entry *add_site(struct htw__observer *observer,
                                        struct htw__site_table *table,
                                        struct htw__site_entry *free_entry, htw__origin origin) {
    uint32_t most = table->bits == LAST_BITS ? HTW_SITES_MAX : 3u << (table->bits - 2u);
    if (free_entry == NULL || table->count >= most || observer->site_count == HTW_SITES_MAX)
        return NULL;
    table->count++;
    observer->site_count++;
    htw__counter_set(&free_entry->origin, origin);
    return free_entry;
}

/* The entry of a site in a table. NULL: there is none; then `*ret_free` is one for it, if any. */
static struct htw__site_entry *find_in(struct htw__site_table *table, htw__origin origin,
                                       struct htw__site_entry **ret_free) {
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t first = htw__site_place(origin, table->bits);
    *ret_free = NULL;
    for (size_t i = 0; i <= mask; i++) {
        struct htw__site_entry *entry = &table->entries[(first + i) & mask];
        htw__origin its = htw__counter_read(&entry->origin);
        if (its == origin)
            return entry;
        if (its == 0) {
            *ret_free = entry;
            return NULL;
        }
    }
    return NULL;
}

struct htw__site_entry *htw__observer_find_site(struct htw__observer *observer,
                                                htw__origin origin) {
    struct htw__site_table *_Atomic *place = &observer->table;
    for (unsigned bits = FIRST_BITS; bits <= LAST_BITS; bits += 2) {
        struct htw__site_entry *free_entry;
        struct htw__site_table *table = table_at(observer, place, bits);
        if (table == NULL)
            break;
        struct htw__site_entry *entry = find_in(table, origin, &free_entry);
        if (entry == NULL)
            entry = add_site(observer, table, free_entry, origin);
        if (entry != NULL)
            return entry;
        if (observer->site_count == HTW_SITES_MAX && htw__table_of(&table->next) == NULL)
            break;
        place = &table->next;
    }
    return &observer->others;
}

/* ---- the ring */

static uint64_t ring_size(const struct htw_scheduler *scheduler) {
    uint64_t all = scheduler->event_count == 0 ? EVENTS_DEFAULT : scheduler->event_count;
    uint64_t least = all / (scheduler->shard_count + scheduler->worker_count + 1), size = RING_MIN;
    while (size < least)
        size *= 2;
    return size;
}

static size_t ring_bytes(uint64_t size) {
    return sizeof(struct htw__event_ring) + (size_t)size * sizeof(struct htw__event_record);
}

/* The ring, created if there is none; NULL: no memory. Any thread. */
static struct htw__event_ring *ring_of(struct htw__observer *observer) {
    const struct htw_allocator *allocator = &observer->scheduler->allocator;
    struct htw__event_ring *present = htw__observer_ring(observer);
    if (present != NULL)
        return present;
    uint64_t size = ring_size(observer->scheduler);
    struct htw__event_ring *ring = htw__allocate(allocator, ring_bytes(size));
    if (ring == NULL)
        return NULL;
    *ring = (struct htw__event_ring) { .size = size }; /* no event is read before it is written */
    /* order: Release: who finds the ring must see its size. Acquire: the same, where another thread was
       faster. [acquire: `observe`; release: no, as what it publishes is plain memory, of which the
       explorer has no older values; failed relaxed: `observe`] */
    if (atomic_compare_exchange_strong_explicit(&observer->ring, &present, ring,
                                                memory_order_acq_rel, memory_order_acquire))
        return ring;
    htw__release(allocator, ring, ring_bytes(size));
    return present;
}

/* Each word is a release of the count before: a reader that finds a part of an event also finds, when it
   reads the count again, that the place was taken. */
static void put(struct htw__counter *word, uint64_t value) {
    /* order: Of the count: publishes the event. Of a word of an event: a reader that finds it finds the
       count that says that its place was taken. [relaxed: `ring`] */
    atomic_store_explicit(&word->value, value, memory_order_release);
}

static uint64_t get(const struct htw__counter *word) {
    /* order: Pairs with put(). [relaxed: `ring`] */
    return atomic_load_explicit(&word->value, memory_order_acquire);
}

void htw__observer_record(struct htw__observer *observer, const struct htw__event *event) {
    struct htw__event_ring *ring = ring_of(observer);
    if (ring == NULL) {
        htw__counter_add(&observer->lost, 1);
        return;
    }
    uint64_t count = htw__counter_read(&ring->count);
    struct htw__event_record *to = &ring->events[count & (ring->size - 1)];
    put(&to->time_ns, (uint64_t)event->time_ns);
    put(&to->deadline_ns, (uint64_t)event->deadline_ns);
    put(&to->duration_ns, (uint64_t)event->duration_ns);
    put(&to->handle, event->handle);
    put(&to->origin, event->origin);
    put(&to->kind, event->kind);
    put(&ring->count, count + 1);
}

static struct htw__event event_of(const struct htw__event_record *record) {
    return (struct htw__event) {
        .kind = (enum htw_event_kind)get(&record->kind),
        .origin = get(&record->origin),
        .time_ns = (int64_t)get(&record->time_ns),
        .deadline_ns = (int64_t)get(&record->deadline_ns),
        .duration_ns = (int64_t)get(&record->duration_ns),
        .handle = get(&record->handle),
    };
}

size_t htw__event_ring_copy(const struct htw__event_ring *ring, struct htw__event *events,
                            uint64_t *ret_lost) {
    uint64_t end = get(&ring->count);
    uint64_t begin = end < ring->size ? 0 : end - ring->size + 1;
    for (uint64_t i = begin; i < end; i++)
        events[i - begin] = event_of(&ring->events[i & (ring->size - 1)]);
    uint64_t now = get(&ring->count);
    uint64_t whole = now < ring->size ? 0 : now - ring->size + 1; /* the first that is */
    whole = whole < begin ? begin : whole > end ? end : whole;
    memmove(events, events + (whole - begin), (size_t)(end - whole) * sizeof(*events));
    *ret_lost = whole;
    return (size_t)(end - whole);
}

/* ---- both */

int htw__observer_prepare(struct htw__observer *observer, uint32_t observe) {
    if ((observe & HTW_OBSERVE_SITES) && table_at(observer, &observer->table, FIRST_BITS) == NULL)
        return -ENOMEM;
    return (observe & HTW_OBSERVE_EVENTS) && ring_of(observer) == NULL ? -ENOMEM : 0;
}

uint64_t htw__observer_bytes(const struct htw__observer *observer) {
    uint64_t bytes = 0;
    const struct htw__site_table *table = htw__table_of(&observer->table);
    for (; table != NULL; table = htw__table_of(&table->next))
        bytes += table_bytes(table->bits);
    const struct htw__event_ring *ring = htw__observer_ring(observer);
    return bytes + (ring == NULL ? 0 : ring_bytes(ring->size));
}

void htw__observer_fini(struct htw__observer *observer) {
    const struct htw_allocator *allocator = &observer->scheduler->allocator;
    struct htw__site_table *table = htw__table_of(&observer->table);
    while (table != NULL) {
        struct htw__site_table *next = htw__table_of(&table->next);
        htw__release(allocator, table, table_bytes(table->bits));
        table = next;
    }
    struct htw__event_ring *ring = htw__observer_ring(observer);
    if (ring != NULL)
        htw__release(allocator, ring, ring_bytes(ring->size));
}
