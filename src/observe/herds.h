/* SPDX-License-Identifier: MIT */
/* herds.h - how many timers were due at each tick of the last minute: the ticks with most of them. */
#ifndef HTW_SRC_OBSERVE_HERDS_H
#define HTW_SRC_OBSERVE_HERDS_H

#include "observer.h"

/* The minute is divided into parts, of each of which the greatest herds are kept: so the greatest of the whole
   are among them. */
#define HTW__HERD_PART_NS (4 * HTW_SECOND)
#define HTW__HERD_PARTS 16u /* one more than a minute has: the present one has just begun */

struct htw__herd {
    int64_t at_ns; /* when its tick begins, by the clock of the scheduler */
    uint64_t timers;
    htw__origin origin; /* of the first */
};

struct htw__herd_part {
    int64_t number; /* of the part, counted from the beginning of the clock */
    uint32_t count;
    struct htw__herd herds[HTW_HERDS_MAX];
};

struct htw__herds {
    struct htw__lock lock;    /* guards the rest */
    struct htw__herd present; /* is still growing */
    struct htw__herd_part parts[HTW__HERD_PARTS];
};

/* Those of an expirer; NULL: there are none. Any thread. */
static inline struct htw__herds *htw__herds_present(struct htw__herds *_Atomic const *place) {
    /* order: The herds must be seen initialized. [relaxed: `observe`] */
    return atomic_load_explicit(place, memory_order_acquire);
}

/* The same, created if there are none; NULL: no memory. Any thread. */
struct htw__herds *htw__herds_at(const struct htw_scheduler *scheduler,
                                 struct htw__herds *_Atomic *place);

/* Begins another herd, with a timer that was due at an instant. Under the lock. */
void htw__herds_begin(struct htw__herds *herds, const struct htw_scheduler *scheduler,
                      int64_t deadline_ns, htw__origin origin);

/* Counts a timer that was due. `offset_ns`: from its clock to that of the scheduler. Under the lock. */
static inline void htw__herds_add(struct htw__herds *herds, const struct htw_scheduler *scheduler,
                                  const struct htw__record *record, int64_t offset_ns) {
    int64_t deadline_ns;
    if (__builtin_add_overflow(record->deadline_ns, offset_ns, &deadline_ns))
        deadline_ns = INT64_MIN; /* it was due: the sum is not too great */
    uint64_t before = (uint64_t)herds->present.at_ns - (uint64_t)deadline_ns;
    if (HTW__LIKELY(before < scheduler->tick.value)) /* of the same tick */
        herds->present.timers++;
    else
        htw__herds_begin(herds, scheduler, deadline_ns, htw__origin_of(record));
}

/* Adds the herds of the minute before `now_ns` to a list, the greatest first; `*count`, of at most
   HTW_HERDS_MAX, is how many it has. Takes the lock. */
void htw__herds_list(struct htw__herds *herds, int64_t now_ns, struct htw__herd *list,
                     uint32_t *count);

#endif /* HTW_SRC_OBSERVE_HERDS_H */
