/* SPDX-License-Identifier: MIT */
#include "expiry.h"

#include <stdlib.h>

static void expire(void *arg, const struct htw_firing *firing) {
    struct entry *entry = arg;
    struct store *store = entry->store;
    store_lock(store);
    if (entry->is_deleted) {
        free(entry);
    } else if (entry->deadline_ns == HTW_FOREVER) {
        entry->expiry = 0;
    } else if (entry->deadline_ns > htw_scheduler_now(firing->scheduler)) {
        /* Anew: this one cannot be moved, if it was cancelled in the meantime. */
        if (htw_schedule_at(firing->scheduler, entry->deadline_ns, expire, entry, &entry->expiry) !=
            0)
            entry->expiry = 0; /* no memory */
    } else {
        entry->expiry = 0;
        store->expired++;
        store_delete(store, entry);
    }
    store_unlock(store);
}

bool expiry_set(struct entry *entry, int64_t deadline_ns) {
    struct htw_scheduler *scheduler = entry->store->scheduler;
    int result = entry->expiry == 0
                     ? htw_schedule_at(scheduler, deadline_ns, expire, entry, &entry->expiry)
                     : htw_reschedule_at(scheduler, entry->expiry, deadline_ns);
    if (result < 0)
        return false;
    entry->deadline_ns = deadline_ns; /* with HTW_RUNNING the timer is going to look here */
    return true;
}

bool expiry_clear(struct entry *entry) {
    if (entry->deadline_ns == HTW_FOREVER)
        return false;
    entry->deadline_ns = HTW_FOREVER;
    if (htw_cancel(entry->store->scheduler, entry->expiry) == HTW_CANCELLED)
        entry->expiry = 0;
    return true;
}

int64_t expiry_remaining_ms(const struct entry *entry) {
    if (entry->deadline_ns == HTW_FOREVER)
        return -1;
    int64_t left_ns = entry->deadline_ns - htw_scheduler_now(entry->store->scheduler);
    return left_ns <= 0 ? 0 : (left_ns - 1) / HTW_MILLISECOND + 1;
}

bool expiry_abandon(struct entry *entry) {
    if (entry->expiry == 0 || htw_cancel(entry->store->scheduler, entry->expiry) == HTW_CANCELLED)
        return true;
    entry->is_deleted = true;
    return false;
}
