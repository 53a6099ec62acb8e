/* SPDX-License-Identifier: MIT */
/*
 * json.c - writes samples as JSON, on one line.
 *
 * All numbers are whole and fit an int64_t: what a locale does to others, and what readers make of
 * them, does not matter.
 * Names have no character that JSON would escape.
 */
#include "../base/clock.h"
#include "lists.h"
#include "origin.h"
#include "writers.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* For readers: it changes when they would misunderstand. */
#define FORMAT 1

static void write_numbers(const char *name, const uint64_t *numbers, size_t count,
                          struct htw__answer_text *text) {
    htw__text_add(text, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        htw__text_add(text, "%s%" PRIu64, i == 0 ? "" : ",", numbers[i]);
    htw__text_add(text, "]");
}

static const struct htw__metric distribution_fields[] = {
#define DISTRIBUTION(member) HTW__METRIC(struct htw_distribution, NULL, member, NULL)
    DISTRIBUTION(count),  DISTRIBUTION(sum_ns),  DISTRIBUTION(p50_ns), DISTRIBUTION(p90_ns),
    DISTRIBUTION(p99_ns), DISTRIBUTION(p999_ns), DISTRIBUTION(max_ns), HTW__METRICS_END,
};

/* `histogram` NULL: none is known. */
static void write_distribution(const char *name, const struct htw_distribution *distribution,
                               const uint64_t *histogram, struct htw__answer_text *text) {
    htw__text_add(text, ",\"%s\":{", name);
    htw__fields_write(distribution_fields, distribution, text);
    if (histogram != NULL)
        write_numbers("histogram", histogram, HTW_SCHEDULER_HISTOGRAM_BUCKETS, text);
    htw__text_add(text, "}");
}

/* ---- levels */

static void write_level(const struct htw_scheduler_level *level, struct htw__answer_text *text) {
    htw__text_separate(text);
    htw__text_add(text,
                  "{\"bucket_ns\":%" PRId64 ",\"buckets\":%" PRIu32 ",\"clock\":%" PRIu32
                  ",\"timers\":[",
                  level->bucket_ns, level->buckets, level->clock_part);
    for (uint32_t part = 0; part < level->parts; part++)
        htw__text_add(text, "%s%" PRIu32, part == 0 ? "" : ",", level->timers[part]);
    htw__text_add(text, "]}");
}

static void write_visited_level(void *context, const union htw_visited *visited) {
    write_level(&visited->level, context);
}

static void write_levels(struct htw_scheduler *scheduler, struct htw__answer_text *text) {
    htw__text_add(text, ",\"levels\":[");
    (void)htw_scheduler_visit(scheduler, HTW_VISIT_LEVELS, HTW__LEVELS_SHOWN, write_visited_level,
                              text);
    htw__text_add(text, "]");
}

static void write_lent(struct htw__lent_wheel *lent, struct htw__answer_text *text) {
    htw__mutex_lock(&lent->mutex);
    htw__text_add(
        text, ",\"tick_ns\":%" PRId64 ",\"clock\":%" PRIu64 ",\"age_ns\":%" PRId64 ",\"levels\":[",
        lent->tick_ns, lent->clock < INT64_MAX ? lent->clock : INT64_MAX,
        htw__clock_monotonic_ns() - lent->copied_ns);
    for (unsigned number = 0; number < lent->level_count; number++)
        write_level(&lent->levels[number], text);
    htw__text_add(text, "]");
    htw__mutex_unlock(&lent->mutex);
}

/* ---- shards */

static const struct htw__metric shard_fields[] = {
#define SHARD(member) HTW__METRIC(struct htw_scheduler_shard, NULL, member, NULL)
    SHARD(scheduled), SHARD(cancelled), SHARD(moved),        SHARD(demoted),
    SHARD(in_wheels), SHARD(groups),    SHARD(memory_bytes), HTW__METRICS_END,
};

static void write_shard(void *context, const union htw_visited *visited) {
    struct htw__answer_text *text = context;
    htw__text_separate(text);
    htw__text_add(text, "{");
    htw__fields_write(shard_fields, &visited->shard, text);
    htw__text_add(text, "}");
}

static void write_shards(struct htw_scheduler *scheduler, struct htw__answer_text *text) {
    htw__text_add(text, ",\"shards\":[");
    (void)htw_scheduler_visit(scheduler, HTW_VISIT_SHARDS, 0, write_shard, text);
    htw__text_add(text, "]");
}

/* ---- what takes longer to find: lists, wake-ups and herds */

static void write_list(const struct htw__list_kind *kind, const struct htw_monitor_source *source,
                       unsigned sources, struct htw__answer_text *text) {
    struct htw__row_list list;
    htw__list_take(&list, kind, source, sources, text);
    if (list.rows != NULL)
        htw__list_write(&list);
    htw__list_release(&list);
}

static void write_instant(struct htw__answer_text *text, const char *member, int64_t ns,
                          uint64_t timers, const struct htw__origin *origin) {
    htw__text_separate(text);
    htw__text_add(text, "{\"%s\":%" PRId64 ",\"timers\":%" PRIu64 ",", member, ns, timers);
    htw__origin_write(origin, text);
    htw__text_add(text, "}");
}

static void write_wakeup(void *context, const union htw_visited *visited) {
    const struct htw_wakeup *wakeup = &visited->wakeup;
    struct htw__origin origin;
    htw__origin_take(&origin, &wakeup->origin);
    write_instant(context, "left_ns", wakeup->left_ns, wakeup->timers, &origin);
}

static void write_herd(void *context, const union htw_visited *visited) {
    const struct htw_herd *herd = &visited->herd;
    struct htw__origin origin;
    htw__origin_take(&origin, &herd->origin);
    write_instant(context, "ago_ns", herd->ago_ns, herd->timers, &origin);
}

static void write_detail(const struct htw_monitor_source *source, unsigned sources,
                         struct htw__answer_text *text) {
    if (source->kind == HTW__SOURCE_SCHEDULER) {
        write_list(&htw__list_sites, source, sources, text);
        htw__text_add(text, ",\"next_wakeups\":[");
        text->has_failed |= htw_scheduler_visit(source->of.scheduler, HTW_VISIT_WAKEUPS, 0,
                                                write_wakeup, text) != 0;
        htw__text_add(text, "],\"herds\":[");
        text->has_failed |=
            htw_scheduler_visit(source->of.scheduler, HTW_VISIT_HERDS, 0, write_herd, text) != 0;
        htw__text_add(text, "]");
        write_list(&htw__list_groups, source, sources, text);
    } else if (source->kind == HTW__SOURCE_JOURNAL) {
        write_list(&htw__list_queues, source, sources, text);
    }
}

/* ---- all of it */

struct writer {
    struct htw__answer_text *text;
    uint32_t sources; /* in all */
    bool has_detail;
};

static void write_numbers_of(const struct htw__sample *sample, struct htw__answer_text *text) {
    struct htw_monitor_source *source = sample->source;
    htw__fields_write(htw__kinds[source->kind].fields, &sample->of, text);
    switch (source->kind) {
    case HTW__SOURCE_SCHEDULER:
        write_distribution("lateness", &sample->of.scheduler.stats.lateness,
                           sample->of.scheduler.histograms.lateness, text);
        write_distribution("callback", &sample->of.scheduler.stats.callback,
                           sample->of.scheduler.histograms.callback, text);
        write_levels(source->of.scheduler, text);
        write_shards(source->of.scheduler, text);
        htw__text_add(text, ",\"observed\":");
        htw__observed_write(htw_scheduler_observed(source->of.scheduler), text);
        break;
    case HTW__SOURCE_PURGATORY:
        write_numbers("waits", sample->of.purgatory.waits, HTW_PURGATORY_WAIT_BUCKETS, text);
        break;
    case HTW__SOURCE_JOURNAL:
        write_distribution("commit", &sample->of.journal.commit, NULL, text);
        write_distribution("durable", &sample->of.journal.durable, NULL, text);
        write_distribution("lateness", &sample->of.journal.lateness, NULL, text);
        break;
    case HTW__SOURCE_WHEEL:
        write_lent(source->of.wheel, text);
        break;
    }
}

static void write_source(void *context, const struct htw__sample *sample) {
    const struct writer *self = context;
    htw__text_separate(self->text);
    htw__text_add(self->text, "{\"name\":\"%s\"", sample->source->name);
    if (sample->error != 0) {
        htw__text_add(self->text, ",\"error\":\"%s\"}", htw_strerror(sample->error));
        return;
    }
    write_numbers_of(sample, self->text);
    if (self->has_detail)
        write_detail(sample->source, self->sources, self->text);
    htw__text_add(self->text, "}");
}

void htw__json_write_head(struct htw_monitor *monitor, struct htw__answer_text *text) {
    htw__text_add(text, "{\"htw\":\"%s\",\"format\":%d,\"pid\":%ld,\"program\":\"", htw_version(),
                  FORMAT, (long)getpid());
    htw__text_add_escaped(text, program_invocation_short_name);
    htw__text_add(text,
                  "\",\"uid\":%lu,\"wall_ns\":%" PRId64 ",\"clock_ns\":%" PRId64
                  ",\"opened_ns\":%" PRId64,
                  (unsigned long)geteuid(), htw__clock_realtime_ns(), htw__clock_monotonic_ns(),
                  monitor->opened_ns);
}

/* Which numbers of sources count what has happened; the others are of now. */
static void write_counters(struct htw__answer_text *text) {
    htw__text_add(text, ",\"counters\":[");
    for (unsigned kind = 0; kind < HTW__SOURCE_KINDS; kind++)
        for (const struct htw__metric *field = htw__kinds[kind].fields; field->member != NULL;
             field++)
            if (field->name == NULL || strstr(field->name, "_total") != NULL) {
                htw__text_separate(text);
                htw__text_add(text, "\"%s\"", field->member);
            }
    htw__text_add(text, "]");
}

static void write_all(struct htw_monitor *monitor, bool has_detail, struct htw__answer_text *text) {
    struct writer self = { text, monitor->source_count, has_detail };
    htw__json_write_head(monitor, text);
    write_counters(text);
    for (unsigned kind = 0; kind < HTW__SOURCE_KINDS; kind++) {
        htw__text_add(text, ",\"%s\":[", htw__kinds[kind].list);
        htw__sources_visit(monitor, (enum htw__source_kind)kind, write_source, &self);
        htw__text_add(text, "]");
    }
    htw__text_add(text, "}\n");
}

void htw__json_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    write_all(monitor, false, text);
}

void htw__json_write_detail(struct htw_monitor *monitor, struct htw__answer_text *text) {
    write_all(monitor, true, text);
}
