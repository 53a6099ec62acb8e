/* SPDX-License-Identifier: MIT */
/* inspect.c - visits all timers of a wheel, checks its invariants, and counts. */
#include "lists.h"

#include <errno.h>

size_t htw_wheel_count(const struct htw_wheel *wheel) {
    return htw__wheel_is_null(wheel) ? 0
                                     : (size_t)(htw__wheel_scheduled(wheel) - wheel->cancelled -
                                                wheel->expired - wheel->drained);
}

/* ---- for_each */

struct visit {
    const struct htw_wheel *wheel;
    htw_wheel_visitor *visitor;
    void *arg;
    size_t count;
};

/* False: the visitor wants no more. */
static bool visit_list(struct visit *visit, struct htw__timer_list list) {
    struct htw__link **back = list.head;
    for (struct htw__link *link; (link = *back) != list.end; back = &link->_next) {
        HTW_ASSERT_LISTED(link, back);
        HTW_ASSERT_OWNED(visit->wheel, htw__timer_of(link));
        visit->count++;
        if (!visit->visitor(htw__timer_of(link), visit->arg))
            return false;
    }
    return true;
}

static bool visit_bucket(struct htw_wheel *wheel, struct visit *visit, uint32_t id) {
    unsigned level = htw__wheel_id_level(wheel, id);
    for (uint32_t i = 0; i < htw__wheel_list_count(wheel, level); i++)
        if (!visit_list(visit, htw__wheel_list(wheel, level, id & wheel->mask, i)))
            return false;
    return true;
}

size_t htw_wheel_for_each(struct htw_wheel *wheel, htw_wheel_visitor *visitor, void *arg) {
    if (htw__wheel_is_null(wheel) || visitor == NULL)
        return 0;
    struct visit visit = { wheel, visitor, arg, 0 };
    bool more = visit_list(&visit, htw__list_of_ring(&wheel->due)) &&
                visit_list(&visit, htw__list_of_ring(&wheel->next_round)) &&
                visit_list(&visit, htw__list_of_ring(&wheel->never));
    /* Every bucket with a timer is in the delay queue. */
    for (uint32_t id = 0; more && id < wheel->queue.capacity; id++)
        if (htw__delay_queue_key(&wheel->queue, id) != HTW__DELAY_QUEUE_ABSENT)
            more = visit_bucket(wheel, &visit, id);
    return visit.count;
}

/* ---- buckets */

uint32_t htw_wheel_level_buckets(const struct htw_wheel *wheel, unsigned level) {
    return htw__wheel_is_null(wheel) || level >= wheel->level_count
               ? 0
               : wheel->levels[level].buckets.count;
}

size_t htw_wheel_count_in(const struct htw_wheel *wheel, unsigned level, uint32_t first,
                          uint32_t count, size_t most) {
    uint32_t buckets = htw_wheel_level_buckets(wheel, level);
    size_t found = 0;
    for (uint32_t slot = first; slot < buckets && slot - first < count && found != most; slot++)
        if (htw__delay_queue_key(&wheel->queue, htw__wheel_bucket_id(wheel, level, slot)) !=
            HTW__DELAY_QUEUE_ABSENT)
            found += htw__wheel_timers_in(wheel, level, slot, most - found);
    return found;
}

/* ---- first_buckets */

/* Replaces *last by the bucket that comes up next after it; false if there is none. */
static bool find_next_queued(const struct htw_wheel *wheel, struct htw__delay_queue_entry *last) {
    struct htw__delay_queue_entry next = { HTW__DELAY_QUEUE_ABSENT, 0 };
    for (uint32_t id = 0; id < wheel->queue.capacity; id++) {
        struct htw__delay_queue_entry bucket = { htw__delay_queue_key(&wheel->queue, id), id };
        if (bucket.key != HTW__DELAY_QUEUE_ABSENT && htw__delay_queue_precedes(*last, bucket) &&
            htw__delay_queue_precedes(bucket, next))
            next = bucket;
    }
    *last = next;
    return next.key != HTW__DELAY_QUEUE_ABSENT;
}

size_t htw_wheel_first_buckets(const struct htw_wheel *wheel, struct htw_wheel_bucket buckets[],
                               size_t max) {
    if (wheel == NULL || buckets == NULL)
        return 0;
    struct htw__delay_queue_entry bucket = { 0, UINT32_MAX };
    size_t found = 0;
    while (found < max && find_next_queued(wheel, &bucket)) {
        unsigned level = htw__wheel_id_level(wheel, bucket.id);
        uint32_t slot = bucket.id & wheel->mask;
        buckets[found++] = (struct htw_wheel_bucket) {
            bucket.key, htw__wheel_timers_in(wheel, level, slot, SIZE_MAX), level, slot
        };
    }
    return found;
}

/* ---- check: the numbers are those of the invariants in wheel.c */

struct check {
    const struct htw_wheel *wheel;
    uint64_t total;
    uint64_t expected_total;
};

/* What is true of all timers of a list. */
struct rule {
    uint32_t id; /* as in _location */
    uint64_t earliest;
    uint64_t latest;
};

static int check_timer(const struct htw_wheel *wheel, const struct htw_timer *timer,
                       const struct rule *rule) {
    if (!htw__wheel_owns(wheel, timer) || htw__timer_id(timer) != rule->id)
        return 2;
    if (timer->_deadline < rule->earliest || timer->_deadline > rule->latest)
        return htw__id_is_bucket(rule->id) ? 5 : 7;
    if (htw__wheel_lacks_level(wheel, timer->_deadline))
        return 8;
    return 0;
}

static int check_list(struct check *check, struct htw__timer_list list, const struct rule *rule) {
    struct htw__link **back = list.head;
    struct htw__link *link = *back;
    int broken = 0;
    while (broken == 0 && link != list.end) {
        if (link == NULL || link->_back != back)
            return 1;
        if (++check->total > check->expected_total)
            return 9;
        broken = check_timer(check->wheel, htw__timer_of(link), rule);
        back = &link->_next;
        link = *back;
    }
    if (broken == 0 && list.end != &check->wheel->nil && list.end->_back != back)
        return 1;
    return broken;
}

/* Whether all lists of a bucket are empty but those that it has used since it was queued. */
static bool others_are_empty(const struct htw_wheel *wheel, unsigned level, uint32_t slot,
                             bool is_queued) {
    uint32_t lists = htw__wheel_list_count(wheel, level);
    uint32_t first = 0;
    uint32_t used = 0;
    if (is_queued) {
        struct htw__bucket bucket =
            htw__wheel_bucket(wheel, htw__wheel_bucket_id(wheel, level, slot));
        uint32_t count = bucket.buckets->count;
        first = (uint32_t)(bucket.since / count);
        for (uint64_t i = bucket.since; i < htw__bucket_chains_end(&bucket); i += count)
            used++;
    }
    for (uint32_t i = used; i < lists; i++) {
        struct htw__timer_list list =
            htw__wheel_list(wheel, level, slot, (first + i) & (lists - 1));
        if (*list.head != list.end)
            return false;
    }
    return true;
}

static int check_bucket(struct check *check, unsigned level, uint32_t slot) {
    const struct htw_wheel *wheel = check->wheel;
    uint32_t id = htw__wheel_bucket_id(wheel, level, slot);
    uint64_t key = htw__delay_queue_key(&wheel->queue, id);
    bool is_queued = key != HTW__DELAY_QUEUE_ABSENT;
    if ((!is_queued || !wheel->strict_fifo) && !others_are_empty(wheel, level, slot, is_queued))
        return 4;
    if (!is_queued)
        return 0;
    unsigned shift = wheel->levels[level].shift;
    if (key < wheel->clock || (key == wheel->clock && !wheel->in_round) ||
        htw__wheel_slot(wheel, level, key) != slot ||
        (key >> shift) - (wheel->clock >> shift) > wheel->mask)
        return 6;
    /* A timer that was moved to later may be in an earlier bucket; not in strict FIFO. */
    uint64_t last_of_range = key | (((uint64_t)1 << shift) - 1);
    struct rule rule = { id, key, wheel->strict_fifo ? last_of_range : HTW_NEVER_TICK - 1 };
    int broken = 0;
    for (uint32_t i = 0; broken == 0 && i < htw__wheel_list_count(wheel, level); i++)
        broken = check_list(check, htw__wheel_list(wheel, level, slot, i), &rule);
    return broken;
}

static int check_buckets(struct check *check) {
    const struct htw_wheel *wheel = check->wheel;
    int broken = htw__delay_queue_is_valid(&wheel->queue) ? 0 : 3;
    for (unsigned level = 0; level < wheel->level_count; level++)
        for (uint32_t slot = 0; broken == 0 && slot < wheel->levels[level].buckets.count; slot++)
            broken = check_bucket(check, level, slot);
    return broken;
}

static int check_rings(struct check *check) {
    const struct htw_wheel *wheel = check->wheel;
    const struct rule due = { HTW__ID_DUE, 0, wheel->clock };
    const struct rule never = { HTW__ID_NEVER, HTW_NEVER_TICK, HTW_NEVER_TICK };
    int broken = check_list(check, htw__list_of_ring(&wheel->due), &due);
    if (broken == 0)
        broken = check_list(check, htw__list_of_ring(&wheel->next_round), &due);
    if (broken == 0)
        broken = check_list(check, htw__list_of_ring(&wheel->never), &never);
    if (broken == 0 && !wheel->in_round && !htw__ring_is_empty(&wheel->next_round))
        broken = 7;
    return broken;
}

static bool levels_are_sound(const struct htw_wheel *wheel) {
    return wheel->level_count != 0 && wheel->level_count <= wheel->level_max &&
           wheel->clock != HTW_NEVER_TICK;
}

int htw_wheel_check(const struct htw_wheel *wheel) {
    if (htw__wheel_is_null(wheel))
        return -EINVAL;
    if (!levels_are_sound(wheel))
        return 8;
    struct check check = { .wheel = wheel, .expected_total = htw_wheel_count(wheel) };
    int broken = check_buckets(&check);
    if (broken == 0)
        broken = check_rings(&check);
    if (broken == 0 && check.total != check.expected_total)
        broken = 9;
    return broken;
}

/* ---- stats */

static uint64_t memory_of(const struct htw_wheel *wheel) {
    uint64_t bytes = sizeof(*wheel) + htw__delay_queue_memory(&wheel->queue);
    for (unsigned level = 0; level < wheel->level_count; level++)
        bytes += htw__buckets_bytes(&wheel->levels[level].buckets);
    return bytes;
}

int htw_wheel_get_stats(const struct htw_wheel *wheel, struct htw_wheel_stats *stats) {
    if (htw__wheel_is_null(wheel) || stats == NULL || stats->struct_size != sizeof(*stats))
        return -EINVAL;
    *stats = (struct htw_wheel_stats) {
        .struct_size = sizeof(*stats),
        .scheduled = htw__wheel_scheduled(wheel),
        .moved = wheel->moved_by_insertion + wheel->moved_in_place,
        .cancelled = wheel->cancelled,
        .expired = wheel->expired,
        .drained = wheel->drained,
        .demoted = wheel->demoted,
        .advances = wheel->advances,
        .pending = htw_wheel_count(wheel),
        .levels = wheel->level_count,
        .size = wheel->mask + 1,
        .queued_buckets = htw__delay_queue_count(&wheel->queue),
        .memory_bytes = memory_of(wheel),
    };
    return 0;
}
