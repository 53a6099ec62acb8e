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
#define ROWS_MAX ((size_t)8192)          /* likewise */

/*
 * What an answer takes as a tree is estimated before it becomes one: `{},` is three bytes, and 240 in memory. The
 * figures are those of jansson on 64 bits, rounded up. 4 MiB of shards, which take most, are 45 MiB: a monitor
 * of tens of thousands of shards is not shown.
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

static void read_numbers(const json_t *array, uint64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        json_int_t value = json_integer_value(json_array_get(array, i));
        numbers[i] = value > 0 ? (uint64_t)value : 0;
    }
}

static void read_distribution(const json_t *object, struct htw__top_distribution *distribution) {
#define M(name) HTW__TOP_MEMBER(struct htw__top_distribution, name)
    static const struct htw__top_member members[] = { M(count),  M(p50_ns),  M(p90_ns),
                                                      M(p99_ns), M(p999_ns), M(max_ns) };
#undef M
    htw__top_numbers_read(object, members, sizeof(members) / sizeof(members[0]), distribution);
    read_numbers(json_object_get(object, "histogram"), distribution->histogram, HTW__TOP_BUCKETS);
}

static void read_level(const json_t *object, struct htw__top_level *level) {
    const json_t *timers = json_object_get(object, "timers");
    uint64_t counts[HTW__TOP_PARTS];
    size_t parts = json_array_size(timers);
    level->bucket_ns = htw__top_number(object, "bucket_ns");
    level->buckets = (uint32_t)htw__top_number(object, "buckets");
    level->parts = parts < HTW__TOP_PARTS ? (uint32_t)parts : HTW__TOP_PARTS;
    level->clock =
        level->parts == 0 ? 0 : (uint32_t)(htw__top_number(object, "clock") % level->parts);
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
#define M(name) HTW__TOP_MEMBER(struct htw__top_shard, name)
    static const struct htw__top_member members[] = { M(scheduled), M(cancelled), M(moved),
                                                      M(in_wheels), M(groups),    M(memory_bytes) };
#undef M
    size_t count = json_array_size(array);
    source->shard_count = count < room ? count : room;
    source->shards = snapshot->shards + snapshot->shard_count;
    snapshot->shard_count += source->shard_count;
    for (size_t i = 0; i < source->shard_count; i++) {
        source->shards[i].number = (uint32_t)i;
        htw__top_numbers_read(json_array_get(array, i), members,
                              sizeof(members) / sizeof(members[0]), &source->shards[i]);
    }
}

/* The words, with blanks between them. */
static void read_observed(const json_t *array, struct htw__top_source *source) {
    size_t size = 0;
    source->tells_observed = json_is_array(array);
    for (size_t i = 0; i < json_array_size(array) && size < sizeof(source->observed); i++) {
        const char *word = json_string_value(json_array_get(array, i));
        source->counts_sites |= word != NULL && strcmp(word, "sites") == 0;
        size += (size_t)snprintf(source->observed + size, sizeof(source->observed) - size, "%s%s",
                                 size > 0 ? " " : "", word != NULL ? word : "");
    }
    htw__top_clean(source->observed);
}

static void read_source(const json_t *object, enum htw__top_kind kind,
                        struct htw__top_source *source) {
#define M(name) HTW__TOP_MEMBER(struct htw__top_source, name)
    static const struct htw__top_member members[] = {
        M(pending),   M(memory_bytes),  M(scheduled), M(fired),     M(cancelled), M(moved),
        M(demoted),   M(runs),          M(late),      M(missed),    M(refused),   M(running),
        M(wakeups),   M(empty_wakeups), M(submitted), M(completed), M(expired),   M(closed),
        M(delayed),   M(watched),       M(keys),      M(alarms),    M(put),       M(done),
        M(delivered), M(replaced),      M(commits),   M(failed),    M(ready),     M(leased),
        M(buried),    M(kept),          M(queues),    M(requests),  M(oldest_ns), M(stopped),
        M(log_bytes), M(age_ns)
    };
#undef M
    *source = (struct htw__top_source) { .kind = kind };
    htw__top_numbers_read(object, members, sizeof(members) / sizeof(members[0]), source);
    htw__top_text(object, "name", source->name, sizeof(source->name));
    htw__top_text(object, "error", source->error, sizeof(source->error));
    read_distribution(json_object_get(object, "lateness"), &source->lateness);
    read_distribution(json_object_get(object, "callback"), &source->callback);
    read_distribution(json_object_get(object, "commit"), &source->commit);
    read_distribution(json_object_get(object, "durable"), &source->durable);
    if (kind == HTW__TOP_JOURNAL)
        source->pending = source->delayed + source->ready + source->leased + source->buried;
    read_numbers(json_object_get(object, "waits"), source->waits, HTW__TOP_BUCKETS);
    read_levels(json_object_get(object, "levels"), source);
    read_observed(json_object_get(object, "observed"), source);
}

/* Takes the rows of a source from those of the snapshot, of which `room` are left. */
static void read_rows(const json_t *object, struct htw__top_snapshot *snapshot, size_t room,
                      struct htw__top_source *source) {
    for (int list = 0; list < HTW__TOP_LISTS; list++) {
        struct htw__top_rows *rows = &source->lists[list];
        rows->of = snapshot->rows + snapshot->row_count;
        rows->count = htw__top_rows_read(object, (enum htw__top_list)list, rows->of, room);
        snapshot->row_count += rows->count;
        room -= rows->count;
    }
}

static size_t count_rows(const json_t *object) {
    size_t count = 0;
    for (int list = 0; list < HTW__TOP_LISTS; list++)
        count += htw__top_rows_count(object, (enum htw__top_list)list);
    return count;
}

static bool read_sources(const json_t *root, struct htw__top_snapshot *snapshot) {
    static const char *const names[] = {
        [HTW__TOP_SCHEDULER] = "schedulers",
        [HTW__TOP_PURGATORY] = "purgatories",
        [HTW__TOP_JOURNAL] = "journals",
        [HTW__TOP_WHEEL] = "wheels",
    };
    enum { KINDS = sizeof(names) / sizeof(names[0]) };
    size_t sources = 0, shards = 0, rows = 0, i;
    for (int kind = 0; kind < KINDS; kind++) {
        const json_t *array = json_object_get(root, names[kind]);
        sources += json_array_size(array);
        for (i = 0; i < json_array_size(array); i++) {
            shards += json_array_size(json_object_get(json_array_get(array, i), "shards"));
            rows += count_rows(json_array_get(array, i));
        }
    }
    sources = sources < SOURCES_MAX ? sources : SOURCES_MAX;
    shards = shards < SHARDS_MAX ? shards : SHARDS_MAX;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    snapshot->sources = calloc(sources + 1, sizeof(*snapshot->sources));
    snapshot->shards = calloc(shards + 1, sizeof(*snapshot->shards));
    snapshot->rows = calloc(rows + 1, sizeof(*snapshot->rows));
    if (snapshot->sources == NULL || snapshot->shards == NULL || snapshot->rows == NULL)
        return false;
    for (int kind = 0; kind < KINDS; kind++) {
        const json_t *array = json_object_get(root, names[kind]);
        for (i = 0; i < json_array_size(array) && snapshot->source_count < sources; i++) {
            struct htw__top_source *source = &snapshot->sources[snapshot->source_count++];
            const json_t *object = json_array_get(array, i);
            read_source(object, (enum htw__top_kind)kind, source);
            read_shards(json_object_get(object, "shards"), snapshot, shards - snapshot->shard_count,
                        source);
            read_rows(object, snapshot, rows - snapshot->row_count, source);
        }
    }
    return true;
}

static const char *read_root(const json_t *root, struct htw__top_snapshot *snapshot) {
    if (!json_is_object(root) || htw__top_number(root, "format") == 0)
        return "the answer is not that of a monitor";
    if (htw__top_number(root, "format") != FORMAT)
        return "the monitor is of a newer version than htw top";
    htw__top_text(root, "htw", snapshot->version, sizeof(snapshot->version));
    htw__top_text(root, "program", snapshot->program, sizeof(snapshot->program));
    snapshot->pid = (int64_t)htw__top_number(root, "pid");
    snapshot->wall_ns = (int64_t)htw__top_number(root, "wall_ns");
    snapshot->clock_ns = (int64_t)htw__top_number(root, "clock_ns");
    snapshot->opened_ns = (int64_t)htw__top_number(root, "opened_ns");
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
    free(snapshot->rows);
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
