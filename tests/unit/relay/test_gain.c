/* SPDX-License-Identifier: MIT */
/* test_gain.c - taking a stripe over: what is done with positions that cannot be true. */
#include "relay_fixture.h"

#include <string.h>

static struct htw__found input, buckets[BUCKETS];
static char clock_text[HTW__PROGRESS_TEXT_SIZE];

static struct htw__transport transport = { NULL, NULL, nothing_is_opened, nothing_is_closed };

/* A stripe that was in use: each partition has the offsets 10 to 20, and the position 15. */
static void begin(bool recover) {
    relay_begin((struct htw__relay_options) { .recover = recover }, &transport);
    htw__clock_format(&(struct htw__relay_clock) { .levels = LEVELS, .time_ms = NOW_MS },
                      clock_text);
    input = (struct htw__found) { 15, htw__bytes_of(clock_text), 10, 20 };
    for (size_t i = 0; i < BUCKETS; i++)
        buckets[i] = (struct htw__found) { .offset = 15, .start = 10, .end = 20 };
}

/* Takes the stripe over with this position of the input, or of a bucket (the others are right). Returns
 * where reading would begin, or the negative reason why not. */
static int64_t gain_with(int64_t offset, bool in_bucket, bool recover) {
    int64_t from = -1;
    begin(recover);
    (in_bucket ? &buckets[5] : &input)->offset = offset;
    enum htw__gain result = htw__relay_gain(&relay, 0, &input, buckets, 0);
    assert_int_equal(relay.stats.stripes, result == HTW__GAIN_OK);
    if (result != HTW__GAIN_OK)
        from = -(int64_t)result;
    else if (!in_bucket)
        from = htw__relay_reads_input(&relay, 0);
    else
        from = htw__stripe_bucket(relay.stripes[0], 1, 1)->position;
    relay_end();
    return from;
}

UNIT_TEST(gain_position_between_start_and_end_is_kept) {
    static const int64_t offsets[] = { 10, 15, 20 };
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        assert_int_equal(gain_with(offsets[i], false, false), offsets[i]);
        assert_int_equal(gain_with(offsets[i], true, false), offsets[i]);
        assert_int_equal(gain_with(offsets[i], true, true), offsets[i]);
    }
}

UNIT_TEST(gain_position_outside_its_partition_is_refused) {
    static const struct {
        int64_t offset;
        enum htw__gain why;
    } cases[] = {
        { -1, HTW__GAIN_MISSING },
        { 9, HTW__GAIN_DELETED },
        { 21, HTW__GAIN_BEYOND },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(gain_with(cases[i].offset, false, false), -(int64_t)cases[i].why);
        assert_int_equal(gain_with(cases[i].offset, true, false), -(int64_t)cases[i].why);
    }
}

UNIT_TEST(gain_recovering_reads_what_is_there_from_the_start) {
    static const int64_t offsets[] = { -1, 9, 21 };
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        assert_int_equal(gain_with(offsets[i], false, true), 10);
        assert_int_equal(gain_with(offsets[i], true, true), 10);
    }
}

/* Or the next one to take the stripe over would see the wrong position again. */
RELAY_TEST(gain_recovered_position_is_committed) {
    begin(true);
    buckets[5].offset = 21;
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, 0), HTW__GAIN_OK);
    assert_int_equal(htw__relay_positions(&relay, HTW__CHANNEL_ALL), 0);
    const struct htw__relay_position *found = NULL;
    for (size_t i = 0; i < relay.position_count; i++)
        if (relay.positions[i].source.level == 1 && relay.positions[i].source.slot == 1)
            found = &relay.positions[i];
    assert_non_null(found);
    assert_int_equal(found->offset, 10);
}

/* Or a successor would not know whose transaction is in its way. */
RELAY_TEST(gain_new_owner_is_committed_at_once) {
    static const char *const names[] = { "a", "b", NULL };
    for (size_t before = 0; before < COUNT_OF(names); before++) {
        for (size_t now = 0; now < COUNT_OF(names); now++) {
            struct htw__relay_clock clock = { .levels = LEVELS, .time_ms = NOW_MS };
            begin(false);
            if (names[before] != NULL)
                clock.owner = htw__bytes_of(names[before]);
            htw__clock_format(&clock, clock_text);
            input.metadata = htw__bytes_of(clock_text);
            relay.options.owner = names[now];
            assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, 0), HTW__GAIN_OK);
            assert_int_equal(htw__relay_positions(&relay, HTW__CHANNEL_ALL), 0);
            assert_int_equal(relay.position_count, before == now ? 0 : 1);
            if (before != now && names[now] != NULL) {
                assert_int_equal(
                    htw__clock_parse(htw__bytes_of(relay.positions[0].metadata), &clock), 0);
                assert_true(htw__bytes_are_equal(clock.owner, htw__bytes_of(names[now])));
            }
        }
    }
}
