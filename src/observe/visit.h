/* SPDX-License-Identifier: MIT */
/* visit.h - a visit of what tools show of a scheduler. */
#ifndef HTW_SRC_OBSERVE_VISIT_H
#define HTW_SRC_OBSERVE_VISIT_H

#include "../base/user_code.h"
#include "../scheduler/shard.h"
#include "safe_copy.h"

#include <htw/observe.h>

struct htw__visit {
    struct htw_scheduler *scheduler;
    struct htw__safe_copy copy; /* for what shows sites */
    uint64_t most;              /* of what is still to be visited */
    htw_visitor *visitor;
    void *context;
};

/* Calls the visitor. Returns whether it may see more. Not under a lock. */
static inline bool htw__visit_show(struct htw__visit *visit, const union htw_visited *visited) {
    HTW__CALL_USER("a visitor", visit->scheduler, visit->visitor,
                   visit->visitor(visit->context, visited));
    return --visit->most > 0;
}

/* Each returns 0 or -ENOMEM. */
int htw__visit_sites(struct htw__visit *visit);
int htw__visit_groups(struct htw__visit *visit);
int htw__visit_wakeups(struct htw__visit *visit);
int htw__visit_herds(struct htw__visit *visit);
int htw__visit_events(struct htw__visit *visit);
int htw__visit_shards(struct htw__visit *visit);
int htw__visit_levels(struct htw__visit *visit);

#endif /* HTW_SRC_OBSERVE_VISIT_H */
