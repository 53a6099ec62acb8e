/* SPDX-License-Identifier: MIT */
/*
 * sites.c - counts the timers of a scheduler by the site that armed them.
 *
 * Records are visited a slice at a time, under the lock of their shard. The word that says site or callback
 * stays in a record until it is free, and records become free under this lock only. So it may be
 * read even while another thread claims or runs the timer. The site itself is read later and with care:
 * when its last timer has ended, its library may be unloaded.
 */
#include "sites.h"

#include "observation.h"
#include "visit.h"
#include "../base/random.h"
#include "../scheduler/attributes.h"

#include <stdlib.h>
#include <string.h>

/* Records visited under the lock at a time. */
#define SLICE 64u

/* ---- the table */

static struct htw__site_count *entry_of(struct htw__census *census, htw__origin origin) {
    size_t mask = HTW__SITE_SLOTS - 1;
    for (size_t i = (size_t)htw__random_mix(origin) & mask;; i = (i + 1) & mask) {
        struct htw__site_count *entry = &census->sites[i];
        if (entry->origin == origin)
            return entry;
        if (entry->origin != 0)
            continue;
        if (census->site_count == HTW_SITES_MAX)
            return &census->others;
        census->site_count++;
        *entry = (struct htw__site_count) { .origin = origin, .next_ns = HTW_NEVER_NS };
        return entry;
    }
}

/* Adds one tick with one timer. Ticks that are not among the first ones do not get there later, so each that stays has all
   its timers. */
static void add_tick(struct htw__census *census, const struct htw__due_tick *due) {
    uint32_t place = census->tick_count;
    while (place > 0 && due->tick < census->ticks[place - 1].tick)
        place--;
    struct htw__due_tick *same = place > 0 ? &census->ticks[place - 1] : NULL;
    if (same != NULL && same->tick == due->tick) {
        uint64_t timers = same->timers + 1;
        if (due->left_ns < same->left_ns)
            *same = *due;
        same->timers = timers;
    } else if (htw__make_place(census->ticks, sizeof(census->ticks[0]), HTW_WAKEUPS_MAX,
                               &census->tick_count, place)) {
        census->ticks[place] = *due;
    }
}

/* ---- the records */

/* Under the lock. `own_ns`: of the scheduler's clock. */
static void count_record(struct htw__census *census, struct htw__shard *shard,
                         const struct htw__record *record, int64_t own_ns) {
    uint64_t status = htw__status_of(record);
    enum htw__state state = htw__status_state(status);
    if (state != HTW__PENDING && state != HTW__QUEUED)
        return;
    struct htw__attributes *attributes = htw__attributes_of(record, status);
    const struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    int64_t deadline_ns = htw__attributes_deadline_ns(record, attributes);
    int64_t now_ns =
        clockwork->clock == shard->own.clock ? own_ns : htw__clockwork_now_ns(clockwork);
    struct htw__due_tick due = {
        .timers = 1,
        .left_ns = htw__left_ns(now_ns, deadline_ns),
        .handle = htw__handle_of(shard, record),
        .origin = htw__origin_of(record),
    };
    struct htw__site_count *entry = entry_of(census, due.origin);
    if (census->has_stacks)
        htw__stack_census_add(&census->stacks, htw__stacks_find(shard, due.handle));
    entry->pending++;
    if (due.left_ns < entry->next_ns)
        entry->next_ns = due.left_ns;
    if (due.left_ns == HTW_NEVER_NS || (attributes != NULL && attributes->paused))
        return; /* it wakes no thread */
    due.tick = htw__tick_from(shard->scheduler, htw__after_ns(own_ns, due.left_ns));
    add_tick(census, &due);
}

/* Visits the records from `index` on. Returns the index after those. */
static uint32_t count_slice(struct htw__census *census, struct htw__shard *shard, uint32_t index,
                            int64_t now_ns) {
    for (uint32_t i = 0; i < SLICE; i++) {
        struct htw__cell *cell = htw__slab_find(&shard->slab, index);
        if (cell == NULL) /* and so are the rest of the page */
            return (index | (HTW__SLAB_PAGE_CELLS - 1)) + 1;
        count_record(census, shard, HTW_CONTAINER_OF(cell, struct htw__record, cell), now_ns);
        index++;
    }
    return index;
}

static void count_shard(struct htw__census *census, struct htw__shard *shard) {
    for (uint32_t index = 0, page = 0;; page = index >> HTW__SLAB_PAGE_BITS) {
        htw__lock_acquire(&shard->lock);
        bool exists = page < shard->slab.page_count;
        if (exists)
            index = count_slice(census, shard, index, htw__now_ns(shard->scheduler));
        htw__lock_release(&shard->lock);
        if (!exists || index == 0) /* the index after the last one that can be */
            return;
    }
}

/* ---- what was observed */

static void add_entry(struct htw__site_count *count, const struct htw__site_entry *entry) {
    for (unsigned i = 0; i < HTW__SITE_NUMBERS; i++)
        count->numbers[i] += htw__counter_read(&entry->numbers[i]);
}

static void add_table(struct htw__census *census, const struct htw__site_table *table) {
    size_t count = table == NULL ? 0 : htw__site_table_size(table);
    for (size_t i = 0; i < count; i++) {
        const struct htw__site_entry *entry = &table->entries[i];
        htw__origin origin = htw__counter_read(&entry->origin);
        if (origin != 0)
            add_entry(entry_of(census, origin), entry);
    }
}

static void add_observer(struct htw__census *census, const struct htw__observer *observer) {
    for (unsigned i = 0; i < HTW__SITE_TABLES; i++)
        add_table(census, htw__observer_table(observer, HTW__TABLE_SITES + i));
    add_entry(&census->others, &observer->others);
}

/* ---- the whole */

/* Those that are not used are last. */
static int by_pending(const void *left, const void *right) {
    const struct htw__site_count *a = left, *b = right;
    if ((a->origin == 0) != (b->origin == 0))
        return a->origin == 0 ? 1 : -1;
    if (a->pending != b->pending)
        return a->pending < b->pending ? 1 : -1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

struct htw__census *htw__census_take(struct htw_scheduler *scheduler) {
    struct htw__census *census = htw__allocate(&scheduler->allocator, sizeof(*census));
    if (census == NULL)
        return NULL;
    memset(census, 0, sizeof(*census));
    census->others.next_ns = HTW_NEVER_NS;
    census->has_stacks = htw__mode(scheduler) & HTW_OBSERVE_STACKS;
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        count_shard(census, &scheduler->shards[i]);
    for (uint32_t n = 0; n < scheduler->observation->observer_count; n++)
        add_observer(census, &scheduler->observation->observers[n]);
    qsort(census->sites, HTW__SITE_SLOTS, sizeof(census->sites[0]), by_pending);
    if (census->others.pending > 0 || htw__site_is_counted(&census->others))
        census->sites[census->site_count++] = census->others;
    return census;
}

void htw__census_release(struct htw_scheduler *scheduler, struct htw__census *census) {
    htw__release(&scheduler->allocator, census, sizeof(*census));
}

/* ---- what a tool shows of a site */

/* False: the site cannot be read. */
static bool copy_site(const struct htw__safe_copy *copy, uintptr_t address,
                      struct htw__site_text *ret_text) {
    struct htw_site *site = &ret_text->site;
    if (!htw__system_copy(&copy->reader, site, (const void *)address, sizeof(*site)))
        return false;
    const char *name = site->name, *file = site->file, *function = site->function;
#define COPIED(member)                                                            \
    htw__safe_copy_text(copy, ret_text->member, sizeof(ret_text->member), member) \
        ? ret_text->member                                                        \
        : NULL
    site->name = COPIED(name);
    site->file = COPIED(file);
    site->function = COPIED(function);
#undef COPIED
    return true;
}

struct htw_origin htw__site_show(const struct htw__safe_copy *copy, htw__origin origin,
                                 struct htw__site_text *text) {
    uintptr_t address = htw__origin_address(origin);
    if (!htw__origin_is_site(origin))
        return (struct htw_origin) { .callback = (htw_callback *)address };
    bool readable = copy_site(copy, address, text);
    return (struct htw_origin) {
        .site = readable ? &text->site : NULL,
        .address = (const void *)address,
        .callback = readable ? text->site.callback : NULL,
    };
}

/* ---- visits */

static bool visit_site(struct htw__visit *visit, const struct htw__site_count *count) {
    struct htw__site_text text;
    struct htw_origin shown = htw__site_show(&visit->copy, count->origin, &text);
    union htw_visited visited = {
        .site = {
            .origin = shown,
            .pending = count->pending,
            .next_ns = count->next_ns,
            .armed = count->numbers[HTW__SITE_ARMED],
            .cancelled = count->numbers[HTW__SITE_CANCELLED],
            .expired = count->numbers[HTW__SITE_EXPIRED],
            .late = count->numbers[HTW__SITE_LATE],
            .callback_ns = count->numbers[HTW__SITE_CALLBACK_NS],
            .wakeups = count->numbers[HTW__SITE_WAKEUPS],
        },
    };
    return htw__visit_show(visit, &visited);
}

int htw__visit_sites(struct htw__visit *visit) {
    struct htw__census *census = htw__census_take(visit->scheduler);
    bool more = true;
    if (census == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < census->site_count && more; i++)
        more = visit_site(visit, &census->sites[i]);
    htw__census_release(visit->scheduler, census);
    return 0;
}

int htw__visit_wakeups(struct htw__visit *visit) {
    struct htw__census *census = htw__census_take(visit->scheduler);
    bool more = true;
    if (census == NULL)
        return -ENOMEM;
    int64_t now_ns = htw__now_ns(visit->scheduler);
    for (uint32_t i = 0; i < census->tick_count && more; i++) {
        const struct htw__due_tick *due = &census->ticks[i];
        struct htw__site_text text;
        struct htw_origin shown = htw__site_show(&visit->copy, due->origin, &text);
        union htw_visited visited = {
            .wakeup = {
                .left_ns = htw__left_ns(now_ns, htw__tick_ns(visit->scheduler, due->tick)),
                .timers = due->timers,
                .origin = shown,
                .handle = due->handle,
            },
        };
        more = htw__visit_show(visit, &visited);
    }
    htw__census_release(visit->scheduler, census);
    return 0;
}
