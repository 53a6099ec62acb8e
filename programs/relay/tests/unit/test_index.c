/* SPDX-License-Identifier: MIT */
/* test_index.c - cancelling and replacing by id: what the model does not show. */
#include "relay_fixture.h"

static const struct htw__source of_ids = { 0, HTW__RELAY_IDS, 0 };
static const struct htw__source of_bucket = { 0, 0, 2 };

static void begin(int64_t ids_end) {
    relay_begin((struct htw__relay_options) { .owner = "owner" });
    relay_take_over((struct htw__found) { 10, { NULL, 0 }, 0, 10 }, NOW_MS,
                    (struct htw__found) { .offset = 0 }, ids_end);
}

/* A record of the input with the id "a" (or a cancel of that), due in 2 s if `has_time`. */
static void arrive(int64_t offset, const char *name, bool has_time, const char *if_offset) {
    const char *const words[] = { name,
                                  "a",
                                  has_time ? "htw-deliver-at" : NULL,
                                  "1002000",
                                  if_offset == NULL ? NULL : "htw-if-offset",
                                  if_offset,
                                  NULL };
    assert_int_equal(relay_take(relay_record(offset, words)), 0);
}

/* The record that had this offset in the input, as it lies in a bucket. */
static struct htw__relay_record in_bucket(int64_t offset, const char *at) {
    static char text[32];
    snprintf(text, sizeof(text), "%" PRId64, offset);
    return RELAY_RECORD(77, "htw-deliver-at", at, "htw-id", "a", "htw-offset", text);
}

static bool is_alive(int64_t offset) {
    struct htw__relay_request request;
    const struct htw__relay_record record = in_bucket(offset, "1002000");
    assert_null(htw__request_parse(&record, &request));
    return htw__index_is_alive(relay.stripes[0], &request);
}

/* It is delivered, from a bucket of level 0. */
static void leave(int64_t offset) {
    assert_int_equal(relay_pass_on(of_bucket, in_bucket(offset, "1000000")), 0);
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
    assert_int_equal(seen.count[TO_INDEX], 1);
    assert_memory_equal(seen.value, wanted, sizeof(wanted));
    uint64_t hash = htw__ids_hash(htw__bytes_of("key"), htw__bytes_of("a"));
    assert_int_equal(seen.key[0], hash >> 56);
    assert_int_equal(seen.key[7], hash & 0xff);
    struct htw__index_entry entry;
    struct htw__relay_record record = { .key = { seen.key, 8 }, .value = { seen.value, 16 } };
    assert_true(htw__index_parse(&record, &entry));
    assert_true(entry.hash == hash && entry.offset == 0x102);
    assert_true(entry.deadline_ms == NOW_MS + 2000);
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
        assert_int_equal(seen.count[TO_BUCKET], 2);
        assert_int_equal(relay.open[HTW__CHANNEL_FILE].cancelled, 1);
        assert_int_equal(relay.open[HTW__CHANNEL_FILE].cancels_late, 2);
        leave(11);
        assert_int_equal(seen.count[TO_TOPIC], 0);
        leave(14);
        assert_int_equal(seen.count[TO_TOPIC], 1);
    }
}

/* A stranger has filed it. */
RELAY_TEST(index_cancel_in_a_bucket_is_a_dead_letter) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    assert_int_equal(
        relay_pass_on(of_bucket, RELAY_RECORD(77, "htw-cancel", "a", "htw-deliver-at", "1002000")),
        0);
    assert_true(is_alive(10));
    assert_int_equal(relay.open[HTW__CHANNEL_DELIVER].dead, 1);
}

/* Not before: if the delivery is aborted, the record is alive again. */
RELAY_TEST(index_entry_is_removed_when_its_delivery_is_committed) {
    begin(0);
    arrive(10, "htw-id", true, NULL);
    leave(10);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 0);
    commit(HTW__CHANNEL_DELIVER);
    arrive(11, "htw-id", true, NULL);
    leave(11); /* before the entry of the other one was removed, which it has replaced */
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 0);
    commit(HTW__CHANNEL_DELIVER);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 1);
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

/* Its time had come when the stripe was taken over: nobody knows whether it was delivered. */
static void read_entry(int64_t deadline_ms) {
    unsigned char key[8], value[16] = { 0 };
    begin(0);
    arrive(10, "htw-id", true, NULL);
    memcpy(key, seen.key, sizeof(key));
    memcpy(value, seen.value, sizeof(value));
    begin(5);
    assert_int_equal(seen.ids_opened, 1);
    assert_int_equal(htw__relay_reads_input(&relay, 0), -1);
    for (size_t i = 0; i < 8; i++)
        value[8 + i] = (unsigned char)((uint64_t)deadline_ms >> (56 - 8 * i));
    const struct htw__relay_record record = { .key = { key, 8 }, .value = { value, 16 } };
    assert_int_equal(htw__relay_take(&relay, of_ids, &record), 0);
    htw__relay_reached(&relay, of_ids, 4);
    assert_int_equal(htw__relay_reads_input(&relay, 0), -1);
    htw__relay_reached(&relay, of_ids, 5);
    assert_int_equal(htw__relay_reads_input(&relay, 0), 10);
    assert_int_equal(seen.ids_closed, 1);
}

/* holds: relay-15 */
RELAY_TEST(index_entry_whose_time_was_over_is_unsure) {
    read_entry(NOW_MS);
    arrive(11, "htw-id", true, "10");
    assert_int_equal(seen.count[TO_BUCKET], 0);
    assert_true(is_alive(10)); /* it has come out of a bucket: so it was there */
    arrive(12, "htw-id", true, "10");
    assert_int_equal(seen.count[TO_BUCKET], 1);
}

/* What is unsure may wait in the input, behind what was read. */
RELAY_TEST(index_stale_entry_stays_until_the_input_is_read) {
    read_entry(NOW_MS);
    relay.stripes[0]->clock_ms = NOW_MS + 120000;
    relay.stripes[0]->ids_input_end = 11;
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 0);
    relay.stripes[0]->input_position = 11;
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 1);
}

/* Without transactions it may have been entered, and not been filed. */
RELAY_TEST(index_condition_holds_for_what_it_has_let_in_itself) {
    struct htw__relay_request request;
    begin(0);
    arrive(10, "htw-id", true, NULL);
    arrive(11, "htw-id", true, "10");
    const struct htw__relay_record record =
        RELAY_RECORD(11, "htw-id", "a", "htw-deliver-at", "1002000", "htw-if-offset", "10");
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

RELAY_TEST(index_that_was_lost_lets_records_out) {
    begin(0);
    relay.stripes[0]->ids_log.since = 20;
    leave(15);
    leave(25); /* was cancelled, and is not counted */
    assert_int_equal(relay.open[HTW__CHANNEL_DELIVER].ids_lost, 1);
    assert_int_equal(relay.open[HTW__CHANNEL_DELIVER].delivered, 1);
}

/* ---- questions */

/* A record of the input that asks, with up to two more headers, and what is answered: DONE or not, SURE or not. */
static void ask(int64_t offset, const char *name, const char *at, const char *if_offset) {
    const char *const words[] = { name,
                                  "a",
                                  "htw-ask",
                                  "77",
                                  at == NULL ? NULL : "htw-deliver-at",
                                  at,
                                  if_offset == NULL ? NULL : "htw-if-offset",
                                  if_offset,
                                  NULL };
    unsigned before = seen.count[TO_ASKER];
    relay.soonest_ms = INT64_MAX;
    assert_int_equal(relay_take(relay_record(offset, words)), 0);
    assert_int_equal(seen.count[TO_ASKER], before + 1);
    assert_true(relay.soonest_ms <= NOW_MS); /* so the commit comes soon */
    assert_int_equal(seen.answer.ask, 77);
}

static void is_answered(int64_t offset, bool is_done, bool is_sure) {
    assert_int_equal(seen.answer.offset, offset);
    assert_true(seen.answer.is_done == is_done);
    assert_true(seen.answer.is_sure == is_sure);
}

/* holds: relay-21 */
RELAY_TEST(index_answers_what_waited_and_what_became_of_it) {
    begin(0);
    ask(10, "htw-id", NULL, NULL);
    is_answered(HTW__IDS_NONE, false, true);
    arrive(11, "htw-id", true, NULL);
    for (int64_t i = 12; i < 20; i++) { /* it changes nothing, however often */
        ask(i, "htw-id", NULL, NULL);
        is_answered(11, false, true);
    }
    assert_int_equal(seen.count[TO_INDEX] + seen.count[TO_BUCKET], 2);
    ask(20, "htw-id", "1003000", "11");
    is_answered(11, true, true);
    assert_null(strstr(seen.headers, "htw-ask"));
    ask(21, "htw-id", "1004000", "11"); /* another move was first */
    is_answered(20, false, true);
    ask(22, "htw-id", "1000000", "20"); /* it is delivered at once */
    is_answered(20, true, true);
    assert_int_equal(seen.count[TO_TOPIC], 1);
    arrive(23, "htw-id", true, NULL);
    ask(24, "htw-cancel", NULL, NULL);
    is_answered(23, true, true);
    ask(25, "htw-cancel", NULL, NULL);
    is_answered(HTW__IDS_NONE, false, true);
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].cancels_late, 1); /* the move that was late */
    assert_int_equal(seen.count[TO_DEAD], 0);
}

/* holds: relay-21 */
RELAY_TEST(index_answer_is_not_sure_of_what_may_be_delivered) {
    read_entry(NOW_MS);
    ask(11, "htw-cancel", NULL, NULL);
    is_answered(10, true, false);
    read_entry(NOW_MS);
    assert_true(is_alive(10));
    ask(11, "htw-cancel", NULL, NULL);
    is_answered(10, true, true);
    arrive(12, "htw-id", true, NULL);
    leave(12);
    ask(13, "htw-id", "1005000", "12");
    is_answered(12, false, false);
    ask(14, "htw-cancel", NULL, NULL);
    is_answered(12, true, false);
}

static struct htw__relay_record occurrence(int64_t offset, const char *at, const char *until) {
    return RELAY_RECORD(offset, "htw-id", "a", "htw-every", "10s", "htw-deliver-at", at,
                        "htw-until", until, offset == 77 ? "htw-offset" : "trace", "10");
}

/* An occurrence that is in an open transaction, of either channel, may come. */
/* holds: relay-21 */
RELAY_TEST(index_cancel_is_not_sure_while_an_occurrence_leaves) {
    begin(0);
    assert_int_equal(relay_take(occurrence(10, "1000000", "9000000")), 0);
    ask(11, "htw-id", NULL, NULL);
    is_answered(10, false, false);
    commit(HTW__CHANNEL_FILE);
    ask(12, "htw-id", NULL, NULL);
    is_answered(10, false, true);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "9000000")), 0);
    commit(HTW__CHANNEL_FILE);
    ask(13, "htw-id", "1005000", "10"); /* a move: one of the two is delivered */
    is_answered(10, false, false);
    commit(HTW__CHANNEL_DELIVER);
    ask(14, "htw-id", NULL, NULL);
    is_answered(10, false, true);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "9000000")), 0);
    ask(15, "htw-cancel", NULL, NULL);
    is_answered(10, true, false);
    commit(HTW__CHANNEL_DELIVER);
    assert_false(is_alive(10));
    assert_int_equal(seen.count[TO_TOPIC], 3);
}

/* Also where the one before it was committed while FILE was. */
RELAY_TEST(index_entry_stays_until_the_last_occurrence_is_committed) {
    begin(0);
    assert_int_equal(relay_take(occurrence(10, "1002000", "1010001")), 0);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "1010001")), 0);
    commit(HTW__CHANNEL_DELIVER);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "1000001")), 0);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 0);
    commit(HTW__CHANNEL_DELIVER);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 1);
}

/* What FILE has filed can be read before its relay knows that FILE is committed. */
/* holds: relay-21 */
RELAY_TEST(index_commit_of_file_concerns_no_occurrence_of_deliver) {
    begin(0);
    assert_int_equal(relay_take(occurrence(10, "1000000", "1010001")), 0);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "1010001")), 0);
    commit(HTW__CHANNEL_FILE);
    ask(11, "htw-id", NULL, NULL);
    is_answered(10, false, false);
    commit(HTW__CHANNEL_DELIVER);
    ask(12, "htw-id", NULL, NULL);
    is_answered(10, false, true);
}

/* holds: relay-18 */
RELAY_TEST(index_entry_is_not_erased_when_file_is_committed_before_the_last_occurrence) {
    begin(0);
    assert_int_equal(relay_take(occurrence(10, "1000000", "1010001")), 0);
    assert_int_equal(relay_pass_on(of_bucket, occurrence(77, "1000000", "1000001")), 0);
    commit(HTW__CHANNEL_FILE);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 0);
    commit(HTW__CHANNEL_DELIVER);
    clean();
    assert_int_equal(seen.count[TO_INDEX_ERASED], 1);
}

/* Its relay may have lost the stripe, and not know. */
/* holds: relay-21 */
RELAY_TEST(index_answer_without_transactions_is_not_sure) {
    relay_begin((struct htw__relay_options) { .owner = NULL });
    relay_take_new_over();
    arrive(10, "htw-id", true, NULL);
    ask(11, "htw-id", "1003000", "10");
    is_answered(10, true, false);
    relay.stripes[0]->input_position = 11; /* after a crash before the answer */
    ask(11, "htw-id", "1003000", "10");
    is_answered(11, true, false);
    seen.errors[TO_INDEX_ERASED] = -EAGAIN; /* a crash before it is erased, or after the answer */
    assert_int_equal(relay_take(RELAY_RECORD(12, "htw-cancel", "a", "htw-ask", "77")), -EAGAIN);
    assert_int_equal(seen.count[TO_ASKER], 3);
    is_answered(11, true, false);
}

/* A bad one is a dead letter as any other. */
RELAY_TEST(index_question_that_is_bad_is_a_dead_letter) {
    begin(0);
    assert_int_equal(relay_take(RELAY_RECORD(10, "htw-ask", "7")), 0);
    assert_int_equal(relay_take(RELAY_RECORD(11, "htw-id", "a", "htw-ask", "x")), 0);
    assert_int_equal(relay_take(RELAY_RECORD(12, "htw-id", "", "htw-ask", "7")), 0);
    assert_int_equal(relay_pass_on(of_bucket, RELAY_RECORD(77, "htw-id", "a", "htw-ask", "7")), 0);
    assert_int_equal(seen.count[TO_DEAD], 4);
    assert_int_equal(seen.count[TO_ASKER], 0);
}

/* As one that is read by a relay that does not know answers. */
RELAY_TEST(index_passes_answers_over_when_it_is_read) {
    const unsigned char value[24] = { 0 };
    const struct htw__relay_record record = { .key = htw__bytes_of("answer"),
                                              .value = { value, sizeof(value) } };
    begin(5);
    assert_int_equal(htw__relay_take(&relay, of_ids, &record), 0);
    assert_int_equal(relay.stripes[0]->ids.count, 0);
}
