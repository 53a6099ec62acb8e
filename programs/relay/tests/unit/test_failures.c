/* SPDX-License-Identifier: MIT */
/* test_failures.c - what goes wrong with one record stops it alone: it becomes a dead letter. */
#include "relay_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int
    errors[3]; /* of what goes to a topic, to a bucket, and to the index; of no dead letter */
static unsigned letters, delivered, filed, entered, erased;
static char reason[128];

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    (void)transport;
    if (outgoing->is_letter) {
        const struct htw__header *last =
            &outgoing->record.headers[outgoing->record.header_count - 1]; /* htw-reason */
        letters++;
        snprintf(reason, sizeof(reason), "%.*s", (int)last->value.size,
                 (const char *)last->value.bytes);
        return 0;
    }
    bool is_entry = outgoing->topic == NULL && outgoing->bucket.level == HTW__RELAY_IDS;
    int error = errors[outgoing->topic != NULL ? 0 : is_entry ? 2 : 1];
    delivered += error == 0 && outgoing->topic != NULL;
    filed += error == 0 && outgoing->topic == NULL && !is_entry;
    entered += error == 0 && is_entry && outgoing->record.value.bytes != NULL;
    erased += error == 0 && is_entry && outgoing->record.value.bytes == NULL;
    return error;
}

static struct htw__transport transport = { publish, nothing_is_expected, nothing_is_opened,
                                           nothing_is_closed };

static void begin(void) {
    static const char *const patterns[] = { "*" };
    const struct htw__found nothing = { -1, { NULL, 0 }, 0, 0 };
    memset(errors, 0, sizeof(errors));
    letters = delivered = filed = entered = erased = 0;
    reason[0] = '\0';
    relay_begin(
        (struct htw__relay_options) {
            .destinations = { .patterns = patterns, .pattern_count = 1, .default_topic = "out" },
            .dead_letters = "dead",
            .retry_ms = 2500,
            .owner = "owner",
            .max_memory = 1 << 20 },
        &transport);
    relay_take_over(nothing, NOW_MS, nothing, 0);
}

/* As after an abort: the same record of the input is taken again. */
static int take(const struct htw__header *headers, size_t count) {
    const struct htw__relay_record record = { .offset = 7,
                                              .timestamp_ms = NOW_MS,
                                              .key = htw__bytes_of("key"),
                                              .value = htw__bytes_of("value"),
                                              .headers = headers,
                                              .header_count = count };
    const struct htw__found nothing = { -1, { NULL, 0 }, 0, 0 };
    htw__relay_lose_all(&relay);
    relay_take_over(nothing, NOW_MS, nothing, 0);
    return htw__relay_take(&relay, of_input, &record);
}

static int take_due(void) {
    const struct htw__header headers[] = { { htw__bytes_of("htw-delay"), htw__bytes_of("0") } };
    return take(headers, 1);
}

static int take_waiting(void) {
    const struct htw__header headers[] = { { htw__bytes_of("htw-delay"), htw__bytes_of("2000") },
                                           { htw__bytes_of("htw-id"), htw__bytes_of("a") } };
    return take(headers, 2);
}

static int take_recurring(const char *zone) {
    const struct htw__header headers[] = { { htw__bytes_of("htw-cron"),
                                             htw__bytes_of("* * * * *") },
                                           { htw__bytes_of("htw-zone"), htw__bytes_of(zone) },
                                           { htw__bytes_of("htw-id"), htw__bytes_of("a") } };
    return take(headers, 3);
}

/* ---- zones */

#define FOLDER "/tmp/htw-zones-XXXXXX"

static char folder[sizeof(FOLDER)];

static void use_zones(void) {
    char path[64];
    strcpy(folder, FOLDER);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/Strange", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no rules of a time zone", file);
    assert_int_equal(fclose(file), 0);
    setenv("TZDIR", folder, 1);
    begin();
}

static void drop_zones(void) {
    char path[64];
    snprintf(path, sizeof(path), "%s/Strange", folder);
    unlink(path);
    rmdir(folder);
    unsetenv("TZDIR");
    relay_end();
}

#define NO_ZONE "htw-zone is not a time zone of the relay's machine"

/* holds: relay-8 */
UNIT_TEST_BETWEEN(use_zones, drop_zones, failure_to_read_a_zone_is_a_dead_letter) {
    static const char *const names[] = { "Strange", "Strange/Inner", "Nowhere", "../etc" };
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(take_recurring(names[i]), 0);
        assert_int_equal(letters, i + 1);
        assert_string_equal(reason, NO_ZONE);
    }
    assert_int_equal(entered, 0);
}

/* Its zone was in order when it was filed. */
UNIT_TEST_BETWEEN(use_zones, drop_zones,
                  failure_to_read_the_zone_of_an_occurrence_is_a_dead_letter) {
    const struct htw__header headers[] = {
        { htw__bytes_of("htw-deliver-at"), htw__bytes_of("999000") },
        { htw__bytes_of("htw-cron"), htw__bytes_of("* * * * *") },
        { htw__bytes_of("htw-zone"), htw__bytes_of("Strange") },
        { htw__bytes_of("htw-id"), htw__bytes_of("a") },
    };
    const struct htw__relay_record record = { .offset = 3, .headers = headers, .header_count = 4 };
    assert_int_equal(relay_pass_on((struct htw__source) { 0, 0, 2 }, &record), 0);
    assert_int_equal(letters, 1);
    assert_string_equal(reason, NO_ZONE);
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
    assert_int_equal(letters, 1);
    assert_string_equal(reason, "the relay failed on it again and again: its log says more");
}

/* ---- the transport */

RELAY_TEST(failure_is_counted_unless_memory_or_the_transport_lacks) {
    static const struct {
        int error;
        unsigned times;
    } cases[] = { { -ENOMEM, 0 }, { -EAGAIN, 0 }, { -EIO, HTW__FAILURES_MAX } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        errors[0] = cases[i].error;
        for (unsigned j = 1; j <= HTW__FAILURES_MAX; j++) {
            assert_int_equal(take_due(), cases[i].error);
            assert_int_equal(relay.failure.times, cases[i].times == 0 ? 0 : j);
        }
        assert_int_equal(take_due(), cases[i].times == 0 ? cases[i].error : 0);
        assert_int_equal(letters, cases[i].times == 0 ? 0 : 1);
    }
}

/* Failures of which each was followed by a success are no reason to give a record up. */
RELAY_TEST(failure_is_forgotten_when_the_record_is_committed) {
    begin();
    errors[0] = -EIO;
    for (unsigned i = 1; i < HTW__FAILURES_MAX; i++)
        assert_int_equal(take_due(), -EIO);
    errors[0] = 0;
    assert_int_equal(take_due(), 0);
    assert_int_equal(delivered, 1);
    assert_int_equal(relay.poison_count, 1);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    assert_int_equal(relay.poison_count, 0);
}

/* What a topic answers later: the next occurrence is not to blame. */
RELAY_TEST(failure_of_a_topic_is_a_dead_letter_after_five_times) {
    const struct htw__refusal refusal = { .from = of_input, .offset = 7, .reason = "it said no" };
    begin();
    for (unsigned i = 1; i <= HTW__FAILURES_MAX; i++) {
        assert_int_equal(take_due(), 0);
        assert_int_equal(delivered, i);
        assert_true(htw__relay_failed(&relay, &refusal));
    }
    assert_int_equal(take_due(), 0);
    assert_int_equal(letters, 1);
    assert_string_equal(reason, "it said no");
}

RELAY_TEST(failure_of_a_bucket_to_hold_a_large_record_is_a_dead_letter) {
    begin();
    errors[1] = -EMSGSIZE;
    assert_int_equal(take_waiting(), 0);
    assert_int_equal(letters, 1);
    assert_int_equal(filed, 0);
    assert_string_equal(reason, "the record is too large for the topics of the relay");
    assert_int_equal(entered, 1);
    assert_int_equal(erased, 1); /* or its id would be taken for one that waits */
}
