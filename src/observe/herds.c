/* SPDX-License-Identifier: MIT */
/* herds.c - how many timers were due at each tick of the last minute. */
#include "herds.h"

#include "../scheduler/clocks.h"

#include <string.h>

struct htw__herds *htw__herds_at(const struct htw_scheduler *scheduler,
                                 struct htw__herds *_Atomic *place) {
    struct htw__herds *present = htw__herds_present(place);
    if (present != NULL)
        return present;
    struct htw__herds *herds = htw__allocate(&scheduler->allocator, sizeof(*herds));
    if (herds == NULL)
        return NULL;
    memset(herds, 0, sizeof(*herds));
    herds->present.at_ns = INT64_MIN; /* no tick */
    htw__lock_init(&herds->lock, HTW__RANK_SCHEDULER_HERDS);
    /* order: Release: who finds the herds must see them initialized. Acquire: the same, where another
       thread was faster. [acquire: `observe`; release: no, as what it publishes is plain memory, of which
       the explorer has no older values; failed relaxed: `observe`] */
    if (atomic_compare_exchange_strong_explicit(place, &present, herds, memory_order_acq_rel,
                                                memory_order_acquire))
        return herds;
    htw__release(&scheduler->allocator, herds, sizeof(*herds));
    return present;
}

/* Adds a herd to the greatest ones, the greatest first. Of equal ones the earlier is first. */
static void add_to(struct htw__herd *list, uint32_t *count, const struct htw__herd *herd) {
    struct htw__herd added = *herd;
    uint32_t place = 0;
    while (place < *count && list[place].at_ns != added.at_ns)
        place++;
    if (place < *count) /* more of one that is there */
        added = (struct htw__herd) { added.at_ns, list[place].timers + added.timers,
                                     list[place].origin };
    else if (*count < HTW_HERDS_MAX)
        (*count)++;
    else if (list[--place].timers >= added.timers)
        return;
    for (; place > 0 && list[place - 1].timers < added.timers; place--)
        list[place] = list[place - 1];
    list[place] = added;
}

/* Takes the present herd into its part of the minute. Under the lock. */
static void end_present(struct htw__herds *herds) {
    int64_t number = herds->present.at_ns / HTW__HERD_PART_NS;
    struct htw__herd_part *part = &herds->parts[(uint64_t)number % HTW__HERD_PARTS];
    if (part->number != number)
        *part = (struct htw__herd_part) { .number = number };
    add_to(part->herds, &part->count, &herds->present);
}

void htw__herds_begin(struct htw__herds *herds, const struct htw_scheduler *scheduler,
                      int64_t deadline_ns, htw__origin origin) {
    if (herds->present.timers > 0)
        end_present(herds);
    int64_t at_ns = htw__tick_ns(scheduler, htw__tick_from(scheduler, deadline_ns));
    herds->present = (struct htw__herd) { at_ns, 1, origin };
}

static void add_recent(const struct htw__herd *herd, int64_t now_ns, struct htw__herd *list,
                       uint32_t *count) {
    int64_t ago_ns;
    if (herd->timers > 0 && !__builtin_sub_overflow(now_ns, herd->at_ns, &ago_ns) &&
        ago_ns >= -HTW__HERD_PART_NS && ago_ns <= HTW_MINUTE)
        add_to(list, count, herd);
}

void htw__herds_list(struct htw__herds *herds, int64_t now_ns, struct htw__herd *list,
                     uint32_t *count) {
    htw__lock_acquire(&herds->lock);
    for (uint32_t i = 0; i < HTW__HERD_PARTS; i++)
        for (uint32_t j = 0; j < herds->parts[i].count; j++)
            add_recent(&herds->parts[i].herds[j], now_ns, list, count);
    add_recent(&herds->present, now_ns, list, count);
    htw__lock_release(&herds->lock);
}
