/* SPDX-License-Identifier: MIT */
/* dump.c - draws a wheel in text. */
#ifndef HTW_FREESTANDING

#include "lists.h"

#include <errno.h>
#include <inttypes.h>

/* How many characters a level has: one for each bucket, or for each group of buckets. */
#define STRIP_WIDTH 64u

/* How many buckets of the delay queue are listed at most. */
#define LISTED_BUCKETS 8u

/* One to nine timers as a digit, then a letter for each power of ten: a for 10 to 99. */
static char load_mark(size_t timers) {
    if (timers == 0)
        return '.';
    if (timers < 10)
        return (char)('0' + timers);
    char mark = 'a';
    while ((timers /= 10) >= 10)
        mark++;
    return mark;
}

static void draw_level(const struct htw_wheel *wheel, unsigned level, FILE *stream) {
    uint32_t buckets = wheel->levels[level].buckets.count;
    uint32_t group = (buckets + STRIP_WIDTH - 1) / STRIP_WIDTH; /* both are powers of two */
    HTW_ASSERT(group > 0);
    uint32_t clock_slot = htw__wheel_slot(wheel, level, wheel->clock);
    char strip[STRIP_WIDTH + 1];
    size_t marks = 0;
    size_t pending = 0;
    for (uint32_t first = 0; first < buckets; first += group) {
        size_t timers = 0;
        for (uint32_t slot = first; slot < first + group; slot++)
            timers += htw__wheel_timers_in(wheel, level, slot, SIZE_MAX);
        strip[marks++] = load_mark(timers);
        pending += timers;
    }
    strip[marks] = '\0';
    fprintf(stream, "level %u: buckets of 2^%u ticks, pending %zu\n  |%s", level,
            wheel->levels[level].shift, pending, strip);
    fprintf(stream, "|\n  %*c clock, in bucket %" PRIu32 "\n", (int)(clock_slot / group) + 2, '^',
            clock_slot);
}

static void list_queue(const struct htw_wheel *wheel, FILE *stream) {
    uint32_t count = htw__delay_queue_count(&wheel->queue);
    fprintf(stream, "delay queue: %" PRIu32 " buckets%s\n", count,
            count > LISTED_BUCKETS ? ", the first of them:" : "");
    struct htw_wheel_bucket buckets[LISTED_BUCKETS];
    size_t listed = htw_wheel_first_buckets(wheel, buckets, LISTED_BUCKETS);
    for (size_t i = 0; i < listed; i++)
        fprintf(stream,
                "  tick %" PRIu64 ": level %" PRIu32 " bucket %" PRIu32 ", %" PRIu64 " timer%s\n",
                buckets[i].tick, buckets[i].level, buckets[i].number, buckets[i].timers,
                buckets[i].timers == 1 ? "" : "s");
}

int htw_wheel_dump(const struct htw_wheel *wheel, FILE *stream) {
    if (htw__wheel_is_null(wheel) || stream == NULL)
        return -EINVAL;
    fprintf(stream, "wheel: clock %" PRIu64 "%s, %" PRIu32 " buckets a level, %u of %u levels%s\n",
            wheel->clock, wheel->in_round ? " (in a round)" : "", wheel->mask + 1,
            wheel->level_count, wheel->level_max, wheel->strict_fifo ? ", strict FIFO" : "");
    fprintf(stream, "pending %zu: due %zu, never %zu\n", htw_wheel_count(wheel),
            htw__list_length(htw__list_of_ring(&wheel->due), SIZE_MAX) +
                htw__list_length(htw__list_of_ring(&wheel->next_round), SIZE_MAX),
            htw__list_length(htw__list_of_ring(&wheel->never), SIZE_MAX));
    fprintf(stream, "one character %s: . none, 1-9 timers, a: 10-99, b: 100-999, and so on\n",
            wheel->mask + 1 > STRIP_WIDTH ? "a group of buckets" : "a bucket");
    for (unsigned level = 0; level < wheel->level_count; level++)
        draw_level(wheel, level, stream);
    list_queue(wheel, stream);
    fprintf(stream,
            "scheduled %" PRIu64 ", moved %" PRIu64 ", cancelled %" PRIu64 ", expired %" PRIu64
            ", drained %" PRIu64 ", demoted %" PRIu64 ", clock advances %" PRIu64 "\n",
            htw__wheel_scheduled(wheel), wheel->moved_by_insertion + wheel->moved_in_place,
            wheel->cancelled, wheel->expired, wheel->drained, wheel->demoted, wheel->advances);
    return fflush(stream) != 0 || ferror(stream) ? -EIO : 0;
}

#endif /* HTW_FREESTANDING */
