/* SPDX-License-Identifier: MIT */
/* test_loaded.c - a bucket of level 0 in memory: order and passes. The model has the rest. */
#include "../../src/loaded.h"

#include "unit/unit.h"

#include <inttypes.h>

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
    const struct htw__relay_request request = { .deadline_ms = deadline_ms };
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

UNIT_TEST(loaded_record_of_another_turn_leaves_at_the_end) {
    begin(0, HTW__PROGRESS_NONE(0), 0);
    add(0, 5000);
    assert_string_equal(leave_until(END_MS - 1), "");
    assert_string_equal(leave_until(END_MS), "0 ");
    finish();
}

/* holds: relay-6 */
UNIT_TEST(loaded_too_large_leaves_in_passes) {
    static const int64_t deadlines[] = { 90, 10, 80, 20, 50, 50, 50, 40, 30, 55 };
    char all[512] = "";
    int passes = 1;
    begin(0, HTW__PROGRESS_NONE(0), COUNT_OF(deadlines));
    for (;; passes++) {
        for (size_t i = 0; i < COUNT_OF(deadlines); i++)
            assert_false(arrive((int64_t)i, deadlines[i], 1000));
        strcat(all, leave_until(END_MS));
        assert_true(htw__loaded_is_empty(&loaded));
        if (!loaded.is_cut)
            break;
        htw__loaded_begin_pass(&loaded, 0);
    }
    assert_string_equal(all, "1 3 8 7 4 5 6 9 2 0 ");
    assert_true(passes > 1);
    finish();
}
