/* SPDX-License-Identifier: MIT */
/*
 * json.c - writes samples as JSON, on one line.
 *
 * All numbers are whole and fit an int64_t: what a locale does to others, and what readers make of
 * them, does not matter.
 * Names have no character that JSON would escape.
 */
#include "json.h"

#include "../base/clock.h"
#include "detail.h"
#include "observe.h"
#include "wheel_copy.h"

#include <errno.h>
#include <inttypes.h>
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

static const struct htw__field distribution_fields[] = {
#define DISTRIBUTION(member) HTW__FIELD(struct htw_distribution, NULL, member, NULL)
    DISTRIBUTION(count),  DISTRIBUTION(sum_ns),  DISTRIBUTION(p50_ns), DISTRIBUTION(p90_ns),
    DISTRIBUTION(p99_ns), DISTRIBUTION(p999_ns), DISTRIBUTION(max_ns), HTW__FIELDS_END,
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

/* `bucket_ns` is 0 where the length of a tick is unknown. */
static void begin_level(unsigned number, int64_t bucket_ns, uint32_t buckets, uint32_t clock_part,
                        struct htw__answer_text *text) {
    htw__text_add(text,
                  "%s{\"bucket_ns\":%" PRId64 ",\"buckets\":%" PRIu32 ",\"clock\":%" PRIu32
                  ",\"timers\":[",
                  number == 0 ? "" : ",", bucket_ns, buckets, clock_part);
}

static void write_level(unsigned number, const struct htw_scheduler_level *level,
                        struct htw__answer_text *text) {
    begin_level(number, level->bucket_ns, level->buckets, level->clock_part, text);
    for (uint32_t part = 0; part < level->parts; part++)
        htw__text_add(text, "%s%" PRIu32, part == 0 ? "" : ",", level->timers[part]);
    htw__text_add(text, "]}");
}

static void write_levels(struct htw_scheduler *scheduler, struct htw__answer_text *text) {
    int count = 1;
    htw__text_add(text, ",\"levels\":[");
    for (unsigned number = 0; (int)number < count && number < HTW__LEVELS_SHOWN; number++) {
        struct htw_scheduler_level level = HTW_SCHEDULER_LEVEL_INIT;
        count = htw_scheduler_get_level(scheduler, number, &level);
        if (count > 0)
            write_level(number, &level, text);
    }
    htw__text_add(text, "]");
}

static int64_t bucket_ns(const struct htw__lent_wheel *lent, unsigned shift) {
    int64_t ns;
    return __builtin_mul_overflow(lent->tick_ns, (uint64_t)1 << shift, &ns) ? HTW_NEVER_NS : ns;
}

static void write_lent(struct htw__lent_wheel *lent, struct htw__answer_text *text) {
    htw__mutex_lock(&lent->mutex);
    htw__text_add(
        text, ",\"tick_ns\":%" PRId64 ",\"clock\":%" PRIu64 ",\"age_ns\":%" PRId64 ",\"levels\":[",
        lent->tick_ns, lent->clock < INT64_MAX ? lent->clock : INT64_MAX,
        htw__clock_monotonic_ns() - lent->copied_ns);
    for (unsigned number = 0; number < htw__wheel_copy_levels(lent); number++) {
        unsigned shift = number * (unsigned)__builtin_ctz(lent->stats.size);
        uint32_t buckets = lent->buckets[number];
        uint32_t parts = htw__wheel_copy_parts(lent, number);
        uint32_t slot = (uint32_t)(lent->clock >> shift) & (buckets - 1);
        begin_level(number, bucket_ns(lent, shift), buckets, slot / (buckets / parts), text);
        for (uint32_t part = 0; part < parts; part++)
            htw__text_add(text, "%s%u", part == 0 ? "" : ",", lent->timers[number][part]);
        htw__text_add(text, "]}");
    }
    htw__text_add(text, "]");
    htw__mutex_unlock(&lent->mutex);
}

/* ---- shards */

static const struct htw__field shard_fields[] = {
#define SHARD(member) HTW__FIELD(struct htw_scheduler_shard, NULL, member, NULL)
    SHARD(scheduled), SHARD(cancelled), SHARD(moved),        SHARD(demoted),
    SHARD(in_wheels), SHARD(groups),    SHARD(memory_bytes), HTW__FIELDS_END,
};

static void write_shards(struct htw_scheduler *scheduler, struct htw__answer_text *text) {
    int count = 1;
    htw__text_add(text, ",\"shards\":[");
    for (uint32_t i = 0; (int)i < count; i++) {
        struct htw_scheduler_shard shard = HTW_SCHEDULER_SHARD_INIT;
        count = htw_scheduler_get_shard(scheduler, i, &shard);
        if (count <= 0)
            continue;
        htw__text_separate(text);
        htw__text_add(text, "{");
        htw__fields_write(shard_fields, &shard, text);
        htw__text_add(text, "}");
    }
    htw__text_add(text, "]");
}

/* ---- all of it */

struct writer {
    struct htw__answer_text *text;
    uint32_t sources; /* in all */
    bool has_detail;
};

static void write_numbers_of(const struct htw__sample *sample, struct htw__answer_text *text) {
    struct htw_monitor_source *source = sample->source;
    htw__fields_write(htw__fields(source->kind), &sample->of, text);
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
    htw__text_add(self->text, "{\"name\":\"%s\"", sample->name);
    if (sample->error != 0) {
        htw__text_add(self->text, ",\"error\":\"%s\"}", htw_strerror(sample->error));
        return;
    }
    write_numbers_of(sample, self->text);
    if (self->has_detail)
        htw__detail_write(sample, self->sources, self->text);
    htw__text_add(self->text, "}");
}

static void write_kind(struct writer *self, const struct htw__sources *sources,
                       enum htw__source_kind kind, const char *name) {
    htw__text_add(self->text, ",\"%s\":[", name);
    htw__sources_visit(sources, kind, write_source, self);
    htw__text_add(self->text, "]");
}

/* The name of the program, of characters that need no escape. */
static void write_program(struct htw__answer_text *text) {
    const char *name = program_invocation_short_name;
    for (unsigned i = 0; i < HTW_MONITOR_NAME_MAX && name[i] != '\0'; i++) {
        char c = name[i];
        htw__text_add(text, "%c", c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c);
    }
}

void htw__json_write_head(struct htw_monitor *monitor, struct htw__answer_text *text) {
    htw__text_add(text, "{\"htw\":\"%s\",\"format\":%d,\"pid\":%ld,\"program\":\"", htw_version(),
                  FORMAT, (long)getpid());
    write_program(text);
    htw__text_add(text,
                  "\",\"uid\":%lu,\"wall_ns\":%" PRId64 ",\"clock_ns\":%" PRId64
                  ",\"opened_ns\":%" PRId64,
                  (unsigned long)geteuid(), htw__clock_realtime_ns(), htw__clock_monotonic_ns(),
                  monitor->opened_ns);
}

static void write_all(struct htw_monitor *monitor, bool has_detail, struct htw__answer_text *text) {
    struct htw__sources sources = htw__sources_now(monitor);
    struct writer self = { text, sources.count, has_detail };
    htw__json_write_head(monitor, text);
    write_kind(&self, &sources, HTW__SOURCE_SCHEDULER, "schedulers");
    write_kind(&self, &sources, HTW__SOURCE_PURGATORY, "purgatories");
    write_kind(&self, &sources, HTW__SOURCE_JOURNAL, "journals");
    write_kind(&self, &sources, HTW__SOURCE_WHEEL, "wheels");
    htw__text_add(text, "}\n");
}

void htw__json_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    write_all(monitor, false, text);
}

void htw__json_write_detail(struct htw_monitor *monitor, struct htw__answer_text *text) {
    write_all(monitor, true, text);
}
