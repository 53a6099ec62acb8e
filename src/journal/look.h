/* SPDX-License-Identifier: MIT */
/* look.h - showing jobs, of which the ids are known. */
#ifndef HTW_SRC_JOURNAL_LOOK_H
#define HTW_SRC_JOURNAL_LOOK_H

#include "state.h"

struct htw__look {
    struct htw_journal *journal;
    int state;             /* only jobs that are in it; below 0: in any */
    bool is_not_in_memory; /* only jobs that memory does not have */
    uint32_t wanted;       /* so many may still be shown */
    uint32_t shown;
    bool is_ended; /* by the visit, or none is wanted any more */
    htw_job_visit *visit;
    void *context;
};

/* Shows the first jobs of some ids, in that order: as many as have room in memory together, at least one. They are as
   they were at one instant, and nothing is held while they are visited. Returns how many ids are dealt with, up to that
   of the last job that was visited if the look is ended; or an error, and then none. */
int htw__look_show(struct htw__look *look, const uint64_t *ids, size_t count);

#endif /* HTW_SRC_JOURNAL_LOOK_H */
