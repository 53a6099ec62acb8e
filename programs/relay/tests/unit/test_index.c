/* SPDX-License-Identifier: MIT */
/* test_index.c - cancelling and replacing by id. */
#include "../../src/index.h"

#include "relay_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned filed, delivered, entered, erased, opened, closed;
static unsigned char key[8], value[16]; /* of the last entry */

static const struct htw__source of_ids = { 0, HTW__RELAY_IDS, 0 };
static const struct htw__source of_bucket = { 0, 0, 2 };

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    (void)transport;
    if (outgoing->topic != NULL) {
        delivered++;
    } else if (outgoing->bucket.level != HTW__RELAY_IDS) {
        filed++;
    } else {
        assert_int_equal(outgoing->record.key.size, sizeof(key));
        memcpy(key, outgoing->record.key.bytes, sizeof(key));
        entered += outgoing->record.value.bytes != NULL;
        erased += outgoing->record.value.bytes == NULL;
        if (outgoing->record.value.bytes != NULL)
            memcpy(value, outgoing->record.value.bytes, sizeof(value));
    }
    return 0;
}

static void open_source(struct htw__transport *transport, struct htw__source source,
                        int64_t offset) {
    (void)transport, (void)offset;
    opened += source.level == HTW__RELAY_IDS;
}

static void close_source(struct htw__transport *transport, struct htw__source source) {
    (void)transport;
    closed += source.level == HTW__RELAY_IDS;
}

static struct htw__transport transport = { publish, nothing_is_expected, open_source,
                                           close_source };

static void begin(int64_t ids_end) {
    static const char *const patterns[] = { "*" };
    const struct htw__relay_options options = {
        .destinations = { .patterns = patterns, .pattern_count = 1, .default_topic = "out" },
        .max_memory = 1000000,
        .owner = "owner"
    };
    filed = delivered = entered = erased = opened = closed = 0;
    relay_begin(options, &transport);
    relay_take_over((struct htw__found) { 10, { NULL, 0 }, 0, 10 }, NOW_MS,
                    (struct htw__found) { .offset = 0 }, ids_end);
}

static struct htw__relay_record make(int64_t offset, struct htw__header headers[3],
                                     const char *const words[6]) {
    struct htw__relay_record record = {
        .offset = offset, .timestamp_ms = NOW_MS, .key = htw__bytes_of("key"), .headers = headers
    };
    for (; record.header_count < 3 && words[2 * record.header_count] != NULL; record.header_count++)
        headers[record.header_count] =
            (struct htw__header) { htw__bytes_of(words[2 * record.header_count]),
                                   htw__bytes_of(words[2 * record.header_count + 1]) };
    return record;
}

/* A record of the input with the id "a" (or a cancel of that), due in 2 s if `has_time`. */
static void arrive(int64_t offset, const char *name, bool has_time, const char *if_offset) {
    char at[32];
    struct htw__header headers[3];
    snprintf(at, sizeof(at), "%" PRId64, NOW_MS + 2000);
    const char *const words[6] = { name,
                                   "a",
                                   has_time ? "htw-deliver-at" : NULL,
                                   at,
                                   if_offset == NULL ? NULL : "htw-if-offset",
                                   if_offset };
    struct htw__relay_record record = make(offset, headers, words);
    assert_int_equal(htw__relay_take(&relay, of_input, &record), 0);
}

/* The record that had this offset in the input, as it lies in a bucket. */
static bool is_alive(int64_t offset) {
    char text[32];
    struct htw__header headers[3];
    struct htw__request request;
    snprintf(text, sizeof(text), "%" PRId64, offset);
    const char *const words[6] = { "htw-deliver-at", "1002000", "htw-id", "a", "htw-offset", text };
    struct htw__relay_record record = make(77, headers, words);
    assert_null(htw__request_parse(&record, &request));
    return htw__index_is_alive(relay.stripes[0], &request);
}

/* It is delivered, from a bucket of level 0. */
static void leave(int64_t offset) {
    char text[32];
    struct htw__header headers[3];
    snprintf(text, sizeof(text), "%" PRId64, offset);
    const char *const words[6] = { "htw-deliver-at", "1000000", "htw-id", "a", "htw-offset", text };
    struct htw__relay_record record = make(77, headers, words);
    assert_int_equal(relay_pass_on(of_bucket, &record), 0);
}

static void commit(enum htw__channel channel) {
    assert_true(htw__relay_positions(&relay, channel));
    htw__relay_committed(&relay, channel);
}

static void clean(void) {
    assert_int_equal(htw__index_clean(&relay, relay.stripes[0]), 0);
}

/* Another machine reads it. */
RELAY_TEST(index_entry_has_its_high_bytes_first) {
    static const unsigned char wanted[16] = { 0, 0, 0, 0, 0, 0,    1,    2,
                                              0, 0, 0, 0, 0, 0x0f, 0x4a, 0x10 };
    begin(0);
    arrive(0x102, "htw-id", true, NULL);
    assert_int_equal(entered, 1);
    assert_memory_equal(value, wanted, sizeof(wanted));
    uint64_t hash = htw__ids_hash(htw__bytes_of("key"), htw__bytes_of("a"));
    assert_int_equal(key[0], hash >> 56);
    assert_int_equal(key[7], hash & 0xff);
    struct htw__index_entry entry;
    struct htw__relay_record record = { .key = { key, 8 }, .value = { value, 16 } };
    assert_true(htw__index_parse(&record, &entry));
    assert_true(entry.hash == hash && entry.offset == 0x102);
    assert_true(entry.deadline_ms == NOW_MS + 2000);
}

RELAY_TEST(index_record_without_an_id_costs_nothing) {
    struct htw__header headers[3];
    const char *const words[6] = { "htw-deliver-at", "1002000" };
    struct htw__relay_record record = make(10, headers, words);
    begin(0);
    assert_int_equal(htw__relay_take(&relay, of_input, &record), 0);
    assert_int_equal(filed, 1);
    assert_int_equal(entered + erased, 0);
    assert_null(relay.stripes[0]->ids.entries);
}

/* holds: relay-7 */
RELAY_TEST(index_cancel_needs_no_time) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    assert_true(is_alive(10));
    htw__relay_measure(&relay);
    assert_int_equal(relay.stats.ids, 1);
    assert_int_equal(relay.stats.ids_bytes, 64 * 16);
    arrive(11, "htw-cancel", false, NULL);
    assert_false(is_alive(10));
    assert_int_equal(erased, 1);
    assert_int_equal(filed, 1); /* nothing lies beside the victim */
    leave(10);
    assert_int_equal(delivered, 0);
    commit(HTW__CHANNEL_ALL);
    assert_int_equal(relay.stats.done.cancelled, 1);
}

/* holds: relay-7 */
RELAY_TEST(index_cancel_that_meets_nothing_has_no_later_effect) {
    for (int has_time = 0; has_time < 2; has_time++) {
        begin(0);
        arrive(10, "htw-cancel", has_time, NULL);
        arrive(11, "htw-id", true, NULL);
        arrive(12, "htw-cancel", has_time, NULL);
        arrive(13, "htw-cancel", has_time, NULL); /* perhaps of somebody else, or sent again */
        arrive(14, "htw-id", true, NULL);
        assert_int_equal(filed, 2);
        assert_int_equal(relay.open[HTW__CHANNEL_FILE - 1].cancelled, 1);
        assert_int_equal(relay.open[HTW__CHANNEL_FILE - 1].cancels_late, 2);
        leave(11);
        assert_int_equal(delivered, 0);
        leave(14);
        assert_int_equal(delivered, 1);
    }
}

/* A stranger has filed it. */
RELAY_TEST(index_cancel_in_a_bucket_is_a_dead_letter) {
    struct htw__header headers[3];
    const char *const words[6] = { "htw-cancel", "a", "htw-deliver-at", "1002000" };
    struct htw__relay_record record = make(77, headers, words);
    begin(0);
    arrive(10, "htw-id", true, NULL);
    relay.options.dead_letters = "dead";
    assert_int_equal(relay_pass_on(of_bucket, &record), 0);
    assert_true(is_alive(10));
    assert_int_equal(relay.open[HTW__CHANNEL_DELIVER - 1].dead, 1);
}

/* holds: relay-15 */
RELAY_TEST(index_record_with_the_same_id_replaces_the_one_that_waits) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    arrive(11, "htw-id", true, NULL);
    assert_false(is_alive(10));
    assert_true(is_alive(11));
    assert_int_equal(filed, 2);
    assert_int_equal(erased, 0);
    leave(10);
    assert_int_equal(delivered, 0);
    leave(11);
    assert_int_equal(delivered, 1);
    commit(HTW__CHANNEL_ALL);
    assert_int_equal(relay.stats.done.cancelled, 1);
}

/* Or the successor, which asks again, would find that the victim has left. */
/* holds: relay-15 */
RELAY_TEST(index_accepted_condition_is_committed_before_deliveries) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    assert_false(relay.files_first);
    arrive(11, "htw-id", true, "10");
    assert_true(relay.files_first);
    commit(HTW__CHANNEL_DELIVER);
    assert_true(relay.files_first);
    commit(HTW__CHANNEL_FILE);
    assert_false(relay.files_first);
    assert_true(is_alive(11));
}

/* holds: relay-15 */
RELAY_TEST(index_condition_for_another_record_is_too_late) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    arrive(11, "htw-id", true, "9");
    arrive(12, "htw-id", true, "11");
    assert_true(is_alive(10));
    assert_int_equal(filed, 1);
    assert_int_equal(relay.open[HTW__CHANNEL_FILE - 1].cancels_late, 2);
    assert_false(relay.files_first);
}

/* Until then a record that was delivered in a transaction that is aborted would be dead. */
RELAY_TEST(index_entry_goes_after_the_delivery_is_committed) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    commit(HTW__CHANNEL_FILE);
    leave(10);
    assert_int_equal(delivered, 1);
    arrive(11, "htw-id", true, "10"); /* it is too late for that */
    assert_int_equal(filed, 1);
    clean();
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_DELIVER));
    clean();
    assert_int_equal(erased, 0);
    htw__relay_committed(&relay, HTW__CHANNEL_DELIVER);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    clean(); /* what is published now belongs to no transaction of FILE */
    assert_int_equal(erased, 0);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    clean();
    assert_int_equal(erased, 1);
    assert_int_equal(relay.stripes[0]->ids.count, 0);
    clean();
    assert_int_equal(erased, 1);
}

/* A commit is in flight when another one is delivered: it is not part of that. */
RELAY_TEST(index_entry_of_a_later_delivery_stays) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    commit(HTW__CHANNEL_FILE);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_DELIVER));
    leave(10);
    htw__relay_committed(&relay, HTW__CHANNEL_DELIVER);
    clean();
    assert_int_equal(erased, 0);
    commit(HTW__CHANNEL_DELIVER);
    clean();
    assert_int_equal(erased, 1);
}

/* Its time had come when the stripe was taken over: nobody knows whether it was delivered. */
static void read_entry(int64_t deadline_ms) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    begin(5);
    assert_int_equal(opened, 1);
    assert_int_equal(htw__relay_reads_input(&relay, 0), -1);
    for (size_t i = 0; i < 8; i++)
        value[8 + i] = (unsigned char)((uint64_t)deadline_ms >> (56 - 8 * i));
    const struct htw__relay_record record = { .key = { key, 8 }, .value = { value, 16 } };
    assert_int_equal(htw__relay_take(&relay, of_ids, &record), 0);
    htw__relay_reached(&relay, of_ids, 4);
    assert_int_equal(htw__relay_reads_input(&relay, 0), -1);
    htw__relay_reached(&relay, of_ids, 5);
    assert_int_equal(htw__relay_reads_input(&relay, 0), 10);
    assert_int_equal(closed, 1);
}

/* holds: relay-7 */
RELAY_TEST(index_is_read_before_the_input) {
    read_entry(NOW_MS + 2000);
    assert_true(is_alive(10));
    arrive(11, "htw-id", true, "10");
    assert_true(is_alive(11));
}

/* holds: relay-15 */
RELAY_TEST(index_entry_whose_time_was_over_is_unsure) {
    read_entry(NOW_MS);
    arrive(11, "htw-id", true, "10");
    assert_int_equal(filed, 0);
    assert_true(is_alive(10)); /* it has come out of a bucket: so it was there */
    arrive(12, "htw-id", true, "10");
    assert_int_equal(filed, 1);
}

RELAY_TEST(index_stale_entry_is_removed_when_its_bucket_is_past) {
    read_entry(NOW_MS);
    clean();
    assert_int_equal(erased, 0);
    relay.stripes[0]->clock_ms = NOW_MS + 120000;
    clean();
    assert_int_equal(erased, 1);
}

/* One that may be in level 0 is unsure as well, and must not be removed before its time has come. */
RELAY_TEST(index_entry_that_is_due_in_level_0_stays_until_then) {
    read_entry(NOW_MS + 3000); /* of four buckets of a second */
    arrive(11, "htw-id", true, "10");
    assert_int_equal(filed, 0);
    relay.stripes[0]->clock_ms = NOW_MS + 61000;
    clean();
    assert_int_equal(erased, 0);
    relay.stripes[0]->clock_ms = NOW_MS + 63000;
    clean();
    assert_int_equal(erased, 1);
}

RELAY_TEST(index_entry_beyond_level_0_is_sure) {
    read_entry(NOW_MS + 4000);
    relay.stripes[0]->clock_ms = NOW_MS + 120000;
    clean();
    assert_int_equal(erased, 0);
    arrive(11, "htw-id", true, "10");
    assert_int_equal(filed, 1);
}

/* What is unsure may wait in the input, behind what was read. */
RELAY_TEST(index_stale_entry_stays_until_the_input_is_read) {
    read_entry(NOW_MS);
    relay.stripes[0]->clock_ms = NOW_MS + 120000;
    relay.stripes[0]->ids_input_end = 11;
    clean();
    assert_int_equal(erased, 0);
    relay.stripes[0]->input_position = 11;
    clean();
    assert_int_equal(erased, 1);
}

/* Without transactions it may have been entered, and not been filed. */
RELAY_TEST(index_condition_holds_for_what_it_has_let_in_itself) {
    struct htw__header headers[3];
    struct htw__request request;
    const char *const words[6] = {
        "htw-id", "a", "htw-deliver-at", "1002000", "htw-if-offset", "10"
    };
    struct htw__relay_record record = make(11, headers, words);
    begin(0);
    arrive(10, "htw-id", true, NULL);
    arrive(11, "htw-id", true, "10");
    assert_null(htw__request_parse(&record, &request));
    assert_true(htw__index_arrive(&relay, relay.stripes[0], &request, 11));
    assert_false(htw__index_arrive(&relay, relay.stripes[0], &request, 12)); /* is too late */
}

/* Those of the input before offset 20 may have lost their entries. */
/* holds: relay-20 */
RELAY_TEST(index_that_was_lost_kills_only_what_it_could_know) {
    begin(0);
    struct htw__ids_log *log = &relay.stripes[0]->ids_log;
    assert_false(is_alive(15));
    log->since = 20;
    assert_true(is_alive(15));
    assert_false(is_alive(20));
    arrive(30, "htw-id", true, NULL); /* replaces it */
    assert_false(is_alive(15));
    assert_true(is_alive(30));
}

RELAY_TEST(index_that_was_lost_lets_records_out_or_buries_them) {
    for (int buries = 0; buries < 2; buries++) {
        begin(0);
        struct htw__ids_log *log = &relay.stripes[0]->ids_log;
        log->since = 20;
        log->buries = buries == 1;
        leave(15);
        leave(25); /* was cancelled, and is not counted */
        assert_int_equal(relay.open[HTW__CHANNEL_DELIVER - 1].ids_lost, 1);
        assert_int_equal(relay.open[HTW__CHANNEL_DELIVER - 1].delivered, buries == 0);
        assert_int_equal(relay.open[HTW__CHANNEL_DELIVER - 1].dead, buries == 1);
    }
}
