/* SPDX-License-Identifier: MIT */
/* served.h - what `htw journal` asks of the `htw serve` that has a journal open. What fails, says why. */
#ifndef HTW_JOURNAL_SERVED_H
#define HTW_JOURNAL_SERVED_H

#include "actions.h"

/* Whether one listens beside the file that belongs to the owner of the file, to this user, or to root. */
bool htw__journal_is_served(const char *file);

/* The job gets its id. */
bool htw__served_put(const struct htw__journal_request *request, struct htw_job *job);

/* The step with one of the jobs. */
bool htw__served_step(const struct htw__journal_request *request, uint64_t id);

/* Jobs of a queue. `*ret_count`: how many. */
bool htw__served_kick(const struct htw__journal_request *request, int *ret_count);

#endif /* HTW_JOURNAL_SERVED_H */
