/* SPDX-License-Identifier: MIT */
/*
 * mock_fixture.h - a relay over librdkafka's mock cluster: real clients and the real protocol, with brokers
 * in memory. They know no administrators, so the fixture makes the topics; and what is aborted can be read there, so most
 * tests have no transactions.
 */
#ifndef TESTS_RELAY_MOCK_FIXTURE_H
#define TESTS_RELAY_MOCK_FIXTURE_H

#include "../src/kafka.h"

#include "unit/unit.h"

#include <librdkafka/rdkafka_mock.h>

#define MOCK_STRIPES 2
#define MOCK_RECORDS_MAX 8000

/* What has arrived of a record. */
struct mock_got {
    unsigned count, dead;
    int64_t late_ms; /* the least */
    char reason[128];
};

extern rd_kafka_mock_cluster_t *mock_cluster;
extern struct htw__kafka mock_relay;
extern int64_t mock_width_ms;     /* of the lowest buckets; 200 at first */
extern int64_t mock_commit_ms;    /* 50 at first */
extern const char *mock_instance; /* NULL at first */
extern int
    mock_brokers; /* 1 at first; to be set before the cluster is made. The first one leads all */
extern bool mock_has_transactions; /* false at first */
extern unsigned mock_short;        /* dead letters without a value */
extern struct mock_got mock_got[MOCK_RECORDS_MAX];

/* Makes a cluster with the topics in, in.l0 to in.l2, in.dead and out, and ends it. */
void mock_set_up(void);
void mock_tear_down(void);

#define MOCK_TEST(name) UNIT_TEST_BETWEEN(mock_set_up, mock_tear_down, name)

int64_t mock_now_ms(void);

/* Those of the relay that mock_start() starts. */
struct htw__kafka_options mock_options(void);

/* Starts a relay; the second one waits until it has all stripes. */
void mock_begin(const struct htw__kafka_options *options);
void mock_start(void);
bool mock_has_all_stripes(void);

/* Ends it: all is committed. */
void mock_end(void);

/* Ends the relay without a commit. (It leaves the group, so that the next member need not wait for its session.) */
void mock_kill(void);

/* Runs the relay, and takes what it delivers, for a time; or until something is the case, or `count` records from `first`
 * on have arrived, for as long as a loaded machine may need. */
void mock_run(int64_t span_ms);
void mock_run_until(bool (*is_done)(void));
void mock_run_until_all(unsigned first, unsigned count);

/* Runs the relay until it fails, and closes it: mock_relay.error says why. Returns 0 if it did not fail. */
int mock_run_until_failure(void);

/* How often a record has arrived, as a dead letter or not. */
unsigned mock_came(unsigned number);

/* Whether what arrives is read, from the beginning. It is at first. */
void mock_listen(bool listens);

/* What the relay has done so far, committed or not. */
uint64_t mock_received(void);
uint64_t mock_delivered(void);

/* Sends a record whose value is a number. `more` is another header, or NULL. */
void mock_produce(unsigned number, int64_t deadline_ms, const char *more, const char *value);

/* Waits until all that was sent is there. */
void mock_flush(void);

/* Commits a position for the relay's group, which must have had no member yet. */
void mock_commit(const char *topic, int64_t offset, const char *metadata);

#endif /* TESTS_RELAY_MOCK_FIXTURE_H */
