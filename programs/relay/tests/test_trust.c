/* SPDX-License-Identifier: MIT */
/* test_trust.c - how the relay finds the destination that has failed a transaction. No broker. */
#include "../src/directory.h"

#include "unit/unit.h"

#include <errno.h>

#define COUNT 4

static struct htw__directory directory;
static struct htw__destination *destinations[COUNT];
static bool levels_refuse;

static void set_up(void) {
    htw__directory_init(&directory);
    for (size_t i = 0; i < COUNT; i++) {
        char name[8];
        snprintf(name, sizeof(name), "t%zu", i);
        destinations[i] = htw__directory_add(&directory, name, 1);
    }
}

static void tear_down(void) {
    htw__directory_fini(&directory);
}

#define TRUST_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

/* A record for each of these is in the transaction of DELIVER. */
static void publish(const size_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        htw__trust_note(&directory, destinations[numbers[i]], HTW__CHANNEL_DELIVER);
}

#define PUBLISH(...) \
    publish((const size_t[]) { __VA_ARGS__ }, COUNT_OF(((const size_t[]) { __VA_ARGS__ })))

static void commit(void) {
    htw__trust_committed(&directory, HTW__CHANNEL_DELIVER);
}

static void refuse(void) {
    (void)htw__trust_refused(&directory, HTW__CHANNEL_DELIVER, &levels_refuse);
    htw__trust_aborted(&directory, HTW__CHANNEL_DELIVER);
}

TRUST_TEST(trust_only_destination_that_is_not_proven_is_denied) {
    PUBLISH(0, 1);
    commit();
    PUBLISH(0, 1, 2);
    assert_int_equal(directory.unproven[HTW__CHANNEL_DELIVER], 1);
    refuse();
    assert_int_equal(destinations[2]->partitions, -EACCES);
    assert_int_equal(destinations[0]->partitions, 1);
    assert_int_equal(destinations[1]->partitions, 1);
    assert_false(htw__trust_is_careful(&directory));
}

TRUST_TEST(trust_of_several_suspects_each_is_tried_alone) {
    PUBLISH(0);
    commit();
    PUBLISH(0, 1, 2, 3);
    refuse();
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(destinations[i]->partitions, 1);
    assert_true(htw__trust_is_careful(&directory));
    PUBLISH(1);
    assert_int_equal(directory.unproven[HTW__CHANNEL_DELIVER], 1);
    commit();
    PUBLISH(1, 2);
    refuse();
    assert_int_equal(destinations[2]->partitions, -EACCES);
    assert_true(htw__trust_is_careful(&directory)); /* one is left */
    PUBLISH(3);
    commit();
    assert_false(htw__trust_is_careful(&directory));
    assert_int_equal(destinations[3]->trust, HTW__TRUST_PROVEN);
}

TRUST_TEST(trust_is_lost_when_rights_change) {
    PUBLISH(0, 1);
    commit();
    PUBLISH(0, 1);
    refuse();
    assert_true(htw__trust_is_careful(&directory));
    PUBLISH(0);
    refuse();
    PUBLISH(1);
    commit();
    assert_int_equal(destinations[0]->partitions, -EACCES);
    assert_int_equal(destinations[1]->partitions, 1);
}

TRUST_TEST(trust_channels_and_other_failures_do_not_count) {
    htw__trust_note(&directory, destinations[0], HTW__CHANNEL_FILE);
    PUBLISH(1);
    htw__trust_aborted(&directory, HTW__CHANNEL_FILE);
    refuse();
    assert_int_equal(destinations[0]->trust, HTW__TRUST_UNKNOWN);
    assert_int_equal(destinations[1]->partitions, -EACCES);
    assert_int_equal(directory.unproven[HTW__CHANNEL_FILE], 0);
    assert_int_equal(directory.unproven[HTW__CHANNEL_DELIVER], 0);
}

TRUST_TEST(trust_levels_that_refuse_end_the_relay) {
    refuse();
    assert_true(levels_refuse);
}
