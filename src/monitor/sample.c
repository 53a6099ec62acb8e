/* SPDX-License-Identifier: MIT */
/* sample.c - takes the statistics of all sources. */
#include "sample.h"

#include "../base/clock.h"
#include "../observe/levels.h"

#include <inttypes.h>

static const struct htw__metric journal_fields[] = {
#define JOURNAL(metric, member, help) HTW__METRIC(struct htw_journal_stats, metric, member, help),
    HTW__JOURNAL_METRICS(JOURNAL) HTW__METRICS_END,
};
HTW__METRICS_COMPLETE(journal_fields, htw_journal_stats, 0, 3 * sizeof(struct htw_distribution));

static const struct htw__metric wheel_fields[] = {
#define WHEEL(metric, member, help) HTW__METRIC(struct htw_wheel_stats, metric, member, help)
    WHEEL("htw_wheel_scheduled_total", scheduled, "Timers armed that were not pending."),
    WHEEL("htw_wheel_moved_total", moved, "Timers armed that were pending."),
    WHEEL("htw_wheel_cancelled_total", cancelled, "Timers cancelled."),
    WHEEL("htw_wheel_expired_total", expired, "Timers handed out by polls."),
    WHEEL("htw_wheel_drained_total", drained, "Timers drained."),
    WHEEL("htw_wheel_demoted_total", demoted, "Demotions of timers."),
    WHEEL("htw_wheel_advances_total", advances, "Times the clock advanced to a bucket in use."),
    WHEEL("htw_wheel_pending", pending, "Timers pending."),
    WHEEL("htw_wheel_memory_bytes", memory_bytes, "Memory of the wheel, without timers."),
    HTW__METRICS_END,
};

const struct htw__kind htw__kinds[] = {
    [HTW__SOURCE_SCHEDULER] = { "scheduler", "schedulers", htw__scheduler_metrics },
    [HTW__SOURCE_PURGATORY] = { "purgatory", "purgatories", htw__purgatory_metrics },
    [HTW__SOURCE_JOURNAL] = { "journal", "journals", journal_fields },
    [HTW__SOURCE_WHEEL] = { "wheel", "wheels", wheel_fields },
};

/* The sum of times may be more than readers hold, where a deadline was years ago. */
static int64_t fitting(uint64_t number) {
    return number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

void htw__fields_write(const struct htw__metric *fields, const void *stats,
                       struct htw__answer_text *text) {
    for (const struct htw__metric *field = fields; field->member != NULL; field++) {
        if (field->buckets > 0)
            continue;
        htw__text_separate(text);
        htw__text_add(text, "\"%s\":%" PRId64, field->member,
                      fitting(htw__metric_value(field, stats)));
    }
}

void htw__fields_add(const struct htw__metric *fields, void *to, const void *from) {
    for (const struct htw__metric *field = fields; field->member != NULL; field++)
        *(uint64_t *)(void *)((char *)to + field->offset) += htw__metric_value(field, from);
}

void htw__wheel_copy_take(struct htw__lent_wheel *lent) {
    unsigned number = 0;
    lent->is_wanted = false;
    lent->copied_ns = htw__clock_monotonic_ns();
    lent->stats.struct_size = sizeof(lent->stats);
    (void)htw_wheel_get_stats(lent->wheel, &lent->stats); /* the arguments are right */
    lent->clock = htw_wheel_now(lent->wheel);
    for (; number < HTW__LEVELS_SHOWN; number++) {
        struct htw_scheduler_level *level = &lent->levels[number];
        if (!htw__level_begin(level, lent->wheel, number, lent->tick_ns, lent->clock))
            break;
        for (uint32_t bucket = 0; bucket < level->buckets;)
            bucket = htw__level_add(level, lent->wheel, number, bucket);
    }
    lent->level_count = number;
}

static void take_wheel(struct htw__sample *sample) {
    struct htw__lent_wheel *lent = sample->source->of.wheel;
    htw__mutex_lock(&lent->mutex);
    lent->is_wanted = !lent->is_lent; /* then the owner makes a copy */
    if (lent->is_lent)
        htw__wheel_copy_take(lent);
    sample->of.wheel = lent->stats;
    htw__mutex_unlock(&lent->mutex);
}

static void take(struct htw__sample *sample) {
    switch (sample->source->kind) {
    case HTW__SOURCE_SCHEDULER:
        sample->of.scheduler.stats.struct_size = sizeof(sample->of.scheduler.stats);
        sample->of.scheduler.histograms.struct_size = sizeof(sample->of.scheduler.histograms);
        sample->error =
            htw_scheduler_get_histograms(sample->source->of.scheduler, &sample->of.scheduler.stats,
                                         &sample->of.scheduler.histograms);
        break;
    case HTW__SOURCE_PURGATORY:
        sample->of.purgatory.struct_size = sizeof(sample->of.purgatory);
        sample->error =
            htw_purgatory_get_stats(sample->source->of.purgatory, &sample->of.purgatory);
        break;
    case HTW__SOURCE_JOURNAL:
        sample->of.journal = (struct htw_journal_stats)HTW_JOURNAL_STATS_INIT;
        sample->error = sample->source->of.journal.get_stats(sample->source->of.journal.journal,
                                                             &sample->of.journal);
        break;
    case HTW__SOURCE_WHEEL:
        take_wheel(sample);
        break;
    }
}

void htw__sources_visit(const struct htw_monitor *monitor, enum htw__source_kind kind,
                        htw__source_visitor *visit, void *context) {
    for (struct htw_monitor_source *source = monitor->sources;
         source != NULL && !htw__monitor_is_closing(monitor); source = source->next) {
        struct htw__sample sample = { .source = source };
        if (source->kind != kind)
            continue;
        take(&sample);
        visit(context, &sample);
    }
}
