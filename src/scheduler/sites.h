/* SPDX-License-Identifier: MIT */
/* sites.h - counts the timers of a scheduler by the site that armed them, or by their callback. */
#ifndef HTW_SRC_SCHEDULER_SITES_H
#define HTW_SRC_SCHEDULER_SITES_H

#include "../base/safe_copy.h"
#include "state.h"

/* The timers of a site, or of a callback without one. */
struct htw__site_count {
    uintptr_t address; /* of the site or the callback; 0: of all that found no room */
    bool is_site;
    uint64_t pending;
    int64_t next_ns; /* what is left until the earliest deadline; HTW_NEVER_NS: there is none */
};

/* A timer that is among the next ones. */
struct htw__next_timer {
    htw_handle handle;
    int64_t left_ns;
    uintptr_t address;
    bool is_site;
};

#define HTW__NEXT_TIMERS 10u
#define HTW__SITE_SLOTS ((size_t)2 * HTW_SITES_MAX)

struct htw__census {
    struct htw__site_count sites[HTW__SITE_SLOTS]; /* while it is made, a table by address */
    uint32_t site_count;
    struct htw__site_count others;
    struct htw__next_timer next[HTW__NEXT_TIMERS]; /* the next one is first */
    uint32_t next_count;
    struct htw__safe_copy copy;
};

/* Sites are in the order of their number of timers. NULL: no memory. Not under a lock. */
struct htw__census *htw__census_take(struct htw_scheduler *scheduler);
void htw__census_release(struct htw_scheduler *scheduler, struct htw__census *census);

/* A site as far as its memory can be read, cut where it is longer. */
struct htw__site_text {
    struct htw_site site;
    char name[64], file[HTW__SAFE_COPY_MAX], function[128];
};

/* False: the site cannot be read. */
bool htw__site_copy(const struct htw__census *census, uintptr_t address,
                    struct htw__site_text *ret_text);

#endif /* HTW_SRC_SCHEDULER_SITES_H */
