/* SPDX-License-Identifier: MIT */
/* served.h - what `htw journal` asks of the `htw serve` that has a journal open. What fails, says why. */
#ifndef HTW_JOURNAL_SERVED_H
#define HTW_JOURNAL_SERVED_H

#include "actions.h"

/* The job gets its id. */
bool htw__served_put(const struct htw__journal_request *request, struct htw_job *job);

/* The step with one of the jobs. */
bool htw__served_step(const struct htw__journal_request *request, uint64_t id);

/* Jobs of a queue. `*ret_count`: how many. */
bool htw__served_kick(const struct htw__journal_request *request, int *ret_count);

/* Which jobs the workers of the server have reserved: it knows that, and the file does not. */
struct htw__leases {
    uint64_t *ids; /* in order */
    size_t count;
};

/* Asks the server of the file, if there is one. Without an answer, which was printed, there are none. */
void htw__leases_ask(struct htw__leases *self, const char *file);
void htw__leases_free(struct htw__leases *self);

bool htw__leases_have(const struct htw__leases *self, uint64_t id);

#endif /* HTW_JOURNAL_SERVED_H */
