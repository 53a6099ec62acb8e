/* SPDX-License-Identifier: MIT */
/* test_mock_doubles.c - what comes twice when a relay without transactions is killed, and what does not. */
#include "mock_fixture.h"

#include <unistd.h>

#define RECORDS 7400
#define DELIVERED (RECORDS - RECORDS / 50) /* the others are dead letters */
#define DOUBLES_MAX 2000 /* of a channel: see "What it guarantees" in docs/relay.md */

static unsigned count_doubles(unsigned count) {
    unsigned doubles = 0;
    for (unsigned i = 0; i < count; i++)
        if (mock_came(i) > 1)
            doubles++;
    return doubles;
}

/* What was filed is committed as soon as what was delivered. */
/* holds: relay-11 */
MOCK_TEST(mock_what_was_published_an_interval_ago_is_not_doubled) {
    mock_width_ms = 1000;
    mock_start();
    int64_t deadline_ms = mock_now_ms() + 3000;
    for (unsigned i = 0; i < 300; i++)
        mock_produce(i, i % 2 == 0 ? 0 : deadline_ms, NULL, NULL);
    for (int i = 0; i < 10000 && mock_received() < 300; i++)
        mock_run(1);
    mock_run(mock_commit_ms + 400); /* what is filed lingers, and is acknowledged first */
    mock_kill();
    mock_start();
    mock_run_until_all(0, 300);
    mock_run(1500); /* what comes twice may come a second after the others */
    assert_int_equal(count_doubles(300), 0);
    mock_end();
}

/* However long the interval is, and however much there is to catch up with. */
/* holds: relay-11 */
MOCK_TEST(mock_what_is_doubled_is_limited_by_its_number) {
    mock_width_ms = 1000;
    mock_commit_ms = 60000;
    mock_start();
    int64_t deadline_ms = mock_now_ms() + 2500;
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, deadline_ms, NULL, NULL);
    for (int i = 0; i < 10000 && mock_delivered() < DELIVERED; i++)
        mock_run(1);
    mock_kill();
    mock_start();
    mock_run_until_all(0, RECORDS);
    mock_run(1500); /* what comes twice may come a second after the others */
    assert_in_range(count_doubles(RECORDS), 1, 2 * DOUBLES_MAX);
    mock_end();
}

/* The number is reached again and again while there is much to catch up with: the relay commits then, and
 * does not sleep before it reads on, since nothing would wake it. */
MOCK_TEST(mock_relay_that_has_committed_early_reads_on_at_once) {
    mock_width_ms = 240000;
    mock_commit_ms = 60000;
    mock_start();
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, 0, NULL, NULL);
    mock_flush();
    for (int i = 0; i < 3000 && rd_kafka_queue_length(mock_relay.group_queue) < RECORDS; i++)
        usleep(10000);
    rd_kafka_mock_broker_set_rtt(mock_cluster, -1, 50); /* so a commit waits for acknowledgements */
    int64_t until_ms = mock_now_ms() + mock_commit_ms / 2;
    while (mock_delivered() < DELIVERED && mock_now_ms() < until_ms)
        assert_int_equal(htw__kafka_run(&mock_relay, mock_none, 60000), 0);
    assert_int_equal(mock_delivered(), DELIVERED);
    mock_end();
}
