/* SPDX-License-Identifier: MIT */
/* test_trust.c - how the relay finds the destination that has failed a transaction. No broker. */
#include "../src/kafka.h"

#include "unit/unit.h"

#define COUNT 4

static struct htw__kafka kafka;
static struct htw__writer *const writer = &kafka.writers[HTW__CHANNEL_DELIVER];
static struct htw__unacknowledged records[2 * COUNT];
static struct htw__destination *destinations[COUNT];

static void say(enum htw__severity level, const char *text) {
    (void)text;
    assert_int_equal(level, HTW__LOG_WARNING);
}

static void set_up(void) {
    kafka = (struct htw__kafka) { .options.say = say };
    writer->records = records;
    htw__directory_init(&kafka.directory);
    for (size_t i = 0; i < COUNT; i++) {
        char name[8];
        snprintf(name, sizeof(name), "t%zu", i);
        destinations[i] = htw__directory_add(&kafka.directory, name, 1);
    }
}

static void tear_down(void) {
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(destinations[i]->uses, 0);
    htw__directory_fini(&kafka.directory);
}

#define TRUST_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

/* A record for a bucket, and one for each of these, are in the transaction. */
static void publish(const size_t *numbers, size_t count) {
    records[writer->count++] = (struct htw__unacknowledged) { .is_bucket = true };
    for (size_t i = 0; i < count; i++) {
        records[writer->count++] = (struct htw__unacknowledged) { .is_bucket = false };
        htw__trust_note(writer, destinations[numbers[i]]);
    }
}

#define PUBLISH(...) \
    publish((const size_t[]) { __VA_ARGS__ }, COUNT_OF(((const size_t[]) { __VA_ARGS__ })))

static void commit(void) {
    htw__writer_forget(writer, true);
}

static void refuse(void) {
    htw__trust_refused(&kafka, writer);
    htw__writer_forget(writer, false);
}

static bool is_denied(size_t number) {
    return destinations[number]->partitions == -EACCES;
}

TRUST_TEST(trust_only_destination_that_is_not_proven_is_denied) {
    PUBLISH(0, 1);
    assert_int_equal(destinations[0]->uses, 1);
    commit();
    PUBLISH(0, 1);
    assert_false(writer->has_unproven);
    PUBLISH(2, 2);
    assert_true(writer->has_unproven);
    refuse();
    assert_true(is_denied(2) && !is_denied(0) && !is_denied(1));
    assert_false(htw__trust_is_careful(&kafka));
}

TRUST_TEST(trust_of_several_suspects_each_is_tried_alone) {
    PUBLISH(0);
    commit();
    PUBLISH(0, 1, 2, 3);
    refuse();
    for (size_t i = 0; i < COUNT; i++)
        assert_false(is_denied(i));
    assert_true(htw__trust_is_careful(&kafka));
    PUBLISH(1);
    assert_true(writer->has_unproven);
    commit();
    assert_true(htw__trust_is_careful(&kafka));
    PUBLISH(1, 2);
    refuse();
    assert_true(is_denied(2) && !is_denied(1));
    assert_false(htw__trust_is_careful(&kafka)); /* it is found */
}

TRUST_TEST(trust_is_lost_when_rights_change) {
    PUBLISH(0, 1);
    commit();
    PUBLISH(0, 1);
    refuse();
    assert_true(htw__trust_is_careful(&kafka));
    PUBLISH(0);
    refuse();
    PUBLISH(1);
    commit();
    assert_true(is_denied(0) && !is_denied(1));
}

TRUST_TEST(trust_other_failures_do_not_count) {
    PUBLISH(0, 1);
    htw__writer_forget(writer, false);
    assert_false(writer->has_unproven);
    PUBLISH(1);
    refuse();
    assert_true(is_denied(1) && !is_denied(0));
}

TRUST_TEST(trust_levels_that_refuse_end_the_relay) {
    publish(NULL, 0);
    refuse();
    assert_true(kafka.has_failed);
}
