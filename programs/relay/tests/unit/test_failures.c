/* SPDX-License-Identifier: MIT */
/* test_failures.c - what goes wrong with one record stops it alone: it becomes a dead letter. */
#include "relay_fixture.h"

#include "support/test_folder.h"

#include <sys/resource.h>

static void begin(void) {
    relay_begin((struct htw__relay_options) { .owner = "owner" });
    relay_take_new_over();
}

/* As after an abort: the same record of the input is taken again. */
static int take(const char *const *words) {
    htw__relay_lose_all(&relay);
    relay_take_new_over();
    return relay_take(relay_record(7, words));
}

#define TAKE(...) take((const char *const[]) { __VA_ARGS__, NULL })

static int take_recurring(const char *zone) {
    return TAKE("htw-cron", "* * * * *", "htw-zone", zone, "htw-id", "a");
}

/* ---- zones */

static char folder[TEST_FOLDER_SIZE];

static void use_zones(void) {
    char path[64];
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/Strange", folder);
    assert_true(test_file_write(path, "no rules of a time zone"));
    setenv("TZDIR", folder, 1);
    begin();
}

static void drop_zones(void) {
    assert_true(test_folder_remove(folder));
    unsetenv("TZDIR");
    relay_end();
}

#define NO_ZONE "htw-zone is not a time zone of the relay's machine"

/* holds: relay-8 */
UNIT_TEST_BETWEEN(use_zones, drop_zones, failure_to_read_a_zone_is_a_dead_letter) {
    static const char *const names[] = { "Strange", "Strange/Inner", "Nowhere", "../etc" };
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(take_recurring(names[i]), 0);
        assert_int_equal(seen.count[TO_DEAD], i + 1);
        assert_string_equal(seen.reason, NO_ZONE);
    }
    assert_int_equal(seen.count[TO_INDEX], 0);
}

/* Its zone was in order when it was filed. */
UNIT_TEST_BETWEEN(use_zones, drop_zones,
                  failure_to_read_the_zone_of_an_occurrence_is_a_dead_letter) {
    const struct htw__relay_record record =
        RELAY_RECORD(3, "htw-deliver-at", "999000", "htw-cron", "* * * * *", "htw-zone", "Strange",
                     "htw-id", "a");
    assert_int_equal(relay_pass_on((struct htw__source) { 0, 0, 2 }, record), 0);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_string_equal(seen.reason, NO_ZONE);
}

/* No memory is lacking, and no broker. */
/* holds: relay-8 */
UNIT_TEST_BETWEEN(use_zones, drop_zones, failure_that_lasts_is_a_dead_letter_after_five_times) {
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int results[HTW__FAILURES_MAX + 1];
    for (unsigned i = 0; i < COUNT_OF(results); i++)
        results[i] = take_recurring("Strange");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (unsigned i = 0; i < HTW__FAILURES_MAX; i++)
        assert_int_equal(results[i], -EMFILE);
    assert_int_equal(results[HTW__FAILURES_MAX], 0);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_string_equal(seen.reason, "the relay failed on it again and again: its log says more");
}

/* ---- the transport */

RELAY_TEST(failure_is_counted_unless_memory_or_the_transport_lacks) {
    static const struct {
        int error;
        unsigned times;
    } cases[] = { { -ENOMEM, 0 }, { -EAGAIN, 0 }, { -EIO, HTW__FAILURES_MAX } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        seen.errors[TO_TOPIC] = cases[i].error;
        for (unsigned j = 1; j <= HTW__FAILURES_MAX; j++) {
            assert_int_equal(TAKE("htw-delay", "0"), cases[i].error);
            assert_int_equal(relay.failure.times, cases[i].times == 0 ? 0 : j);
        }
        assert_int_equal(TAKE("htw-delay", "0"), cases[i].times == 0 ? cases[i].error : 0);
        assert_int_equal(seen.count[TO_DEAD], cases[i].times == 0 ? 0 : 1);
    }
}

/* Failures of which each was followed by a success are no reason to give a record up. */
RELAY_TEST(failure_is_forgotten_when_the_record_is_committed) {
    begin();
    seen.errors[TO_TOPIC] = -EIO;
    for (unsigned i = 1; i < HTW__FAILURES_MAX; i++)
        assert_int_equal(TAKE("htw-delay", "0"), -EIO);
    seen.errors[TO_TOPIC] = 0;
    assert_int_equal(TAKE("htw-delay", "0"), 0);
    assert_int_equal(seen.count[TO_TOPIC], 1);
    assert_int_equal(relay.poison_count, 1);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    assert_int_equal(relay.poison_count, 0);
}

RELAY_TEST(failure_of_a_bucket_to_hold_a_large_record_is_a_dead_letter) {
    begin();
    seen.errors[TO_BUCKET] = -EMSGSIZE;
    assert_int_equal(TAKE("htw-delay", "2000", "htw-id", "a"), 0);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_int_equal(seen.count[TO_BUCKET], 0);
    assert_string_equal(seen.reason, "the record is too large for the topics of the relay");
    assert_int_equal(seen.count[TO_INDEX], 1);
    assert_int_equal(seen.count[TO_INDEX_ERASED],
                     1); /* or its id would be taken for one that waits */
}
