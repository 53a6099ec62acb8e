/* SPDX-License-Identifier: MIT */
/* sites.h - counts the timers of a scheduler by the site that armed them, or by their callback. */
#ifndef HTW_SRC_OBSERVE_SITES_H
#define HTW_SRC_OBSERVE_SITES_H

#include "safe_copy.h"
#include "observer.h"
#include "stacks.h"

#include <htw/observe.h>

#include <string.h>

/* The timers of a site, or of a callback without one. */
struct htw__site_count {
    htw__origin origin; /* 0: all that found no room */
    uint64_t pending;
    int64_t next_ns; /* what is left until the earliest deadline; HTW_NEVER_NS: there is none */
    uint64_t numbers[HTW__SITE_NUMBERS];
};

static inline bool htw__site_is_counted(const struct htw__site_count *count) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < HTW__SITE_NUMBERS; i++)
        sum |= count->numbers[i];
    return sum != 0;
}

/* The timers that are due at a tick. */
struct htw__due_tick {
    uint64_t tick; /* of the clock of the scheduler */
    uint64_t timers;
    /* Of the first of them: */
    int64_t left_ns;
    htw_handle handle;
    htw__origin origin;
};

#define HTW__SITE_SLOTS ((size_t)2 * HTW_SITES_MAX)

struct htw__census {
    struct htw__site_count sites[HTW__SITE_SLOTS]; /* while it is made, a table by address */
    uint32_t site_count;
    struct htw__site_count others;
    struct htw__due_tick ticks[HTW_WAKEUPS_MAX]; /* the next ones, in their order */
    uint32_t tick_count;
    bool has_stacks; /* they are observed */
    struct htw__stack_census stacks;
};

/* Makes a place for one more among the first ones of an ordered list, which keeps up to `most`: the last one goes where it is
   full. False: the place is behind all of these. */
static inline bool htw__make_place(void *list, size_t size, uint32_t most, uint32_t *count,
                                   uint32_t place) {
    char *at = (char *)list + place * size;
    if (place == most)
        return false;
    if (*count < most)
        (*count)++;
    memmove(at + size, at, (*count - place - 1) * size);
    return true;
}

/* Sites are in the order of their number of timers; all that found no room are behind them, where there are some. NULL: no
   memory. Not under a lock. */
struct htw__census *htw__census_take(struct htw_scheduler *scheduler);
void htw__census_release(struct htw_scheduler *scheduler, struct htw__census *census);

/* ---- what a tool shows of a site */

/* A site as far as its memory can be read, cut where it is longer. */
struct htw__site_text {
    struct htw_site site;
    char name[64], file[HTW__SYSTEM_COPY_MAX], function[128];
};

/* `text` must stay as long as the result is used. */
struct htw_origin htw__site_show(const struct htw__safe_copy *copy, htw__origin origin,
                                 struct htw__site_text *text);

#endif /* HTW_SRC_OBSERVE_SITES_H */
