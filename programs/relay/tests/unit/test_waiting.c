/* SPDX-License-Identifier: MIT */
/* test_waiting.c - pages of what waits: order, records that move meanwhile, cancels and moves. */
#include "../../src/waiting.h"

#include "unit/unit.h"

#include <inttypes.h>

static struct htw__waiting_page page;

static void begin(const struct htw__waiting_filter *filter, size_t limit) {
    static const struct htw__waiting_filter all = { .until_ms = INT64_MAX, .after = { -1, 0 } };
    htw__waiting_page_init(&page, filter != NULL ? filter : &all, limit);
}

static void add(struct htw__source from, const struct htw__relay_record *record) {
    struct htw__relay_request request;
    (void)htw__request_parse(record, &request);
    htw__waiting_page_add(&page, from, record, &request);
}

/* A record with these headers, NAME, VALUE, ..., NULL. */
static void find_record(uint32_t level, int64_t offset, const char *key, const char *value,
                        const char *const *words) {
    struct htw__header headers[3];
    struct htw__relay_record record = { .offset = offset,
                                        .key = htw__bytes_of(key),
                                        .value = htw__bytes_of(value),
                                        .headers = headers };
    for (; *words != NULL; words += 2)
        headers[record.header_count++] =
            (struct htw__header) { htw__bytes_of(words[0]), htw__bytes_of(words[1]) };
    add((struct htw__source) { 0, level, 0 }, &record);
}

/* As it is found in a level, with up to two headers besides its time. */
static void find_header(uint32_t level, int64_t at_ms, const char *key, const char *value,
                        const char *name, const char *text, const char *more, const char *other) {
    char time[32];
    const char *const words[] = {
        "htw-deliver-at", time, text == NULL ? NULL : name, text, more, other, NULL
    };
    snprintf(time, sizeof(time), "%" PRId64, at_ms);
    find_record(level, 7, key, value, words);
}

static void find(uint32_t level, int64_t at_ms, const char *value, const char *id) {
    find_header(level, at_ms, "key", value, "htw-id", id, NULL, NULL);
}

/* The rows as VALUE/LEVEL. */
static const char *rows(void) {
    static char text[1024];
    size_t size = 0;
    text[0] = '\0';
    htw__waiting_page_end(&page);
    for (size_t i = 0; i < page.count; i++) {
        const struct htw__waiting *row = &page.rows[i];
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%.*s/%u ",
                                 (int)row->record->value.size,
                                 (const char *)row->record->value.bytes, row->from.level);
    }
    return text;
}

static void finish(void) {
    htw__waiting_page_fini(&page);
}

/* A thousand in a random order, in pages of seven: each once, in order. */
/* holds: relay-16 */
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

/* holds: relay-16 */
UNIT_TEST(waiting_page_is_full_of_what_nothing_can_come_before) {
    begin(NULL, 2);
    find(1, 10, "a", NULL);
    assert_false(htw__waiting_page_is_full(&page, 100));
    find(1, 30, "c", NULL);
    assert_false(htw__waiting_page_is_full(&page, 30)); /* another one may be due before 30 */
    find(1, 20, "b", NULL);
    assert_true(htw__waiting_page_is_full(&page, 30));
    assert_string_equal(rows(), "a/1 b/1 ");
    assert_true(page.has_more);
    finish();
}

/* Sixty-four of 1 MiB, with a limit that would have them all. */
UNIT_TEST(waiting_page_of_large_records_is_short) {
    static char value[(1 << 20) + 1];
    struct htw__waiting_filter filter = HTW__WAITING_ALL;
    const size_t most = 2 * HTW__WAITING_PAGE_BYTES + 2 * sizeof(value);
    int64_t next_ms = 0;
    memset(value, 'x', sizeof(value) - 1);
    for (bool has_more = true; has_more;) {
        begin(&filter, 1000);
        for (int64_t i = 0; i < 64; i++) {
            find(1, i * 13 % 64, value, NULL);
            assert_true(page.bytes <= most);
        }
        htw__waiting_page_end(&page);
        assert_in_range(page.count, page.has_more ? 2 : 1,
                        HTW__WAITING_PAGE_BYTES / (sizeof(value) - 1));
        for (size_t i = 0; i < page.count; i++)
            assert_int_equal(page.rows[i].key.wanted_ms, next_ms++);
        has_more = page.has_more;
        filter.after = page.last;
        finish();
    }
    assert_int_equal(next_ms, 64);
}

/* holds: relay-16 */
UNIT_TEST(waiting_record_that_moves_down_meanwhile_is_one) {
    begin(NULL, 10);
    find(HTW__RELAY_INPUT, 10, "a", NULL);
    find(3, 10, "a", NULL);
    find(1, 10, "a", NULL);
    assert_string_equal(rows(), "a/1 ");
    finish();
}

UNIT_TEST(waiting_records_that_are_the_same_are_one) {
    begin(NULL, 10);
    find_record(HTW__RELAY_INPUT, 20, "key", "a",
                (const char *const[]) { "htw-deliver-at", "10", "htw-id", "one", NULL });
    find_record(HTW__RELAY_INPUT, 21, "key", "a",
                (const char *const[]) { "htw-deliver-at", "10", "htw-id", "one", NULL });
    htw__waiting_page_end(&page);
    assert_int_equal(page.count, 1);
    assert_int_equal(page.rows[0].record->offset, 21); /* the other one is replaced */
    finish();
}

UNIT_TEST(waiting_same_delay_from_input_and_level_is_one) {
    begin(NULL, 10);
    find_record(HTW__RELAY_INPUT, 7, "key", "a", (const char *const[]) { "htw-delay", "15", NULL });
    find(1, 15, "a", NULL);
    assert_string_equal(rows(), "a/1 ");
    finish();
}

/* An entry of the index, for the id in a stripe. */
static void find_entry(uint32_t stripe, const char *id, int64_t offset) {
    unsigned char key[8], value[16] = { 0 };
    uint64_t hash = htw__ids_hash(htw__bytes_of("key"), htw__bytes_of(id));
    for (size_t i = 0; i < 8; i++)
        key[i] = (unsigned char)(hash >> (56 - 8 * i));
    value[7] = (unsigned char)offset;
    struct htw__relay_record record = { .key = { key, 8 },
                                        .value = { value, offset < 0 ? 0 : 16 } };
    if (offset < 0)
        record.value.bytes = NULL;
    const struct htw__source from = { stripe, HTW__RELAY_IDS, 0 };
    add(from, &record);
}

/* holds: relay-16 */
UNIT_TEST(waiting_is_what_the_index_leads_to) {
    begin(NULL, 10);
    find_entry(0, "one", 4);
    find_entry(0, "one", 5);
    find_entry(0, "two", 6);
    find_entry(0, "two", -1);
    find_entry(1, "two", 7); /* of another stripe */
    find_header(1, 10, "key", "a", "htw-id", "one", "htw-offset", "4");
    find_header(1, 11, "key", "b", "htw-id", "one", "htw-offset", "5");
    find_header(1, 12, "key", "c", "htw-id", "two", "htw-offset", "6");
    find_header(1, 13, "key", "d", "htw-id", "two", "htw-offset", "7");
    find(1, 14, "e", "two"); /* a stranger has put it there */
    assert_string_equal(rows(), "b/1 e/1 ");
    assert_int_equal(page.found, 2);
    finish();
}

static void find_input(int64_t offset, const char *value, const char *name, const char *id,
                       const char *more, const char *text) {
    const char *const words[] = { "htw-deliver-at", "10", name, id, more, text, NULL };
    find_record(HTW__RELAY_INPUT, offset, "key", value, words);
}

/* holds: relay-16 */
UNIT_TEST(waiting_input_changes_what_the_index_leads_to) {
    begin(NULL, 10);
    find_entry(0, "one", 4);
    find_entry(0, "two", 5);
    find_entry(0, "three", 6);
    find_input(20, "", "htw-cancel", "one", NULL, NULL);
    find_record(HTW__RELAY_INPUT, 20, "key", "question",
                (const char *const[]) { "htw-ask", "1", "htw-id", "three", NULL });
    find_input(21, "first", "htw-id", "two", NULL, NULL);
    find_input(22, "late", "htw-id", "two", "htw-if-offset", "5");
    find_input(23, "second", "htw-id", "two", "htw-if-offset", "21");
    find_header(1, 10, "key", "a", "htw-id", "one", "htw-offset", "4");
    find_header(1, 11, "key", "b", "htw-id", "two", "htw-offset", "5");
    find_header(1, 12, "key", "c", "htw-id", "three", "htw-offset", "6");
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "second/%u c/1 ", HTW__RELAY_INPUT);
    assert_string_equal(rows(), wanted);
    finish();
}

UNIT_TEST(waiting_letter_waits_for_its_next_try) {
    begin(NULL, 10);
    find_header(1, 10, "key", "a", "htw-retry-at", "50", "htw-reason", "why");
    assert_string_equal(rows(), "a/1 ");
    assert_int_equal(page.rows[0].key.wanted_ms, 50);
    finish();
}
