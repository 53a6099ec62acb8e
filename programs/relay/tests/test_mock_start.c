/* SPDX-License-Identifier: MIT */
/* test_mock_start.c - what a relay finds when it starts, and whose stripes it takes over. */
#include "mock_fixture.h"

#include "../src/scan.h"
#include "../src/waiting.h"

static unsigned unanswered; /* so many questions for the position of one partition */

rd_kafka_resp_err_t __real_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms) {
    if (unanswered == 0 || list->cnt > 1)
        return __real_rd_kafka_committed(client, list, limit_ms);
    unanswered--;
    return RD_KAFKA_RESP_ERR__TIMED_OUT;
}

static bool first_has_come(void) {
    return mock_got[1].count == 1;
}

/* As when its first commit was still under way: the name is not there yet, but comes with the positions. */
/* holds: relay-12 */
MOCK_TEST(mock_owner_that_is_named_late_is_fenced) {
    mock_has_transactions = true;
    mock_commit("in", 0, "htw-stripe-2 200 8 3 0 0 0 0 other");
    unanswered = 1;
    mock_start();
    assert_int_equal(unanswered, 0);
    assert_string_equal(mock_relay.fence.owner, "other");
    mock_end();
    mock_has_transactions = false;
}

static bool one_has_stopped(void) {
    return mock_relay.relay.stats.stripes_stopped == 1 && mock_relay.relay.stats.stripes == 1;
}

/* As after a topic was made anew: what was committed says that it went on to 1000. */
/* holds: relay-20 */
MOCK_TEST(mock_stripe_whose_index_was_lost_stands_still_and_the_others_go_on) {
    struct htw__kafka_options options = mock_options();
    mock_commit("in", 0, "htw-stripe-2 200 8 3 0 0 1000 0");
    mock_begin(&options);
    mock_run_until(one_has_stopped);
    mock_produce(1, mock_now_ms(), NULL, NULL);
    mock_run_until(first_has_come);
    assert_true(one_has_stopped());
    mock_relay.relay.options.recover = true;
    mock_relay.settings.asked_ms -= 60000;
    mock_run_until(mock_has_all_stripes);
    assert_int_equal(mock_relay.relay.stripes[0]->ids_log.end, 0);
    mock_end();
}

MOCK_TEST(mock_position_beyond_the_end_is_waited_for_and_then_told) {
    struct htw__kafka_options options = mock_options();
    options.patience_ms = 3000;
    mock_commit("in", 0, "htw-stripe-2 200 8 3 1700000000000 0 0 0");
    mock_commit("in.l0", 1000, NULL);
    mock_begin(&options);
    mock_produce(1, mock_now_ms(), NULL, NULL); /* to the other stripe, which does not wait */
    mock_run_until(first_has_come);
    assert_int_equal(mock_relay.relay.stats.stripes, 1);
    assert_int_not_equal(mock_run_until_failure(), 0);
    assert_non_null(strstr(mock_relay.error, "beyond the end"));
}

static void add_to_page(void *page, struct htw__source from, const struct htw__relay_record *record,
                        const struct htw__relay_request *request) {
    htw__waiting_page_add(page, from, record, request);
}

static bool has_filed_one(void) {
    return mock_relay.relay.stats.done.filed[0] == 1;
}

/* As after the clock of the machine was set back: what is due meanwhile is in the bucket of the stripe's clock. */
/* holds: relay-16 */
MOCK_TEST(mock_list_has_what_is_due_before_the_clock_of_its_stripe) {
    struct htw__kafka_options options = mock_options();
    struct htw__waiting_page page;
    char clock[80];
    int64_t now_ms = mock_now_ms() / mock_width_ms * mock_width_ms;
    snprintf(clock, sizeof(clock), "htw-stripe-2 200 8 3 %lld 0 0 0", (long long)now_ms + 3600000);
    mock_commit("in", 0, clock);
    mock_start();
    mock_produce(2, now_ms + 30000, NULL, NULL);
    mock_run_until(has_filed_one);
    mock_end();
    mock_produce(4, now_ms + 40000, NULL, NULL);
    mock_flush();
    htw__waiting_page_init(&page, &HTW__WAITING_ALL, 1);
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_true(htw__scan(&mock_relay, 0, add_to_page, htw__waiting_page_is_full, &page) >= 0);
    htw__waiting_page_end(&page);
    assert_int_equal(page.rows[0].key.wanted_ms, now_ms + 30000);
    htw__waiting_page_fini(&page);
    mock_end();
}
