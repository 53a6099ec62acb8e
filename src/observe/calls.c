/* SPDX-License-Identifier: MIT */
/* calls.c - what is counted and recorded of a timer when the scheduler calls. */
#include "../base/clock.h"
#include "../scheduler/attributes.h"
#include "herds.h"
#include "observation.h"
#include "stacks.h"

#include <htw/observe.h>

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

/* The deadline of the event is one of `clock`. */
static void record(const struct htw_scheduler *scheduler, struct htw__observer *observer,
                   enum htw_clock clock, struct htw__event *event) {
    event->deadline_ns = event_deadline_ns(scheduler, clock, event->deadline_ns, event->time_ns);
    htw__observer_record(observer, event);
}

/* ---- under the lock of a shard */

static void record_step(struct htw__shard *shard, const struct htw__record *timer,
                        htw_handle handle, enum htw_event_kind kind) {
    enum htw_clock clock = shard->scheduler->clock->name;
    struct htw__event event = {
        .kind = kind,
        .origin = htw__origin_of(timer),
        .time_ns = event_now_ns(shard->scheduler),
        .deadline_ns = HTW_NEVER_NS,
        .handle = handle,
    };
    if (kind != HTW_EVENT_CANCELLED) { /* the record of one that was claimed is another shard's */
        struct htw__attributes *attributes = htw__attributes_of(timer, htw__status_of(timer));
        clock = htw__clockwork_of(shard, attributes)->clock->name;
        event.deadline_ns = htw__attributes_deadline_ns(timer, attributes);
    }
    record(shard->scheduler, htw__observer_of_shard(shard), clock, &event);
}

static void step(struct htw__shard *shard, const struct htw__record *timer, htw_handle handle,
                 enum htw_event_kind kind) {
    unsigned mode = htw__mode(shard->scheduler);
    if ((mode & HTW_OBSERVE_SITES) && kind != HTW_EVENT_MOVED)
        htw__site_add(htw__observer_site(htw__observer_of_shard(shard), htw__origin_of(timer)),
                      kind == HTW_EVENT_ARMED ? HTW__SITE_ARMED : HTW__SITE_CANCELLED, 1);
    if (HTW__UNLIKELY(mode & HTW_OBSERVE_EVENTS))
        record_step(shard, timer, handle, kind);
}

static void armed(struct htw__shard *shard, const struct htw__record *timer, htw_handle handle,
                  const struct htw_stack *stack) {
    step(shard, timer, handle, HTW_EVENT_ARMED);
    if (HTW__UNLIKELY(stack != NULL))
        htw__stacks_keep(shard, handle, stack);
}

/* ---- in the thread that runs a callback */

static void record_run(struct htw__run_stats *run_stats, const struct htw__observed_run *run,
                       enum htw_event_kind kind, int64_t now_ns) {
    const struct htw_expiration *expiration = run->expiration;
    const struct htw_scheduler *scheduler = expiration->scheduler;
    struct htw__event event = {
        .kind = kind,
        .origin = run->origin,
        .time_ns =
            is_event_clock(scheduler, scheduler->clock->name) ? now_ns : event_now_ns(scheduler),
        .deadline_ns = expiration->deadline_ns,
        .duration_ns = now_ns > run->started_ns ? now_ns - run->started_ns : 0,
        .handle = expiration->handle,
    };
    record(scheduler, htw__observer_of_runner(scheduler, run_stats->number), expiration->clock,
           &event);
}

static void started(struct htw__run_stats *run_stats, const struct htw__record *timer,
                    const struct htw_expiration *expiration, int64_t now_ns,
                    struct htw__observed_run *run) {
    const struct htw_scheduler *scheduler = expiration->scheduler;
    *run = (struct htw__observed_run) { .expiration = expiration,
                                        .origin = htw__origin_of(timer),
                                        .mode = htw__mode(scheduler),
                                        .started_ns = now_ns };
    htw__run_stats_lock(run_stats);
    if (run->mode & HTW_OBSERVE_SITES) {
        struct htw__site_entry *site =
            htw__observer_site(htw__observer_of_runner(scheduler, run_stats->number), run->origin);
        htw__site_add(site, HTW__SITE_EXPIRED, 1);
        if (expiration->late_ns > scheduler->late_threshold_ns)
            htw__site_add(site, HTW__SITE_LATE, 1);
        run->site = site;
    }
    if (HTW__UNLIKELY(run->mode & HTW_OBSERVE_EVENTS))
        record_run(run_stats, run, HTW_EVENT_STARTED, now_ns);
    htw__run_stats_unlock(run_stats);
}

static void ended(struct htw__run_stats *run_stats, const struct htw__observed_run *run,
                  int64_t now_ns) {
    htw__run_stats_lock(run_stats);
    if (run->site != NULL && now_ns > run->started_ns)
        htw__site_add(run->site, HTW__SITE_CALLBACK_NS, (uint64_t)(now_ns - run->started_ns));
    if (HTW__UNLIKELY(run->mode & HTW_OBSERVE_EVENTS))
        record_run(run_stats, run, HTW_EVENT_ENDED, now_ns);
    htw__run_stats_unlock(run_stats);
}

/* ---- in the role of an expirer */

/* `timer`: why it has woken up; NULL: it has found none. */
static void record_wakeup(struct htw__expirer *expirer, enum htw_clock clock,
                          const struct htw__shard *shard, const struct htw__record *timer) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    struct htw__event event = {
        .kind = HTW_EVENT_WOKEN,
        .origin = timer == NULL ? 0 : htw__origin_of(timer),
        .time_ns = event_now_ns(scheduler),
        .deadline_ns = timer == NULL ? HTW_NEVER_NS : timer->deadline_ns,
        .handle = timer == NULL ? 0 : htw__handle_of(shard, timer),
    };
    record(scheduler, htw__observer_of_expirer(scheduler, expirer->index), clock, &event);
}

static void collected(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                      const struct htw__batch *batch) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    struct htw__observer *observer = htw__observer_of_expirer(scheduler, expirer->index);
    const struct htw__record *first = batch->records[0]; /* why it has woken up */
    unsigned mode = htw__mode(scheduler);
    if (expirer->woken && (mode & HTW_OBSERVE_SITES))
        htw__site_add(htw__observer_site(observer, htw__origin_of(first)), HTW__SITE_WAKEUPS, 1);
    if (expirer->woken && (mode & HTW_OBSERVE_EVENTS))
        record_wakeup(expirer, clockwork->clock->name, batch->shard, first);
    expirer->woken = false;
    if (mode & HTW_OBSERVE_SITES)
        htw__herds_add(observer, clockwork, batch);
}

static void found_none(struct htw__expirer *expirer) {
    if (htw__mode(expirer->scheduler) & HTW_OBSERVE_EVENTS)
        record_wakeup(expirer, HTW_CLOCK_MONOTONIC, NULL, NULL);
}

const struct htw__observe_calls htw__observe_calls = {
    .observe = htw_scheduler_observe,
    .take_stack = htw__stack_fill,
    .armed = armed,
    .changed = step,
    .stack_of = htw__stacks_find,
    .started = started,
    .ended = ended,
    .collected = collected,
    .found_none = found_none,
    .stop = htw__stop_and_report,
    .destroy = htw__observation_destroy,
};
