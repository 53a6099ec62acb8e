/* SPDX-License-Identifier: MIT */
/* test_waiting.c - pages of what waits: order, filters, records that move meanwhile, cancels and moves. */
#include "../../../src/relay/waiting.h"

#include "../unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct htw__waiting_page page;

static void begin(const struct htw__waiting_filter *filter, size_t limit) {
    static const struct htw__waiting_filter all = { .until_ms = INT64_MAX, .after = { -1, 0, 0 } };
    htw__waiting_page_init(&page, filter != NULL ? filter : &all, limit);
}

/* A record as it is found; `header` and `id` may be NULL. */
static void find_header(uint32_t level, int64_t at_ms, const char *key, const char *value,
                        const char *name, const char *id, const char *more, const char *text) {
    char time[32];
    struct htw__header headers[3];
    struct htw__record record = { .offset = 7, .timestamp_ms = 0, .headers = headers };
    snprintf(time, sizeof(time), "%" PRId64, at_ms);
    headers[record.header_count++] =
        (struct htw__header) { htw__bytes_of("htw-deliver-at"), htw__bytes_of(time) };
    if (id != NULL)
        headers[record.header_count++] =
            (struct htw__header) { htw__bytes_of(name), htw__bytes_of(id) };
    if (more != NULL)
        headers[record.header_count++] =
            (struct htw__header) { htw__bytes_of(more), htw__bytes_of(text) };
    record.key = htw__bytes_of(key);
    record.value = htw__bytes_of(value);
    assert_int_equal(htw__waiting_page_add(&page, (struct htw__source) { 0, level, 0 }, &record),
                     0);
}

static void find(uint32_t level, int64_t at_ms, const char *value, const char *id) {
    find_header(level, at_ms, "key", value, "htw-id", id, NULL, NULL);
}

/* The rows as VALUE, with the level, the copies if there are several, and what becomes of them. */
static const char *rows(void) {
    static char text[1024];
    size_t size = 0;
    text[0] = '\0';
    htw__waiting_page_end(&page);
    for (size_t i = 0; i < page.count; i++) {
        const struct htw__waiting *row = &page.rows[i];
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%.*s/%u",
                                 (int)row->record->value.size,
                                 (const char *)row->record->value.bytes, row->from.level);
        if (row->copies > 1)
            size += (size_t)snprintf(text + size, sizeof(text) - size, "*%u", row->copies);
        if (row->is_cancelled)
            size += (size_t)snprintf(text + size, sizeof(text) - size, "-");
        if (row->moves_to_ms != 0)
            size +=
                (size_t)snprintf(text + size, sizeof(text) - size, ">%" PRId64, row->moves_to_ms);
        size += (size_t)snprintf(text + size, sizeof(text) - size, " ");
    }
    return text;
}

static void finish(void) {
    htw__waiting_page_fini(&page);
}

UNIT_TEST(waiting_rows_come_by_their_time) {
    begin(NULL, 10);
    find(2, 30, "c", NULL);
    find(1, 10, "a", "x");
    find(0, 20, "b", NULL);
    assert_string_equal(rows(), "a/1 b/0 c/2 ");
    assert_int_equal(page.found, 3);
    assert_false(page.has_more);
    finish();
}

/* A thousand in a random order, in pages of seven: each once, in order. */
UNIT_TEST(waiting_pages_together_show_all_once) {
    struct htw__waiting_filter filter = HTW__WAITING_ALL;
    int64_t last_ms = -1;
    unsigned count = 0;
    for (bool has_more = true; has_more;) {
        begin(&filter, 7);
        for (unsigned i = 0; i < 1000; i++) {
            char value[16];
            unsigned number = i * 7919 % 1000;
            snprintf(value, sizeof(value), "%u", number);
            find(1, number / 10, value, NULL); /* ten of each millisecond */
        }
        (void)rows();
        for (size_t i = 0; i < page.count; i++) {
            assert_true(page.rows[i].key.wanted_ms >= last_ms);
            last_ms = page.rows[i].key.wanted_ms;
        }
        count += (unsigned)page.count;
        has_more = page.has_more;
        char text[HTW__WAITING_KEY_SIZE];
        htw__waiting_key_format(&page.last, text);
        assert_true(htw__waiting_key_parse(text, &filter.after));
        assert_true(page.room <= 16);
        finish();
    }
    assert_int_equal(count, 1000);
}

UNIT_TEST(waiting_record_that_moves_down_meanwhile_is_one) {
    begin(NULL, 10);
    find(HTW__RELAY_INPUT, 10, "a", NULL);
    find(3, 10, "a", NULL);
    find(1, 10, "a", NULL);
    assert_string_equal(rows(), "a/1 ");
    finish();
}

UNIT_TEST(waiting_records_that_are_the_same_are_counted) {
    begin(NULL, 10);
    for (int i = 0; i < 3; i++)
        find(3, 10, "a", NULL);
    find(1, 10, "a", NULL); /* one of the three has moved */
    assert_string_equal(rows(), "a/1*3 ");
    finish();
}

UNIT_TEST(waiting_same_delay_from_input_and_level_is_one) {
    struct htw__header delay = { htw__bytes_of("htw-delay"), htw__bytes_of("10") };
    struct htw__record record = { .timestamp_ms = 5,
                                  .value = htw__bytes_of("a"),
                                  .key = htw__bytes_of("key"),
                                  .headers = &delay,
                                  .header_count = 1 };
    begin(NULL, 10);
    htw__waiting_page_add(&page, (struct htw__source) { 0, HTW__RELAY_INPUT, 0 }, &record);
    find(1, 15, "a", NULL);
    assert_string_equal(rows(), "a/1 ");
    finish();
}

UNIT_TEST(waiting_cancels_and_moves_are_told_with_their_victims) {
    begin(NULL, 10);
    find(1, 10, "a", "one");
    find_header(2, 10, "key", "", "htw-cancel", "one", NULL, NULL);
    find_header(2, 10, "key", "", "htw-move", "two", "htw-move-to", "99");
    find(1, 10, "b", "two");
    find(1, 11, "c", "one"); /* of another time */
    find_header(2, 12, "key", "", "htw-cancel", "none", NULL, NULL);
    const char *text = rows();
    assert_true(strcmp(text, "a/1- b/1>99 c/1 ") == 0 || strcmp(text, "b/1>99 a/1- c/1 ") == 0);
    assert_int_equal(page.found, 3);
    finish();
}

/* The cancel is the last of a page, and its victim the first of the next. */
UNIT_TEST(waiting_cancel_of_the_page_before_counts) {
    struct htw__waiting_filter filter = HTW__WAITING_ALL;
    for (int turn = 0; turn < 2; turn++) {
        begin(&filter, 1);
        find(1, 10, "a", "one");
        find_header(2, 10, "key", "", "htw-cancel", "one", NULL, NULL);
        assert_string_equal(rows(), turn == 0 ? "" : "a/1- ");
        assert_int_equal(page.has_more, turn == 0);
        filter.after = page.last;
        finish();
    }
}

UNIT_TEST(waiting_filters) {
    struct htw__waiting_filter filters[] = { HTW__WAITING_ALL, HTW__WAITING_ALL, HTW__WAITING_ALL,
                                             HTW__WAITING_ALL, HTW__WAITING_ALL, HTW__WAITING_ALL };
    static const char *const wanted[] = { "b/1 c/1 ", "b/1 ", "c/1 ", "a/1 ", "c/1 ", "a/1 " };
    filters[0].from_ms = 11;
    filters[1] = filters[0];
    filters[1].until_ms = 12;
    filters[2].to = "out";
    filters[3].text = "on";
    filters[4].key = "other";
    filters[5].id = "one";
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        begin(&filters[i], 10);
        find(1, 10, "a", "one");
        find(1, 11, "b", NULL);
        find_header(1, 12, "other", "c", "htw-deliver-to", "out", "trace", "on");
        find_header(1, 13, "key", "melon", "htw-deliver-at", "bad", NULL, NULL);
        assert_string_equal(rows(), wanted[i]);
        finish();
    }
}

UNIT_TEST(waiting_record_is_found_by_its_print) {
    struct htw__waiting_filter filter = HTW__WAITING_ALL;
    char id[24];
    begin(NULL, 10);
    find(1, 10, "a", NULL);
    find(1, 10, "b", NULL);
    (void)rows();
    snprintf(id, sizeof(id), "@%016" PRIx64, page.rows[1].key.print);
    char value = *(const char *)page.rows[1].record->value.bytes;
    finish();
    filter.id = id;
    begin(&filter, 10);
    find(1, 10, "a", NULL);
    find(1, 10, "b", NULL);
    assert_int_equal(rows()[0], value);
    assert_int_equal(page.count, 1);
    finish();
}

UNIT_TEST(waiting_letter_waits_for_its_next_try) {
    begin(NULL, 10);
    find_header(1, 10, "key", "a", "htw-retry-at", "50", "htw-reason", "why");
    assert_string_equal(rows(), "a/1 ");
    assert_int_equal(page.rows[0].key.wanted_ms, 50);
    finish();
}

UNIT_TEST(waiting_cursor_that_is_none_is_refused) {
    struct htw__waiting_key key;
    assert_false(htw__waiting_key_parse("", &key));
    assert_false(htw__waiting_key_parse("5.1.2", &key));
    assert_false(htw__waiting_key_parse("5.0000000000000001.0000000000000002 ", &key));
    assert_true(htw__waiting_key_parse("5.0000000000000001.0000000000000002", &key));
}
