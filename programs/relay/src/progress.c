/* SPDX-License-Identifier: MIT */
/* progress.c - writes and reads the metadata of offsets. */
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first word of each text: what it is, and its version. That of the stripe is the version of all that a relay leaves in
 * Kafka: it changes with anything there that another version would take for something else. */
#define BUCKET_WORD "htw-bucket-1"
#define STRIPE_WORD "htw-stripe-2"

#define NUMBERS_MAX 7

/* No bucket of level 0 ends later. */
#define END_MAX (INT64_C(1) << 54)

bool htw__progress_covers(const struct htw__relay_progress *progress, int64_t deadline_ms,
                          int64_t offset) {
    if (offset >= progress->read_end)
        return false;
    return deadline_ms < progress->deadline_ms ||
           (deadline_ms == progress->deadline_ms && offset <= progress->offset);
}

/* Reads the word and `count` numbers, each after one blank, none negative. Returns what follows them, or
 * NULL. */
static const char *parse(struct htw__bytes text, const char *word, int64_t *numbers, size_t count) {
    const char *at = text.bytes, *end = at + text.size;
    size_t length = strlen(word);
    if (text.size < length || memcmp(at, word, length) != 0)
        return NULL;
    at += length;
    for (size_t i = 0; i < count; i++) {
        if (end - at < 2 || at[0] != ' ')
            return NULL;
        const char *first = ++at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        if (!htw__bytes_number((struct htw__bytes) { first, (size_t)(at - first) }, INT64_MAX,
                               &numbers[i]))
            return NULL;
    }
    return at;
}

void htw__progress_format(const struct htw__relay_progress *progress,
                          char text[HTW__PROGRESS_TEXT_SIZE]) {
    snprintf(text, HTW__PROGRESS_TEXT_SIZE,
             BUCKET_WORD " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, progress->read_end,
             progress->deadline_ms, progress->offset, progress->end_ms);
}

static const char *end_of(struct htw__bytes text) {
    return (const char *)text.bytes + text.size;
}

int htw__progress_parse(struct htw__bytes text, int64_t position,
                        struct htw__relay_progress *ret_progress) {
    int64_t numbers[NUMBERS_MAX];
    *ret_progress = HTW__PROGRESS_NONE(position);
    if (text.bytes == NULL || text.size == 0)
        return 0;
    if (parse(text, BUCKET_WORD, numbers, 4) != end_of(text) || numbers[0] < position ||
        numbers[1] > HTW__RELAY_DEADLINE_MAX || numbers[3] > END_MAX)
        return -EINVAL;
    *ret_progress = (struct htw__relay_progress) { numbers[0], numbers[1], numbers[2], numbers[3] };
    return 0;
}

void htw__clock_format(const struct htw__relay_clock *clock, char text[HTW__PROGRESS_TEXT_SIZE]) {
    const struct htw__levels *levels = &clock->levels;
    const struct htw__ids_log *ids = &clock->ids;
    snprintf(text, HTW__PROGRESS_TEXT_SIZE,
             STRIPE_WORD " %" PRId64 " %u %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "%s%.*s",
             levels->width_ms, levels->size, levels->count, clock->time_ms, ids->start, ids->end,
             ids->since, clock->owner.size > 0 ? " " : "", (int)clock->owner.size,
             clock->owner.size > 0 ? (const char *)clock->owner.bytes : "");
}

int htw__clock_parse(struct htw__bytes text, struct htw__relay_clock *ret_clock) {
    int64_t numbers[NUMBERS_MAX];
    struct htw__bytes owner = { NULL, 0 };
    if (text.bytes == NULL || text.size == 0)
        return -ENOENT;
    const char *rest = parse(text, STRIPE_WORD, numbers, NUMBERS_MAX);
    if (rest == NULL || numbers[1] > HTW__RELAY_SIZE_MAX || numbers[2] > HTW__RELAY_LEVELS_MAX ||
        numbers[3] > HTW__RELAY_DEADLINE_MAX || numbers[4] > numbers[5])
        return -EINVAL;
    if (rest < end_of(text)) {
        owner = (struct htw__bytes) { rest + 1, (size_t)(end_of(text) - rest) - 1 };
        if (*rest != ' ' || !htw__bytes_are_name(owner, HTW__RELAY_OWNER_MAX))
            return -EINVAL;
    }
    struct htw__levels levels = { numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2] };
    if (!htw__levels_are_valid(&levels) || numbers[3] % levels.width_ms != 0)
        return -EINVAL;
    *ret_clock = (struct htw__relay_clock) {
        levels, numbers[3], { numbers[4], numbers[5], numbers[6] }, owner
    };
    return 0;
}
