/* SPDX-License-Identifier: MIT */
/* observer.c - counts by site, and the ring of the flight recorder, of one writer. */
#include "observer.h"

#include <htw/observe.h>

#include <string.h>

_Static_assert(HTW_SITES_MAX == 1u << (HTW__SITE_FIRST_BITS + 2u * (HTW__SITE_TABLES - 1u)),
               "the last table may be filled");

/* ---- tables */

void *htw__table_create(const struct htw__observer *observer, size_t bytes, size_t zeroed) {
    struct htw__table_head *table = htw__allocate(observer->allocator, bytes);
    if (table != NULL) {
        memset(table, 0, zeroed);
        table->bytes = bytes;
    }
    return table;
}

uint64_t htw__observer_bytes(const struct htw__observer *observer) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < HTW__TABLES; i++) {
        const struct htw__table_head *table = htw__observer_table(observer, i);
        bytes += table == NULL ? 0 : table->bytes;
    }
    return bytes;
}

void htw__observer_fini(struct htw__observer *observer) {
    for (unsigned i = 0; i < HTW__TABLES; i++) {
        struct htw__table_head *table = htw__observer_table(observer, i);
        if (table != NULL)
            htw__release(observer->allocator, table, table->bytes);
    }
}

/* ---- sites */

static unsigned bits_of(unsigned number) {
    return HTW__SITE_FIRST_BITS + 2 * number;
}

static struct htw__site_table *add_sites(struct htw__observer *observer, unsigned number) {
    size_t bytes = sizeof(struct htw__site_table) +
                   ((size_t)1 << bits_of(number)) * sizeof(struct htw__site_entry);
    struct htw__site_table *table = htw__table_create(observer, bytes, bytes);
    if (table != NULL)
        htw__observer_add_table(observer, HTW__TABLE_SITES + number, table);
    return table;
}

bool htw__observer_add_sites(struct htw__observer *observer) {
    return htw__observer_table(observer, HTW__TABLE_SITES) != NULL ||
           add_sites(observer, 0) != NULL;
}

/* Takes a free entry for a site; NULL: the table is full enough. */
static struct htw__site_entry *take_entry(struct htw__observer *observer,
                                          struct htw__site_table *table, unsigned number,
                                          struct htw__site_entry *entry, htw__origin origin) {
    uint32_t most = number == HTW__SITE_TABLES - 1 ? HTW_SITES_MAX : 3u << (bits_of(number) - 2u);
    if (table->count >= most || observer->site_count == HTW_SITES_MAX)
        return NULL;
    table->count++;
    observer->site_count++;
    htw__counter_set(&entry->origin, origin);
    return entry;
}

/* The entry of a site in a table, or one that is now its own. NULL: there is no room. */
static struct htw__site_entry *find_in(struct htw__observer *observer,
                                       struct htw__site_table *table, unsigned number,
                                       htw__origin origin) {
    size_t mask = ((size_t)1 << bits_of(number)) - 1;
    size_t first = htw__site_place(origin, bits_of(number));
    for (size_t i = 0; i <= mask; i++) {
        struct htw__site_entry *entry = &table->entries[(first + i) & mask];
        htw__origin its = htw__counter_read(&entry->origin);
        if (its == origin)
            return entry;
        if (its == 0)
            return take_entry(observer, table, number, entry, origin);
    }
    return NULL;
}

struct htw__site_entry *htw__observer_find_site(struct htw__observer *observer,
                                                htw__origin origin) {
    for (unsigned number = 0; number < HTW__SITE_TABLES; number++) {
        struct htw__site_table *table = htw__observer_table(observer, HTW__TABLE_SITES + number);
        if (table == NULL && number > 0 && observer->site_count < HTW_SITES_MAX)
            table = add_sites(observer, number);
        if (table == NULL)
            break;
        struct htw__site_entry *entry = find_in(observer, table, number, origin);
        if (entry != NULL)
            return entry;
    }
    return &observer->others;
}

/* ---- the ring */

bool htw__observer_add_ring(struct htw__observer *observer, uint64_t size) {
    if (htw__observer_table(observer, HTW__TABLE_EVENTS) != NULL)
        return true;
    struct htw__event_ring *ring =
        htw__table_create(observer, sizeof(*ring) + (size_t)size * sizeof(ring->events[0]),
                          sizeof(*ring)); /* no event is read before it is written */
    if (ring == NULL)
        return false;
    ring->size = size;
    htw__observer_add_table(observer, HTW__TABLE_EVENTS, ring);
    return true;
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
    struct htw__event_ring *ring = htw__observer_table(observer, HTW__TABLE_EVENTS);
    if (ring == NULL) /* it is being switched on */
        return;
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
