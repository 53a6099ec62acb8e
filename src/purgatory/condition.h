/* SPDX-License-Identifier: MIT */
/*
 * condition.h - conditions: what requests wait for instead of keys. The purgatory knows none; a layer above
 * embeds one in its object.
 *
 * The layer above has a list of the requests that wait, under a lock of its own. It owns a request
 * (owner.h) to end it (end.h).
 */
#ifndef HTW_SRC_PURGATORY_CONDITION_H
#define HTW_SRC_PURGATORY_CONDITION_H

#include "state.h"

struct htw__condition_type {
    /* Links a request that waits for `value`. 0; HTW_FINISHED: the condition has that value already;
       -ESHUTDOWN: it is closed. For these two nothing is linked. The owner only. */
    int (*link)(struct htw__condition *condition, struct htw_request *request, uint64_t value);
    /* Unlinks a request that ends, if it is still linked. The owner only. */
    void (*unlink)(struct htw__condition *condition, struct htw_request *request);
    /* The purgatory is closed: accepts no request from now on, and ends those that wait. Returns how many, marked
       ones included. */
    int64_t (*close)(struct htw__condition *condition, struct htw__frame *frame);
};

struct htw__condition {
    const struct htw__condition_type *type;
    struct htw_purgatory *purgatory;
    struct htw__outstanding
        outstanding;       /* requests that were linked, and are not released; a close */
    struct htw__link link; /* in `conditions`, under the lock of the purgatory */
};

/* `bytes`: the object that embeds it. 0; -ESHUTDOWN: the purgatory is closed. */
int htw__condition_init(struct htw__condition *condition, const struct htw__condition_type *type,
                        struct htw_purgatory *purgatory, size_t bytes);

/* No request waits. Waits until the last hooks of those that did have returned. */
void htw__condition_fini(struct htw__condition *condition, size_t bytes);

/* The public call of the layer above: submits a request to a condition. As
   htw_purgatory_try_complete_else_watch(). */
int htw__request_submit(struct htw__condition *condition, struct htw_request *request,
                        uint64_t value, int64_t timeout_ns);

#endif /* HTW_SRC_PURGATORY_CONDITION_H */
