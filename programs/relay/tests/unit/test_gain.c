/* SPDX-License-Identifier: MIT */
/* test_gain.c - taking a stripe over: what is done with positions that cannot be true. */
#include "relay_fixture.h"

static struct htw__found input, buckets[BUCKETS], ids;
static char clock_text[HTW__PROGRESS_TEXT_SIZE];

/* A stripe that was in use: each partition has the offsets 10 to 20, and the position 15. */
static void begin(bool recover) {
    relay_begin((struct htw__relay_options) { .recover = recover });
    htw__clock_format(&(struct htw__relay_clock) { .levels = LEVELS, .time_ms = NOW_MS },
                      clock_text);
    input = (struct htw__found) { 15, htw__bytes_of(clock_text), 10, 20 };
    ids = (struct htw__found) { .end = 0 };
    for (size_t i = 0; i < BUCKETS; i++)
        buckets[i] = (struct htw__found) { .offset = 15, .start = 10, .end = 20 };
}

/* Takes the stripe over with this position of the input, or of a bucket (the others are right). Returns
 * where reading would begin, or the negative reason why not. */
static int64_t gain_with(int64_t offset, bool in_bucket, bool recover) {
    int64_t from = -1;
    begin(recover);
    (in_bucket ? &buckets[5] : &input)->offset = offset;
    enum htw__gain result = htw__relay_gain(&relay, 0, &input, buckets, &ids);
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

/* holds: relay-10 */
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

/* holds: relay-10 */
RELAY_TEST(gain_of_what_others_have_committed_is_refused) {
    char text[HTW__PROGRESS_TEXT_SIZE];
    const struct htw__relay_clock other = { .levels = { 2000, 4, 2 }, .time_ms = NOW_MS };
    begin(false);
    htw__clock_format(&other, text);
    input.metadata = htw__bytes_of(text);
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_OTHER);
    input.metadata = htw__bytes_of("another program");
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_FOREIGN);
    input.metadata = htw__bytes_of(clock_text);
    buckets[1].metadata = htw__bytes_of("another program");
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_FOREIGN);
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
    buckets[1].offset = buckets[5].offset = 21;
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_OK);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    unsigned found = 0; /* a bit for each level */
    for (size_t i = 0; i < relay.position_count; i++)
        if (relay.positions[i].source.slot == 1 && relay.positions[i].offset == 10)
            found |= 1u << relay.positions[i].source.level;
    assert_int_equal(found, 3);
}

/* Or a successor would not know whose transaction is in its way. */
/* holds: relay-12 */
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
            assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_OK);
            assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
            assert_int_equal(relay.position_count, before == now ? 0 : 1);
            if (before != now && names[now] != NULL) {
                assert_int_equal(
                    htw__clock_parse(htw__bytes_of(relay.positions[0].metadata), &clock), 0);
                assert_true(htw__bytes_are_equal(clock.owner, htw__bytes_of(names[now])));
            }
        }
    }
}

/* What stands beside the position of the input. */
static struct htw__relay_clock committed(void) {
    struct htw__relay_clock clock = { .time_ms = 0 };
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    for (size_t i = 0; i < relay.position_count; i++)
        if (relay.positions[i].source.level == HTW__RELAY_INPUT) {
            assert_int_equal(htw__clock_parse(htw__bytes_of(relay.positions[i].metadata), &clock),
                             0);
            return clock;
        }
    fail_msg("the position of the input is not committed");
    return clock;
}

/* The index was known from 3 to 10. */
static enum htw__gain gain_with_ids(int64_t start, int64_t end, bool recover) {
    const struct htw__relay_clock clock = { .levels = LEVELS,
                                            .time_ms = NOW_MS,
                                            .ids = { .start = 3, .end = 10 } };
    begin(recover);
    htw__clock_format(&clock, clock_text);
    input.metadata = htw__bytes_of(clock_text);
    ids = (struct htw__found) { .start = start, .end = end };
    return htw__relay_gain(&relay, 0, &input, buckets, &ids);
}

/* holds: relay-20 */
RELAY_TEST(gain_index_that_begins_later_or_ends_earlier_is_refused) {
    static const struct {
        int64_t start, end;
        enum htw__gain result;
    } cases[] = {
        { 3, 10, HTW__GAIN_OK },   { 0, 10, HTW__GAIN_OK },     { 3, 1000, HTW__GAIN_OK },
        { 3, 9, HTW__GAIN_IDS },   { 0, 0, HTW__GAIN_IDS },     { 4, 10, HTW__GAIN_IDS },
        { 10, 10, HTW__GAIN_IDS }, { 11, 2000, HTW__GAIN_IDS },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(gain_with_ids(cases[i].start, cases[i].end, false), cases[i].result);
        assert_int_equal(relay.stats.stripes, cases[i].result == HTW__GAIN_OK);
    }
}

RELAY_TEST(gain_recovering_notes_which_ids_may_be_lost) {
    assert_int_equal(gain_with_ids(3, 10, true), HTW__GAIN_OK);
    assert_int_equal(relay.stripes[0]->ids_log.since, 0); /* nothing is lost */
    assert_int_equal(gain_with_ids(5, 8, true), HTW__GAIN_OK);
    struct htw__ids_log log = committed().ids;
    assert_true(log.start == 5 && log.end == 8 && log.since == 15);
}

RELAY_TEST(gain_new_stripe_takes_its_index_as_it_is) {
    begin(false);
    input = (struct htw__found) { .offset = -1 };
    for (size_t i = 0; i < BUCKETS; i++)
        buckets[i] = (struct htw__found) { .offset = -1 };
    ids = (struct htw__found) { .start = 20, .end = 30 };
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_OK);
    struct htw__ids_log log = committed().ids;
    assert_true(log.start == 20 && log.end == 30);
}

/* What is acknowledged is committed; an offset that comes back is that of another topic. */
/* holds: relay-20 */
RELAY_TEST(gain_index_that_is_made_anew_meanwhile_is_not_committed) {
    const struct htw__source of_ids = { 0, HTW__RELAY_IDS, 0 };
    assert_int_equal(gain_with_ids(3, 12, false), HTW__GAIN_OK);
    htw__relay_published(&relay, of_ids, 12);
    htw__relay_published(&relay, of_ids, 14);
    htw__relay_touch(&relay);
    assert_int_equal(committed().ids.end, 15);
    htw__relay_published(&relay, of_ids, 14);
    assert_false(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
}
