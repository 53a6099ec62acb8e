/* SPDX-License-Identifier: MIT */
/* herds.c - how many timers were due at each tick of the last minute. */
#include "herds.h"

#include "../scheduler/clocks.h"

#include <htw/observe.h>

/* The minute is divided into parts, of each of which the greatest herds are kept: so the greatest of the whole
   are among them. */
#define PART_NS (4 * HTW_SECOND)
#define PARTS 16u /* one more than a minute has: the present one has just begun */

struct part {
    int64_t number; /* of the part, counted from the beginning of the clock */
    uint32_t count;
    struct htw__herd herds[HTW_HERDS_MAX];
};

struct herds {
    struct htw__table_head table;
    struct htw__lock lock;    /* guards the rest */
    struct htw__herd present; /* is still growing */
    struct part parts[PARTS];
};

bool htw__observer_add_herds(struct htw__observer *observer) {
    if (htw__observer_table(observer, HTW__TABLE_HERDS) != NULL)
        return true;
    struct herds *herds = htw__table_create(observer, sizeof(*herds), sizeof(*herds));
    if (herds == NULL)
        return false;
    herds->present.at_ns = INT64_MIN; /* no tick */
    htw__lock_init(&herds->lock, HTW__RANK_SCHEDULER_HERDS);
    htw__observer_add_table(observer, HTW__TABLE_HERDS, herds);
    return true;
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

/* Takes the present herd into its part of the minute. */
static void end_present(struct herds *herds) {
    int64_t number = herds->present.at_ns / PART_NS;
    struct part *part = &herds->parts[(uint64_t)number % PARTS];
    if (part->number != number)
        *part = (struct part) { .number = number };
    add_to(part->herds, &part->count, &herds->present);
}

/* `offset_ns`: from the clock of the timer to that of the scheduler. Under the lock. */
static void add(struct herds *herds, const struct htw_scheduler *scheduler,
                const struct htw__record *record, int64_t offset_ns) {
    int64_t deadline_ns;
    if (__builtin_add_overflow(record->deadline_ns, offset_ns, &deadline_ns))
        deadline_ns = INT64_MIN; /* it was due: the sum is not too great */
    uint64_t before = (uint64_t)herds->present.at_ns - (uint64_t)deadline_ns;
    if (HTW__LIKELY(before < scheduler->tick.value)) { /* of the same tick */
        herds->present.timers++;
        return;
    }
    if (herds->present.timers > 0)
        end_present(herds);
    int64_t at_ns = htw__tick_ns(scheduler, htw__tick_from(scheduler, deadline_ns));
    herds->present = (struct htw__herd) { at_ns, 1, htw__origin_of(record) };
}

void htw__herds_add(struct htw__observer *observer, const struct htw__clockwork *clockwork,
                    const struct htw__batch *batch) {
    const struct htw_scheduler *scheduler = clockwork->shard->scheduler;
    struct herds *herds = htw__observer_table(observer, HTW__TABLE_HERDS);
    if (herds == NULL) /* it is being switched on */
        return;
    int64_t offset_ns = clockwork->clock == scheduler->clock
                            ? 0
                            : htw__now_ns(scheduler) - htw__clockwork_now_ns(clockwork);
    htw__lock_acquire(&herds->lock);
    for (uint32_t i = 0; i < batch->count; i++)
        add(herds, scheduler, batch->records[i], offset_ns);
    htw__lock_release(&herds->lock);
}

static void add_recent(const struct htw__herd *herd, int64_t now_ns, struct htw__herd *list,
                       uint32_t *count) {
    int64_t ago_ns;
    if (herd->timers > 0 && !__builtin_sub_overflow(now_ns, herd->at_ns, &ago_ns) &&
        ago_ns >= -PART_NS && ago_ns <= HTW_MINUTE)
        add_to(list, count, herd);
}

void htw__herds_list(const struct htw__observer *observer, int64_t now_ns, struct htw__herd *list,
                     uint32_t *count) {
    struct herds *herds = htw__observer_table(observer, HTW__TABLE_HERDS);
    if (herds == NULL)
        return;
    htw__lock_acquire(&herds->lock);
    for (uint32_t i = 0; i < PARTS; i++)
        for (uint32_t j = 0; j < herds->parts[i].count; j++)
            add_recent(&herds->parts[i].herds[j], now_ns, list, count);
    add_recent(&herds->present, now_ns, list, count);
    htw__lock_release(&herds->lock);
}
