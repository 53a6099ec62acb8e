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
