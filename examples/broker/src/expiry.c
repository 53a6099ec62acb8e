/* SPDX-License-Identifier: MIT */
/* expiry.c - a timer for each key that expires. */
#include "expiry.h"

static void expire(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct entry *entry = arg;
    struct store *store = entry->store;
    entry->expiry = 0; /* the timer has ended */
    store->memory -= TIMER_COST;
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
    entry->store->memory += is_new ? TIMER_COST : 0;
    entry->deadline_ns = deadline_ns;
    return true;
}

bool expiry_clear(struct entry *entry) {
    if (entry->deadline_ns == HTW_NEVER_NS)
        return false;
    store_cancel_timer(entry);
    entry->expiry = 0;
    entry->store->memory -= TIMER_COST;
    entry->deadline_ns = HTW_NEVER_NS;
    return true;
}

int64_t expiry_remaining_ms(const struct entry *entry) {
    if (entry->deadline_ns == HTW_NEVER_NS)
        return -1;
    return (entry->deadline_ns - store_now(entry->store) - 1) / HTW_MILLISECOND + 1;
}
