/* SPDX-License-Identifier: MIT */
/* options.c - the public structs as they are at first. */
#include <htw/journal_inspect.h>

#include <stddef.h>

#define INIT(name, INITIAL)                               \
    void htw_##name##_init(struct htw_##name *self) {     \
        static const struct htw_##name initial = INITIAL; \
        if (self != NULL)                                 \
            *self = initial;                              \
    }

INIT(journal_options, HTW_JOURNAL_OPTIONS_INIT)
INIT(job, HTW_JOB_INIT)
INIT(job_update, HTW_JOB_UPDATE_INIT)
INIT(journal_change, HTW_JOURNAL_CHANGE_INIT)
INIT(journal_stats, HTW_JOURNAL_STATS_INIT)
INIT(lease, HTW_LEASE_INIT)
INIT(queue_policy, HTW_QUEUE_POLICY_INIT)
INIT(queue_stats, HTW_QUEUE_STATS_INIT)
