/* SPDX-License-Identifier: MIT */
/* options.c - the public structs as they are at first, and which options of a journal are valid. */
#include "../base/alloc.h"

#include <htw/journal.h>

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

const char *htw_journal_options_invalid(const struct htw_journal_options *options) {
    if (options == NULL)
        return NULL;
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    if ((unsigned)options->synchronous > HTW_SYNCHRONOUS_NORMAL)
        return "synchronous";
    if (options->parallel > HTW_JOURNAL_PARALLEL_MAX)
        return "parallel";
    if (options->near_ns < 0 || options->near_ns > HTW_JOURNAL_NEAR_NS_MAX)
        return "near_ns";
    if (options->lease_ns < 0)
        return "lease_ns";
    if (options->gather_ns < 0 || options->gather_ns > HTW_JOURNAL_GATHER_NS_MAX)
        return "gather_ns";
    if (options->inbox_ns < 0 || (options->inbox_ns != 0 && !options->is_guest))
        return "inbox_ns";
    return options->allocator == NULL || htw__allocator_is_valid(options->allocator) ? NULL
                                                                                     : "allocator";
}
