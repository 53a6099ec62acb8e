/* SPDX-License-Identifier: MIT */
/* expiry.c - a timer for each key that expires. */
#include "expiry.h"

#include <assert.h>

static void expire(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct entry *entry = arg;
    struct store *store = entry->store;
    entry->expiry = 0; /* the timer has ended */
    store->memory -= EXPIRY_COST;
    store->expired++;
    store_delete(store, entry);
}

bool expiry_set(struct entry *entry, int64_t deadline_ns) {
    struct htw_scheduler *scheduler = entry->store->scheduler;
    bool is_new = entry->expiry == 0;
    int result = is_new ? htw_schedule_at(scheduler, deadline_ns, expire, entry, &entry->expiry)
                        : htw_reschedule_at(scheduler, entry->expiry, deadline_ns);
    if (result < 0)
        return false;
    entry->store->memory += is_new ? EXPIRY_COST : 0;
    entry->deadline_ns = deadline_ns;
    return true;
}

void expiry_cancel(struct entry *entry) {
    if (entry->expiry == 0)
        return;
    int outcome = htw_cancel(entry->store->scheduler, entry->expiry);
    assert(outcome == HTW_CANCELLED); /* no callback runs under the lock */
    (void)outcome;
}

bool expiry_clear(struct entry *entry) {
    if (entry->deadline_ns == HTW_NEVER_NS)
        return false;
    expiry_cancel(entry);
    entry->expiry = 0;
    entry->store->memory -= EXPIRY_COST;
    entry->deadline_ns = HTW_NEVER_NS;
    return true;
}

int64_t expiry_remaining_ms(const struct entry *entry) {
    if (entry->deadline_ns == HTW_NEVER_NS)
        return -1;
    return (entry->deadline_ns - store_now(entry->store) - 1) / HTW_MILLISECOND + 1;
}
