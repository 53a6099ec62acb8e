/* SPDX-License-Identifier: MIT */
/* kept_sites.h - sites that are made at run time: a scheduler keeps a copy of each, until it is destroyed. */
#ifndef HTW_SRC_OBSERVE_KEPT_SITES_H
#define HTW_SRC_OBSERVE_KEPT_SITES_H

#include "../base/lock.h"

#include <stdint.h>

struct htw_scheduler;
struct htw__kept_site;

struct htw__kept_sites {
    struct htw__mutex mutex;
    struct htw__kept_site *first;
    uint32_t count;
    uint64_t bytes;
};

void htw__kept_sites_init(struct htw_scheduler *scheduler);
void htw__kept_sites_fini(struct htw_scheduler *scheduler);

/* Their memory. Not under a lock. */
uint64_t htw__kept_sites_bytes(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_OBSERVE_KEPT_SITES_H */
