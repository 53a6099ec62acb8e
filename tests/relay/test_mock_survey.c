/* SPDX-License-Identifier: MIT */
/* test_mock_survey.c - a relay that sees how far the input is read, and which stripes have no owner. */
#include "mock_fixture.h"

static void run_until(bool (*is_done)(void)) {
    for (int i = 0; i < 3000 && !is_done(); i++)
        mock_run(10);
    assert_true(is_done());
}

static bool one_is_stalled(void) {
    return mock_relay.relay.stats.stripes_stalled == 1;
}

static bool none_is_stalled(void) {
    return mock_relay.relay.stats.stripes_stalled == 0;
}

static bool all_is_read(void) {
    htw__kafka_measure(&mock_relay);
    return mock_received() == 20 && mock_relay.relay.stats.input_lag == 0;
}

/* Looks at stripe 0 since the test began. */
static int64_t looked_ms;
static unsigned looks;

static bool has_looked(void) {
    looks += mock_relay.survey.asked_ms != looked_ms;
    looked_ms = mock_relay.survey.asked_ms;
    return looks > 20;
}

MOCK_TEST(mock_stripe_that_nobody_serves_is_stalled) {
    mock_survey_ms = 100;
    mock_start();
    looks = 0;
    run_until(has_looked); /* with nothing to do, all the same each stripe gives signs */
    assert_true(none_is_stalled());
    htw__relay_lose(&mock_relay.relay, 1); /* as if it belonged to a relay that does nothing */
    run_until(one_is_stalled);
    assert_true(mock_relay.survey.seen[1].still >= 6);
    htw__kafka_recover(&mock_relay, "the test wants it"); /* all stripes are taken over again */
    run_until(none_is_stalled);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

MOCK_TEST(mock_input_is_behind_until_it_is_read) {
    for (unsigned i = 0; i < 20; i++)
        mock_produce(i, mock_now_ms() + 300, NULL, NULL);
    mock_flush();
    mock_start();
    run_until(all_is_read);
    assert_int_equal(mock_relay.relay.stats.input_lag_s, 0);
    mock_run_until_all(20);
    assert_in_range(mock_relay.relay.stats.since_commit_s[0], 0, 60);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* ---- the indexes */

static bool one_has_stopped(void) {
    return mock_relay.relay.stats.stripes_stopped == 1 && mock_relay.relay.stats.stripes == 1;
}

static bool one_is_delivered(void) {
    return mock_got[1].count == 1;
}

static bool all_are_ours(void) {
    return mock_relay.relay.stats.stripes == MOCK_STRIPES;
}

static bool has_recovered(void) {
    return mock_relay.relay.stats.recoveries > 0;
}

/* As after a topic was made anew: what was committed says that it went on to 1000. */
/* holds: relay-20 */
MOCK_TEST(mock_stripe_whose_index_was_lost_stands_still_and_the_others_go_on) {
    struct htw__kafka_options options = mock_options();
    mock_commit("in", 0, "htw-stripe-2 200 8 3 0 0 1000 0 0");
    options.relay.recover = true; /* of the buckets nothing is committed */
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_int_equal(htw__kafka_start(&mock_relay), 0);
    run_until(one_has_stopped);
    mock_produce(1, mock_now_ms(), NULL, NULL);
    run_until(one_is_delivered);
    assert_true(one_has_stopped());
    mock_relay.options.relay.lost_ids = HTW__LOST_IDS_DELIVER;
    mock_relay.survey.looked_ms -= 60000;
    run_until(all_are_ours);
    assert_int_equal(htw__relay_ids(&mock_relay.relay, 0)->end, 0);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* holds: relay-20 */
MOCK_TEST(mock_index_is_looked_at_each_minute) {
    mock_start();
    mock_run(300);
    assert_false(has_recovered());
    mock_relay.relay.stripes[1]->ids_log.end = 7; /* which it never had */
    mock_relay.survey.looked_ms -= 60000;
    run_until(has_recovered);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}
