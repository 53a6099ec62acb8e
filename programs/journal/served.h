/* SPDX-License-Identifier: MIT */
/* served.h - the changes of `htw journal` to a journal that an `htw serve` has open. What fails, says why. */
#ifndef HTW_JOURNAL_SERVED_H
#define HTW_JOURNAL_SERVED_H

#include "actions.h"

/* The job gets its id. */
bool htw__served_put(const struct htw__journal_request *request, struct htw_job *job);

/* The step with one of the jobs. */
bool htw__served_step(const struct htw__journal_request *request, uint64_t id);

/* Jobs of a queue. `*ret_count`: how many. */
bool htw__served_kick(const struct htw__journal_request *request, int *ret_count);

#endif /* HTW_JOURNAL_SERVED_H */
