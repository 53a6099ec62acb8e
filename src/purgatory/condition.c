/* SPDX-License-Identifier: MIT */
/* condition.c - the list of a purgatory's conditions, and how they are closed. submit.c adds requests. */
#include "condition.h"

int htw__condition_init(struct htw__condition *condition, const struct htw__condition_type *type,
                        struct htw_purgatory *purgatory, size_t bytes) {
    *condition = (struct htw__condition) { .type = type, .purgatory = purgatory };
    htw__lock_acquire(&purgatory->lock);
    /* order: A hint; closing takes the same lock afterwards. */
    bool closed = atomic_load_explicit(&purgatory->closed, memory_order_relaxed);
    if (!closed) {
        htw__ring_push_front(&purgatory->conditions, &condition->link);
        purgatory->condition_bytes += bytes;
    }
    htw__lock_release(&purgatory->lock);
    return closed ? -ESHUTDOWN : 0;
}

void htw__condition_fini(struct htw__condition *condition, size_t bytes) {
    struct htw_purgatory *purgatory = condition->purgatory;
    htw__lock_acquire(&purgatory->lock);
    htw__link_unlink(&condition->link);
    purgatory->condition_bytes -= bytes;
    htw__lock_release(&purgatory->lock);
    /* Other threads may be in hooks of requests that have expired or were busy. */
    htw__outstanding_wait(&condition->outstanding, NULL);
}

struct htw_request *htw__conditions_close(struct htw_purgatory *purgatory, int64_t *marked) {
    struct htw_request *request = NULL;
    htw__lock_acquire(&purgatory->lock);
    while (request == NULL && !htw__ring_is_empty(&purgatory->conditions)) {
        struct htw__condition *condition =
            HTW_CONTAINER_OF(purgatory->conditions._next, struct htw__condition, link);
        request = condition->type->close(condition, marked);
        if (request == NULL) { /* htw__condition_fini() unlinks it once more */
            htw__link_unlink(&condition->link);
            htw__ring_init(&condition->link);
        }
    }
    htw__lock_release(&purgatory->lock);
    return request;
}
