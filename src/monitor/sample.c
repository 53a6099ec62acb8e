/* SPDX-License-Identifier: MIT */
/* sample.c - takes the statistics of all sources. */
#include "sample.h"

#include "wheel_copy.h"

#include <string.h>

#define COUNTER(type, member, metric, help) \
    { #member, metric, true, help, offsetof(type, member) }
#define GAUGE(type, member, metric, help) \
    { #member, metric, false, help, offsetof(type, member) }
#define END \
    { NULL, NULL, false, NULL, 0 }

/* The metrics have the names and texts that the functions htw_..._prometheus() write. */
#define SCHEDULER struct htw_scheduler_stats
static const struct htw__field scheduler_fields[] = {
    COUNTER(SCHEDULER, scheduled, "htw_scheduled_total", "Timers scheduled."),
    COUNTER(SCHEDULER, fired, "htw_fired_total", "Timers that ended with a run."),
    COUNTER(SCHEDULER, cancelled, "htw_cancelled_total", "Timers cancelled before a run."),
    COUNTER(SCHEDULER, handed_back, "htw_handed_back_total", "Timers handed back by stop."),
    COUNTER(SCHEDULER, runs, "htw_runs_total", "Callbacks started."),
    COUNTER(SCHEDULER, late, "htw_late_total", "Callbacks started later than the threshold."),
    COUNTER(SCHEDULER, missed, "htw_missed_periods_total", "Periods left out by repeating timers."),
    COUNTER(SCHEDULER, refused, "htw_refused_total", "Timers refused for max_pending."),
    COUNTER(SCHEDULER, moved, "htw_moved_total", "Timers given a new deadline."),
    COUNTER(SCHEDULER, demoted, "htw_demoted_total", "Demotions of timers in the wheels."),
    COUNTER(SCHEDULER, wakeups, "htw_wakeups_total", "Times an expirer woke up."),
    COUNTER(SCHEDULER, empty_wakeups, "htw_empty_wakeups_total",
            "Times it did so with nothing due."),
    GAUGE(SCHEDULER, pending, "htw_pending", "Timers pending."),
    GAUGE(SCHEDULER, running, "htw_running", "Callbacks running."),
    GAUGE(SCHEDULER, memory_bytes, "htw_memory_bytes", "Memory that the scheduler holds."),
    END,
};

#define PURGATORY struct htw_purgatory_stats
static const struct htw__field purgatory_fields[] = {
    COUNTER(PURGATORY, submitted, "htw_purgatory_submitted_total", "Requests submitted."),
    COUNTER(PURGATORY, completed, NULL, NULL), /* these four are one metric */
    COUNTER(PURGATORY, expired, NULL, NULL),
    COUNTER(PURGATORY, cancelled, NULL, NULL),
    COUNTER(PURGATORY, closed, NULL, NULL),
    GAUGE(PURGATORY, pending, "htw_purgatory_pending", "Requests that wait."),
    GAUGE(PURGATORY, delayed, "htw_purgatory_delayed", "Of these, with a timeout."),
    GAUGE(PURGATORY, watched, "htw_purgatory_watched", "Requests on keys, once for each key."),
    GAUGE(PURGATORY, keys, "htw_purgatory_keys", "Keys on which requests wait."),
    GAUGE(PURGATORY, alarms, "htw_purgatory_alarms",
          "Timers of the scheduler that the purgatory uses."),
    GAUGE(PURGATORY, memory_bytes, "htw_purgatory_memory_bytes",
          "Memory that the purgatory holds."),
    COUNTER(PURGATORY, waited_ms, NULL, NULL), /* of the histogram */
    END,
};

#define WHEEL struct htw_wheel_stats
static const struct htw__field wheel_fields[] = {
    COUNTER(WHEEL, scheduled, "htw_wheel_scheduled_total", "Timers armed that were not pending."),
    COUNTER(WHEEL, moved, "htw_wheel_moved_total", "Timers armed that were pending."),
    COUNTER(WHEEL, cancelled, "htw_wheel_cancelled_total", "Timers cancelled."),
    COUNTER(WHEEL, expired, "htw_wheel_expired_total", "Timers handed out by polls."),
    COUNTER(WHEEL, drained, "htw_wheel_drained_total", "Timers drained."),
    COUNTER(WHEEL, demoted, "htw_wheel_demoted_total", "Demotions of timers."),
    COUNTER(WHEEL, advances, "htw_wheel_advances_total",
            "Times the clock advanced to a bucket in use."),
    GAUGE(WHEEL, pending, "htw_wheel_pending", "Timers pending."),
    GAUGE(WHEEL, memory_bytes, "htw_wheel_memory_bytes", "Memory of the wheel, without timers."),
    END,
};

const struct htw__field *htw__fields(enum htw__source_kind kind) {
    static const struct htw__field *const fields[] = {
        [HTW__SOURCE_SCHEDULER] = scheduler_fields,
        [HTW__SOURCE_PURGATORY] = purgatory_fields,
        [HTW__SOURCE_WHEEL] = wheel_fields,
    };
    return fields[kind];
}

const char *htw__kind_name(enum htw__source_kind kind) {
    static const char *const names[] = {
        [HTW__SOURCE_SCHEDULER] = "scheduler",
        [HTW__SOURCE_PURGATORY] = "purgatory",
        [HTW__SOURCE_WHEEL] = "wheel",
    };
    return names[kind];
}

uint64_t htw__sample_value(const struct htw__sample *sample, const struct htw__field *field) {
    uint64_t value;
    memcpy(&value, (const char *)&sample->of + field->offset, sizeof(value));
    return value;
}

static void take_wheel(struct htw__sample *sample) {
    struct htw__lent_wheel *lent = sample->source->of.wheel;
    htw__mutex_lock(&lent->mutex);
    htw__wheel_copy_refresh(lent);
    sample->of.wheel = lent->stats;
    htw__mutex_unlock(&lent->mutex);
}

static void take(struct htw__sample *sample) {
    switch (sample->source->kind) {
    case HTW__SOURCE_SCHEDULER:
        htw_scheduler_stats_init(&sample->of.scheduler.stats);
        htw_scheduler_histograms_init(&sample->of.scheduler.histograms);
        sample->error =
            htw_scheduler_get_histograms(sample->source->of.scheduler, &sample->of.scheduler.stats,
                                         &sample->of.scheduler.histograms);
        break;
    case HTW__SOURCE_PURGATORY:
        htw_purgatory_stats_init(&sample->of.purgatory);
        sample->error =
            htw_purgatory_get_stats(sample->source->of.purgatory, &sample->of.purgatory);
        break;
    case HTW__SOURCE_WHEEL:
        take_wheel(sample);
        break;
    }
}

/* ---- one source after the other */

struct htw__sources htw__sources_now(struct htw_monitor *monitor) {
    htw__mutex_lock(&monitor->mutex);
    struct htw__sources sources = { monitor, monitor->source_count, monitor->sources_added };
    htw__mutex_unlock(&monitor->mutex);
    return sources;
}

/* The first source from `source` on that is to be visited. */
static struct htw_monitor_source *find(const struct htw__sources *sources,
                                       enum htw__source_kind kind,
                                       struct htw_monitor_source *source) {
    if (atomic_load_explicit(&sources->monitor->is_closing, memory_order_relaxed))
        return NULL;
    while (source != NULL && source->kind != kind)
        source = source->next;
    return source != NULL && source->number <= sources->last ? source : NULL;
}

/* From here on the next source cannot be removed, and `source` can. NULL: the first one; none. */
static struct htw_monitor_source *read_next(const struct htw__sources *sources,
                                            enum htw__source_kind kind,
                                            const struct htw_monitor_source *source) {
    struct htw_monitor *monitor = sources->monitor;
    htw__mutex_lock(&monitor->mutex);
    struct htw_monitor_source *next =
        find(sources, kind, source == NULL ? monitor->sources : source->next);
    monitor->reading = next;
    pthread_cond_broadcast(&monitor->read);
    htw__mutex_unlock(&monitor->mutex);
    return next;
}

void htw__sources_visit(const struct htw__sources *sources, enum htw__source_kind kind,
                        htw__source_visitor *visit, void *context) {
    for (struct htw_monitor_source *source = NULL;
         (source = read_next(sources, kind, source)) != NULL;) {
        struct htw__sample sample = { .source = source };
        memcpy(sample.name, source->name, sizeof(sample.name));
        take(&sample);
        visit(context, &sample);
    }
}
