/* SPDX-License-Identifier: MIT */
/*
 * fuzz_progress.c - what the relay reads beside its offsets, which others may write; and the places that
 * a clock which was read gives.
 *
 * The input is the position of the offset, and the text.
 */
#include "fuzz.h"

#include "../../programs/relay/src/progress.h"

#include <errno.h>

static void check_progress(struct htw__bytes text, int64_t position) {
    struct htw__relay_progress progress, again;
    char written[HTW__PROGRESS_TEXT_SIZE];
    int error = htw__progress_parse(text, position, &progress);
    if (error != 0) {
        FUZZ_CHECK(error == -EINVAL);
        return;
    }
    FUZZ_CHECK(progress.read_end >= position);
    FUZZ_CHECK(progress.deadline_ms <= HTW__RELAY_DEADLINE_MAX);
    if (progress.deadline_ms < 0) { /* none, which is not written */
        FUZZ_CHECK(text.size == 0);
        return;
    }
    htw__progress_format(&progress, written);
    FUZZ_CHECK(strlen(written) < sizeof(written) - 1);
    FUZZ_CHECK(htw__progress_parse(htw__bytes_of(written), position, &again) == 0);
    FUZZ_CHECK(again.read_end == progress.read_end && again.deadline_ms == progress.deadline_ms &&
               again.offset == progress.offset && again.end_ms == progress.end_ms);
}

/* Each moment has a place, in a slot that there is, which is not passed before it is due. */
static void check_places(const struct htw__relay_clock *clock, int64_t deadline_ms) {
    const struct htw__levels *levels = &clock->levels;
    struct htw__relay_place place = htw__levels_place(levels, clock->time_ms, deadline_ms);
    FUZZ_CHECK(place.level < levels->count);
    uint32_t slot = htw__levels_slot(levels, place.number);
    FUZZ_CHECK(slot < levels->size);
    FUZZ_CHECK(htw__levels_turn(levels, place.level, slot, clock->time_ms) == place.number);
    FUZZ_CHECK(htw__levels_limit(levels, place) >= clock->time_ms);
    if (place.level > 0)
        FUZZ_CHECK(htw__levels_demotion(levels, place) <= htw__levels_limit(levels, place));
}

static void check_clock(struct htw__bytes text, int64_t position) {
    struct htw__relay_clock clock, again;
    char written[HTW__PROGRESS_TEXT_SIZE];
    int error = htw__clock_parse(text, &clock);
    if (error != 0) {
        FUZZ_CHECK(error == (text.size == 0 ? -ENOENT : -EINVAL));
        return;
    }
    FUZZ_CHECK(htw__levels_are_valid(&clock.levels));
    htw__clock_format(&clock, written);
    FUZZ_CHECK(strlen(written) < sizeof(written) - 1);
    FUZZ_CHECK(htw__clock_parse(htw__bytes_of(written), &again) == 0);
    FUZZ_CHECK(again.time_ms == clock.time_ms && again.levels.width_ms == clock.levels.width_ms &&
               again.levels.size == clock.levels.size && again.levels.count == clock.levels.count &&
               again.ids.start == clock.ids.start && again.ids.end == clock.ids.end &&
               again.ids.since == clock.ids.since &&
               htw__bytes_are_equal(again.owner, clock.owner));
    check_places(&clock, 0);
    check_places(&clock, clock.time_ms);
    check_places(&clock, HTW__RELAY_DEADLINE_MAX);
    check_places(&clock, (int64_t)((uint64_t)position % (HTW__RELAY_DEADLINE_MAX + 1)));
}

static void run(const uint8_t *data, size_t size) {
    int64_t position;
    if (size < sizeof(position))
        return;
    memcpy(&position, data, sizeof(position));
    if (position < 0)
        return;
    struct htw__bytes text = { data + sizeof(position), size - sizeof(position) };
    check_progress(text, position);
    check_clock(text, position);
}

static const struct fuzz_attack attacks[] = {
    { "digits", "01234567htw-bucket-1 ", "", { "1" } },
    { "zeros", "01234567htw-bucket-1 ", "", { "0" } },
    { "numbers", "01234567htw-stripe-2", "", { " 1" } },
    { "a long owner", "01234567htw-stripe-2 1000 64 5 0 0 0 0 ", "", { "a" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "progress",
    .run = run,
    .memory = { 4096, 0 },
    .steps = { 2000, 10 },
    .attacks = attacks,
};
