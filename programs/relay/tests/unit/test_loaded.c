/* SPDX-License-Identifier: MIT */
/* test_loaded.c - a bucket of level 0 in memory: order, cuts and passes, resuming. */
#include "../../src/loaded.h"

#include "unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_MS 1000
#define PLENTY ((size_t)1 << 30)

static struct htw__loaded loaded;

static void begin(int64_t position, struct htw__relay_progress progress, int64_t end) {
    htw__loaded_init(&loaded, END_MS, position, &progress, end);
}

static void finish(void) {
    htw__loaded_fini(&loaded);
}

/* Whether it leaves at once. */
static bool arrive(int64_t offset, int64_t deadline_ms, size_t bytes_max) {
    struct htw__relay_record record = { .offset = offset, .key = htw__bytes_of("key") };
    const struct htw__request request = { .deadline_ms = deadline_ms };
    return htw__loaded_add(&loaded, &record, &request, bytes_max);
}

static void add(int64_t offset, int64_t deadline_ms) {
    assert_false(arrive(offset, deadline_ms, PLENTY));
}

/* Time passes: what leaves, as offsets in order. */
static const char *leave_until(int64_t now_ms) {
    static char text[256];
    struct htw__entry *entry;
    size_t size = 0;
    text[0] = '\0';
    while ((entry = htw__loaded_leave(&loaded, now_ms)) != NULL) {
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%" PRId64 " ", entry->offset);
        free(entry);
    }
    return text;
}

/* holds: relay-4 */
UNIT_TEST(loaded_records_leave_by_deadline_and_then_offset) {
    begin(0, HTW__PROGRESS_NONE(0), 4);
    add(0, 30);
    add(1, 10);
    add(2, 30);
    add(3, 20);
    assert_string_equal(leave_until(9), "");
    assert_int_equal(htw__loaded_next(&loaded), 10);
    assert_int_equal(htw__loaded_overdue(&loaded, 25), 2);
    assert_string_equal(leave_until(25), "1 3 ");
    assert_string_equal(leave_until(30), "0 2 ");
    assert_true(htw__loaded_is_empty(&loaded));
    finish();
}

UNIT_TEST(loaded_nothing_leaves_before_all_is_read) {
    begin(0, HTW__PROGRESS_NONE(0), 3);
    add(0, 30);
    assert_string_equal(leave_until(100), "");
    add(1, 10);
    assert_false(htw__loaded_is_empty(&loaded));
    assert_int_equal(htw__loaded_next(&loaded), INT64_MAX);
    htw__loaded_reach(&loaded, 3); /* offset 2 was a marker */
    assert_string_equal(leave_until(100), "1 0 ");
    finish();
}

UNIT_TEST(loaded_late_record_leaves_at_once) {
    begin(0, HTW__PROGRESS_NONE(0), 0);
    add(0, 50);
    assert_string_equal(leave_until(60), "0 ");
    assert_true(arrive(1, 40, PLENTY));
    assert_int_equal(loaded.progress.read_end, 2);
    assert_true(htw__progress_covers(&loaded.progress, 40, 1));
    finish();
}

/* holds: relay-4 */
UNIT_TEST(loaded_resumes_where_another_has_stopped) {
    struct htw__relay_progress progress = { 3, 20, 0, END_MS };
    begin(0, progress, 5);
    add(0, 20); /* done */
    add(1, 30);
    add(2, 10); /* done */
    assert_string_equal(leave_until(5), "");
    assert_true(arrive(3, 10, PLENTY)); /* came later */
    add(4, 20);
    assert_string_equal(leave_until(40), "4 1 ");
    finish();
}

UNIT_TEST(loaded_record_of_another_turn_leaves_at_the_end) {
    begin(0, HTW__PROGRESS_NONE(0), 0);
    add(0, 5000);
    assert_string_equal(leave_until(END_MS - 1), "");
    assert_string_equal(leave_until(END_MS), "0 ");
    finish();
}

/* Delivers a bucket of records in passes, as the relay does. */
static void deliver_in_passes(const int64_t *deadlines, size_t count, const char *wanted,
                              size_t bytes_max) {
    char all[512] = "";
    int passes = 1;
    begin(0, HTW__PROGRESS_NONE(0), (int64_t)count);
    for (;;) {
        for (size_t i = 0; i < count; i++)
            assert_false(arrive((int64_t)i, deadlines[i], bytes_max));
        strcat(all, leave_until(END_MS));
        assert_true(htw__loaded_is_empty(&loaded));
        if (!loaded.is_cut)
            break;
        passes++;
        htw__loaded_begin_pass(&loaded, 0);
    }
    assert_string_equal(all, wanted);
    assert_true(passes > 1);
    finish();
}

/* holds: relay-6 */
UNIT_TEST(loaded_too_large_leaves_in_passes) {
    static const int64_t deadlines[] = { 90, 10, 80, 20, 70, 30, 60, 40, 50, 55 };
    deliver_in_passes(deadlines, COUNT_OF(deadlines), "1 3 5 7 8 9 6 4 2 0 ", 1000);
}

/* holds: relay-6 */
UNIT_TEST(loaded_too_large_in_one_millisecond_leaves_in_passes) {
    static const int64_t deadlines[] = { 50, 50, 50, 50, 50, 50, 50, 50 };
    deliver_in_passes(deadlines, COUNT_OF(deadlines), "0 1 2 3 4 5 6 7 ", 1000);
}
