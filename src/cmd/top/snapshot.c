/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - reads the answer of a monitor, which is JSON.
 *
 * Members that are missing count as 0, and members that are not known are left out: a monitor of another
 * version can be shown. What is shown as text has only letters that a terminal shows.
 */
#include "snapshot.h"

#include <htw/monitor.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1

/* Not more than any monitor has: drawing looks for each of them among those of the answer before. */
#define SOURCES_MAX HTW_MONITOR_SOURCES_MAX
#define SHARDS_MAX ((size_t)1024 * 1024) /* of all sources */

/*
 * What an answer takes as a tree is estimated before it becomes one: `{},` is three bytes, and 240 in memory. The
 * figures are those of jansson on 64 bits, rounded up. The greatest answer that a monitor makes is 4 MiB: were it
 * all shards, which take most, it would be 45 MiB.
 */
#define TREE_MAX ((size_t)64 * 1024 * 1024)
#define OBJECT_BYTES 256u
#define PLACES_BYTES 128u /* of an array; or of a member, its name included */
#define VALUE_BYTES 32u

static size_t bytes_for(char c) {
    switch (c) {
    case '{':
        return OBJECT_BYTES;
    case '[':
    case ':':
        return PLACES_BYTES;
    case ',':
        return VALUE_BYTES;
    default:
        return 0;
    }
}

/* What stands in strings counts, too: those of a monitor have names only. */
static bool is_tree_small(const char *bytes, size_t size) {
    size_t tree = 0;
    for (size_t i = 0; i < size && tree <= TREE_MAX; i++)
        tree += bytes_for(bytes[i]);
    return tree <= TREE_MAX;
}

static uint64_t number(const json_t *object, const char *name) {
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 ? (uint64_t)value : 0;
}

static void text(const json_t *object, const char *name, char *into, size_t size) {
    const char *value = json_string_value(json_object_get(object, name));
    snprintf(into, size, "%s", value == NULL ? "" : value);
    for (char *c = into; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void read_numbers(const json_t *array, uint64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        json_int_t value = json_integer_value(json_array_get(array, i));
        numbers[i] = value > 0 ? (uint64_t)value : 0;
    }
}

static void read_distribution(const json_t *object, struct htw__top_distribution *distribution) {
    distribution->count = number(object, "count");
    distribution->p50_ns = number(object, "p50_ns");
    distribution->p90_ns = number(object, "p90_ns");
    distribution->p99_ns = number(object, "p99_ns");
    distribution->p999_ns = number(object, "p999_ns");
    distribution->max_ns = number(object, "max_ns");
    read_numbers(json_object_get(object, "histogram"), distribution->histogram, HTW__TOP_BUCKETS);
}

static void read_level(const json_t *object, struct htw__top_level *level) {
    const json_t *timers = json_object_get(object, "timers");
    uint64_t counts[HTW__TOP_PARTS];
    size_t parts = json_array_size(timers);
    level->bucket_ns = number(object, "bucket_ns");
    level->buckets = (uint32_t)number(object, "buckets");
    level->parts = parts < HTW__TOP_PARTS ? (uint32_t)parts : HTW__TOP_PARTS;
    level->clock = level->parts == 0 ? 0 : (uint32_t)(number(object, "clock") % level->parts);
    read_numbers(timers, counts, HTW__TOP_PARTS);
    for (size_t i = 0; i < HTW__TOP_PARTS; i++)
        level->timers[i] = counts[i] < UINT32_MAX ? (uint32_t)counts[i] : UINT32_MAX;
}

static void read_levels(const json_t *array, struct htw__top_source *source) {
    size_t count = json_array_size(array);
    source->level_count = count < HTW__TOP_LEVELS ? (unsigned)count : HTW__TOP_LEVELS;
    for (unsigned i = 0; i < source->level_count; i++)
        read_level(json_array_get(array, i), &source->levels[i]);
}

/* Takes the shards of a source from those of the snapshot, of which `room` are left. */
static void read_shards(const json_t *array, struct htw__top_snapshot *snapshot, size_t room,
                        struct htw__top_source *source) {
    size_t count = json_array_size(array);
    source->shard_count = count < room ? count : room;
    source->shards = snapshot->shards + snapshot->shard_count;
    snapshot->shard_count += source->shard_count;
    for (size_t i = 0; i < source->shard_count; i++) {
        const json_t *object = json_array_get(array, i);
        source->shards[i] = (struct htw__top_shard) {
            .number = (uint32_t)i,
            .scheduled = number(object, "scheduled"),
            .cancelled = number(object, "cancelled"),
            .moved = number(object, "moved"),
            .in_wheels = number(object, "in_wheels"),
            .groups = number(object, "groups"),
            .memory = number(object, "memory_bytes"),
        };
    }
}

static void read_source(const json_t *object, enum htw__top_kind kind,
                        struct htw__top_source *source) {
    *source = (struct htw__top_source) {
        .kind = kind,
        .pending = number(object, "pending"),
        .memory = number(object, "memory_bytes"),
        .scheduled = number(object, "scheduled"),
        .fired = number(object, "fired"),
        .cancelled = number(object, "cancelled"),
        .moved = number(object, "moved"),
        .demoted = number(object, "demoted"),
        .runs = number(object, "runs"),
        .late = number(object, "late"),
        .missed = number(object, "missed"),
        .refused = number(object, "refused"),
        .running = number(object, "running"),
        .wakeups = number(object, "wakeups"),
        .empty_wakeups = number(object, "empty_wakeups"),
        .submitted = number(object, "submitted"),
        .completed = number(object, "completed"),
        .expired = number(object, "expired"),
        .closed = number(object, "closed"),
        .delayed = number(object, "delayed"),
        .watched = number(object, "watched"),
        .keys = number(object, "keys"),
        .alarms = number(object, "alarms"),
        .put = number(object, "put"),
        .done = number(object, "done"),
        .delivered = number(object, "delivered"),
        .replaced = number(object, "replaced"),
        .commits = number(object, "commits"),
        .failed = number(object, "failed"),
        .ready = number(object, "ready"),
        .leased = number(object, "leased"),
        .buried = number(object, "buried"),
        .kept = number(object, "kept"),
        .queues = number(object, "queues"),
        .requests = number(object, "requests"),
        .oldest_ns = number(object, "oldest_ns"),
        .stopped = number(object, "stopped"),
        .log = number(object, "log_bytes"),
        .age_ns = number(object, "age_ns"),
    };
    text(object, "name", source->name, sizeof(source->name));
    text(object, "error", source->error, sizeof(source->error));
    read_distribution(json_object_get(object, "lateness"), &source->lateness);
    read_distribution(json_object_get(object, "callback"), &source->callback);
    read_distribution(json_object_get(object, "commit"), &source->commit);
    read_distribution(json_object_get(object, "durable"), &source->durable);
    if (kind == HTW__TOP_JOURNAL)
        source->pending = source->delayed + source->ready + source->leased + source->buried;
    read_numbers(json_object_get(object, "waits"), source->waits, HTW__TOP_BUCKETS);
    read_levels(json_object_get(object, "levels"), source);
}

static bool read_sources(const json_t *root, struct htw__top_snapshot *snapshot) {
    static const char *const names[] = {
        [HTW__TOP_SCHEDULER] = "schedulers",
        [HTW__TOP_PURGATORY] = "purgatories",
        [HTW__TOP_JOURNAL] = "journals",
        [HTW__TOP_WHEEL] = "wheels",
    };
    enum { KINDS = sizeof(names) / sizeof(names[0]) };
    size_t sources = 0, shards = 0, i;
    for (int kind = 0; kind < KINDS; kind++) {
        const json_t *array = json_object_get(root, names[kind]);
        sources += json_array_size(array);
        for (i = 0; i < json_array_size(array); i++)
            shards += json_array_size(json_object_get(json_array_get(array, i), "shards"));
    }
    sources = sources < SOURCES_MAX ? sources : SOURCES_MAX;
    shards = shards < SHARDS_MAX ? shards : SHARDS_MAX;
    snapshot->sources = calloc(sources + 1, sizeof(*snapshot->sources));
    snapshot->shards = calloc(shards + 1, sizeof(*snapshot->shards));
    if (snapshot->sources == NULL || snapshot->shards == NULL)
        return false;
    for (int kind = 0; kind < KINDS; kind++) {
        const json_t *array = json_object_get(root, names[kind]);
        for (i = 0; i < json_array_size(array) && snapshot->source_count < sources; i++) {
            struct htw__top_source *source = &snapshot->sources[snapshot->source_count++];
            const json_t *object = json_array_get(array, i);
            read_source(object, (enum htw__top_kind)kind, source);
            read_shards(json_object_get(object, "shards"), snapshot, shards - snapshot->shard_count,
                        source);
        }
    }
    return true;
}

static const char *read_root(const json_t *root, struct htw__top_snapshot *snapshot) {
    if (!json_is_object(root) || number(root, "format") == 0)
        return "the answer is not that of a monitor";
    if (number(root, "format") != FORMAT)
        return "the monitor is of a newer version than htw top";
    text(root, "htw", snapshot->version, sizeof(snapshot->version));
    text(root, "program", snapshot->program, sizeof(snapshot->program));
    snapshot->pid = (int64_t)number(root, "pid");
    snapshot->wall_ns = (int64_t)number(root, "wall_ns");
    snapshot->clock_ns = (int64_t)number(root, "clock_ns");
    snapshot->opened_ns = (int64_t)number(root, "opened_ns");
    return read_sources(root, snapshot) ? NULL : "no memory for the answer";
}

const char *htw__top_snapshot_read(const char *bytes, size_t size,
                                   struct htw__top_snapshot *snapshot) {
    *snapshot = (struct htw__top_snapshot) { 0 };
    if (!is_tree_small(bytes, size))
        return "the answer is greater than that of any monitor";
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (root == NULL)
        return "the answer is not that of a monitor";
    const char *why = read_root(root, snapshot);
    json_decref(root);
    if (why != NULL)
        htw__top_snapshot_free(snapshot);
    return why;
}

void htw__top_snapshot_free(struct htw__top_snapshot *snapshot) {
    free(snapshot->shards);
    free(snapshot->sources);
    *snapshot = (struct htw__top_snapshot) { 0 };
}

const struct htw__top_source *htw__top_snapshot_find(const struct htw__top_snapshot *snapshot,
                                                     const struct htw__top_source *like) {
    for (size_t i = 0; i < snapshot->source_count; i++) {
        const struct htw__top_source *source = &snapshot->sources[i];
        if (source->kind == like->kind && strcmp(source->name, like->name) == 0)
            return source;
    }
    return NULL;
}
