/* SPDX-License-Identifier: MIT */
/* observe.c - what is counted and recorded of a timer where something is observed. */
#include "../scheduler/observe.h"

#include "../base/clock.h"
#include "../scheduler/attributes.h"
#include "herds.h"

/* ---- times */

/* Of events: where time is manual, that of the scheduler. */
static int64_t event_now_ns(const struct htw_scheduler *scheduler) {
    return htw__is_manual(scheduler) ? htw__now_ns(scheduler) : htw__clock_monotonic_ns();
}

static bool is_event_clock(const struct htw_scheduler *scheduler, enum htw_clock clock) {
    return htw__is_manual(scheduler) ? clock == scheduler->clock->name
                                     : clock == HTW_CLOCK_MONOTONIC;
}

/* A deadline of a clock, as an instant of the clock of events. `time_ns`: the present. */
static int64_t event_deadline_ns(const struct htw_scheduler *scheduler, enum htw_clock name,
                                 int64_t deadline_ns, int64_t time_ns) {
    int64_t offset_ns, at_ns;
    if (deadline_ns == HTW_NEVER_NS || is_event_clock(scheduler, name))
        return deadline_ns;
    const struct htw__clock *clock = htw__clock_for(scheduler, name);
    if (__builtin_sub_overflow(time_ns, htw__clock_now_ns(scheduler, clock), &offset_ns) ||
        __builtin_add_overflow(deadline_ns, offset_ns, &at_ns))
        return HTW_NEVER_NS;
    return at_ns;
}

/* ---- under the lock of a shard */

static void record_event(struct htw__shard *shard, const struct htw__record *record,
                         htw_handle handle, enum htw_event_kind kind) {
    const struct htw_scheduler *scheduler = shard->scheduler;
    struct htw__event event = {
        .kind = kind,
        .origin = htw__origin_of(record),
        .time_ns = event_now_ns(scheduler),
        .deadline_ns = HTW_NEVER_NS,
        .handle = handle,
    };
    if (kind != HTW_EVENT_CANCELLED) { /* the record of one that was claimed is another shard's */
        struct htw__attributes *attributes = htw__attributes_of(record, htw__status_of(record));
        event.deadline_ns =
            event_deadline_ns(scheduler, htw__clockwork_of(shard, attributes)->clock->name,
                              htw__attributes_deadline_ns(record, attributes), event.time_ns);
    }
    htw__observer_record(shard->observer, &event);
}

void htw__observe_step(struct htw__shard *shard, const struct htw__record *record,
                       htw_handle handle, enum htw_event_kind kind) {
    unsigned mode = htw__mode(shard->scheduler);
    if ((mode & HTW_OBSERVE_SITES) && kind != HTW_EVENT_MOVED)
        htw__site_add(htw__observer_site(shard->observer, htw__origin_of(record)),
                      kind == HTW_EVENT_ARMED ? HTW__SITE_ARMED : HTW__SITE_CANCELLED, 1);
    if (mode & HTW_OBSERVE_EVENTS)
        record_event(shard, record, handle, kind);
}

/* ---- in the thread that runs a callback */

void htw__observe_run_event(struct htw__run_stats *run_stats, const struct htw__observed_run *run,
                            enum htw_event_kind kind, int64_t end_ns) {
    const struct htw_expiration *expiration = run->expiration;
    const struct htw_scheduler *scheduler = expiration->scheduler;
    /* The clock of the scheduler was read just now. */
    int64_t time_ns =
        is_event_clock(scheduler, scheduler->clock->name) ? end_ns : event_now_ns(scheduler);
    const struct htw__event event = {
        .kind = kind,
        .origin = run->origin,
        .time_ns = time_ns,
        .deadline_ns =
            event_deadline_ns(scheduler, expiration->clock, expiration->deadline_ns, time_ns),
        .duration_ns = end_ns > run->started_ns ? end_ns - run->started_ns : 0,
        .handle = expiration->handle,
    };
    htw__observer_record(run_stats->observer, &event);
}

/* ---- in the role of an expirer */

static void record_wakeup(struct htw__expirer *expirer, const struct htw__event *timer) {
    struct htw__event event = *timer;
    event.kind = HTW_EVENT_WOKEN;
    htw__observer_record(expirer->observer, &event);
}

/* The first timer of the batch is why the expirer has woken up. */
static void observe_wakeup(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                           const struct htw__batch *batch, unsigned mode) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    const struct htw__record *record = batch->records[0];
    htw__origin origin = htw__origin_of(record);
    if (mode & HTW_OBSERVE_SITES)
        htw__site_add(htw__observer_site(expirer->observer, origin), HTW__SITE_WAKEUPS, 1);
    if (mode & HTW_OBSERVE_EVENTS) {
        int64_t time_ns = event_now_ns(scheduler);
        const struct htw__event timer = {
            .origin = origin,
            .time_ns = time_ns,
            .deadline_ns =
                event_deadline_ns(scheduler, clockwork->clock->name, record->deadline_ns, time_ns),
            .handle = htw__handle_of(batch->shard, record),
        };
        record_wakeup(expirer, &timer);
    }
}

static void observe_herds(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                          const struct htw__batch *batch) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    struct htw__herds *herds = htw__herds_at(scheduler, &expirer->herds);
    if (herds == NULL)
        return;
    int64_t offset_ns = clockwork->clock == scheduler->clock
                            ? 0
                            : htw__now_ns(scheduler) - htw__clockwork_now_ns(clockwork);
    htw__lock_acquire(&herds->lock);
    for (uint32_t i = 0; i < batch->count; i++)
        htw__herds_add(herds, scheduler, batch->records[i], offset_ns);
    htw__lock_release(&herds->lock);
}

void htw__observe_collected(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                            const struct htw__batch *batch) {
    unsigned mode = htw__mode(expirer->scheduler);
    if (batch->count == 0 || !(mode & HTW__MODE_OBSERVE))
        return;
    if (expirer->woken)
        observe_wakeup(expirer, clockwork, batch, mode);
    expirer->woken = false;
    if (mode & HTW_OBSERVE_SITES)
        observe_herds(expirer, clockwork, batch);
}

void htw__observe_served(struct htw__expirer *expirer) {
    if (expirer->woken && (htw__mode(expirer->scheduler) & HTW_OBSERVE_EVENTS)) {
        const struct htw__event nothing = { .time_ns = event_now_ns(expirer->scheduler),
                                            .deadline_ns = HTW_NEVER_NS };
        record_wakeup(expirer, &nothing);
    }
    expirer->woken = false;
}
