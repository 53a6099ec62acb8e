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

#include "../base/random.h"
#include "../base/user_code.h"
#include "attributes.h"

#include <stdlib.h>
#include <string.h>

/* Records visited under the lock at a time. */
#define SLICE 64u

/* ---- the table */

static struct htw__site_count *entry_of(struct htw__census *census, uintptr_t address,
                                        bool is_site) {
    size_t mask = HTW__SITE_SLOTS - 1;
    for (size_t i = (size_t)htw__random_mix(address) & mask;; i = (i + 1) & mask) {
        struct htw__site_count *entry = &census->sites[i];
        if (entry->address == address && entry->is_site == is_site)
            return entry;
        if (entry->address != 0)
            continue;
        if (census->site_count == HTW_SITES_MAX)
            return &census->others;
        census->site_count++;
        *entry = (struct htw__site_count) { address, is_site, 0, HTW_NEVER_NS };
        return entry;
    }
}

static void add_next(struct htw__census *census, const struct htw__next_timer *timer) {
    uint32_t place = census->next_count;
    while (place > 0 && timer->left_ns < census->next[place - 1].left_ns)
        place--;
    if (place == HTW__NEXT_TIMERS)
        return;
    if (census->next_count < HTW__NEXT_TIMERS)
        census->next_count++;
    for (uint32_t i = census->next_count - 1; i > place; i--)
        census->next[i] = census->next[i - 1];
    census->next[place] = *timer;
}

/* ---- the records */

/* Under the lock. `now_ns`: of the scheduler's clock. */
static void count_record(struct htw__census *census, struct htw__shard *shard,
                         const struct htw__record *record, int64_t now_ns) {
    uint64_t status = htw__status_of(record);
    enum htw__state state = htw__status_state(status);
    if (state != HTW__PENDING && state != HTW__QUEUED)
        return;
    struct htw__attributes *attributes = htw__attributes_of(record, status);
    const struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    int64_t deadline_ns = htw__attributes_deadline_ns(record, attributes);
    if (clockwork != &shard->own)
        now_ns = htw__clockwork_now_ns(clockwork);
    struct htw__next_timer timer = {
        .handle = htw__handle_of(shard, record),
        .left_ns = htw__left_ns(now_ns, deadline_ns),
        .is_site = status & HTW__HAS_SITE,
    };
    timer.address = timer.is_site ? (uintptr_t)record->site : (uintptr_t)record->callback;
    struct htw__site_count *entry = entry_of(census, timer.address, timer.is_site);
    entry->pending++;
    if (timer.left_ns < entry->next_ns)
        entry->next_ns = timer.left_ns;
    if (timer.left_ns != HTW_NEVER_NS)
        add_next(census, &timer);
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

/* ---- the whole */

static int by_pending(const void *left, const void *right) {
    const struct htw__site_count *a = left, *b = right;
    if (a->pending != b->pending)
        return a->pending < b->pending ? 1 : -1;
    return a->address < b->address ? -1 : a->address > b->address;
}

struct htw__census *htw__census_take(struct htw_scheduler *scheduler) {
    struct htw__census *census = htw__allocate(&scheduler->allocator, sizeof(*census));
    if (census == NULL)
        return NULL;
    memset(census, 0, sizeof(*census));
    census->others.next_ns = HTW_NEVER_NS;
    htw__safe_copy_init(&census->copy);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        count_shard(census, &scheduler->shards[i]);
    qsort(census->sites, HTW__SITE_SLOTS, sizeof(census->sites[0]), by_pending);
    return census;
}

void htw__census_release(struct htw_scheduler *scheduler, struct htw__census *census) {
    htw__safe_copy_fini(&census->copy);
    htw__release(&scheduler->allocator, census, sizeof(*census));
}

bool htw__site_copy(const struct htw__census *census, uintptr_t address,
                    struct htw__site_text *ret_text) {
    struct htw_site *site = &ret_text->site;
    if (!htw__safe_copy(&census->copy, site, (const void *)address, sizeof(*site)))
        return false;
    const char *name = site->name, *file = site->file, *function = site->function;
#define COPIED(member)                                                                     \
    htw__safe_copy_text(&census->copy, ret_text->member, sizeof(ret_text->member), member) \
        ? ret_text->member                                                                 \
        : NULL
    site->name = COPIED(name);
    site->file = COPIED(file);
    site->function = COPIED(function);
#undef COPIED
    return true;
}

static void visit(const struct htw__census *census, const struct htw__site_count *count,
                  const struct htw_scheduler *scheduler, htw_site_visitor *visitor, void *context) {
    struct htw__site_text text;
    bool readable = count->is_site && htw__site_copy(census, count->address, &text);
    struct htw_site_stats stats = {
        .site = readable ? &text.site : NULL,
        .address = count->is_site ? (const void *)count->address : NULL,
        .callback = readable         ? text.site.callback
                    : count->is_site ? NULL
                                     : (htw_callback *)count->address,
        .pending = count->pending,
        .next_ns = count->next_ns,
    };
    HTW__CALL_USER("a visitor", scheduler, visitor, visitor(context, &stats));
}

int htw_scheduler_visit_sites(struct htw_scheduler *scheduler, htw_site_visitor *visitor,
                              void *context) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (visitor == NULL)
        return -EINVAL;
    struct htw__census *census = htw__census_take(scheduler);
    if (census == NULL)
        return -ENOMEM;
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    for (uint32_t i = 0; i < census->site_count; i++)
        visit(census, &census->sites[i], scheduler, visitor, context);
    if (census->others.pending > 0)
        visit(census, &census->others, scheduler, visitor, context);
    htw__callback_frame_pop(&frame);
    htw__census_release(scheduler, census);
    return 0;
}
