/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c - the rows of the tables, below the journal: the places of jobs, the blocks of their ids. (Jobs that are put,
 * moved and removed in any order: model_journal.c, which also checks the tables.)
 */
/* holds: journal-14b */
#include "../../../src/journal/database/blocks.h"
#include "../../../src/journal/database/rows.h"
#include "../../../src/journal/database/statements.h"
#include "../../support/random.h"
#include "../../support/test_folder.h"
#include "../unit.h"

#define BASE_NS (INT64_C(28333333) * HTW_MINUTE)

enum { JOBS_MAX = 4000 };

static char folder[TEST_FOLDER_SIZE], path[64];
static struct htw__journal_path file;
static struct htw__database database;
static struct htw__ids ids;
static uint64_t jobs[JOBS_MAX]; /* their ids */
static size_t job_count;

static void open_database(void) {
    assert_int_equal(htw__journal_path_open(&file, path), 0);
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    if (htw__database_open(&database, &file, &options) != 0)
        fail_msg("%s", htw_journal_error());
    memset(&ids, 0, sizeof(ids));
    ids.next_block = database.next_id;
}

static void close_database(bool is_clean) {
    htw__database_close(&database, is_clean, ids.next_block);
    htw__journal_path_close(&file, true);
}

static void begin(void) {
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/journal", folder);
    job_count = 0;
    open_database();
}

static void end(void) {
    close_database(true);
    assert_true(test_folder_remove(folder));
}

#define ROWS_TEST(name) UNIT_TEST_BETWEEN(begin, end, name)

static void begin_change(void) {
    assert_int_equal(htw__database_begin(&database), 0);
}

static void commit(void) {
    if (htw__database_commit(&database, ids.next_block, false) != 0)
        fail_msg("%s", htw_journal_error());
}

static int64_t number_of(const char *text) {
    struct sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database.sqlite->connection, text, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void insert(int64_t deadline_ns) {
    const struct htw__job_row row = { .deadline_ns = deadline_ns };
    uint64_t id = htw__ids_give(&ids, htw__database_where_put(&row).place);
    if (htw__database_insert(&database, id, &row) != 0)
        fail_msg("%s", htw_journal_error());
    jobs[job_count++] = id;
}

static void remove_from(size_t first) {
    for (size_t i = first; i < job_count; i++)
        assert_int_equal(htw__database_remove(&database, jobs[i]), 0);
}

/* ---- places */

ROWS_TEST(rows_put_for_now_are_ready_and_others_are_delayed) {
    const struct {
        int64_t put_us;
        bool is_to_come;
        enum htw__place_class class;
    } table[] = { { 0, false, HTW__PLACE_DELAYED },
                  { 0, true, HTW__PLACE_DELAYED },
                  { 1, false, HTW__PLACE_READY },
                  { 1, true, HTW__PLACE_DELAYED } };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct htw__job_row row = { .put_us = table[i].put_us,
                                          .is_to_come = table[i].is_to_come };
        assert_int_equal(htw__place_class_of(htw__database_where_put(&row).place), table[i].class);
    }
}

/* ---- blocks */

#define BLOCKS "SELECT count(*) FROM htw_block"

static void insert_many(int count, int places) {
    for (int i = 0; i < count; i++)
        insert(BASE_NS + (i % places) * HTW_MINUTE);
}

/* More blocks become empty in one transaction than the ring has room for. */
ROWS_TEST(rows_of_thousands_of_blocks_go_with_their_jobs) {
    enum { MANY = 3000 };
    begin_change();
    insert_many(MANY, MANY);
    commit();
    assert_int_equal(number_of(BLOCKS), MANY);
    begin_change();
    remove_from(0);
    htw__database_rollback(&database);
    assert_int_equal(number_of(BLOCKS), MANY);
    begin_change();
    remove_from(0);
    commit();
    assert_in_range(number_of(BLOCKS), 0, HTW__BLOCKS_REST);
    close_database(true);
    open_database();
    assert_int_equal(number_of(BLOCKS), 0);
}

/* How many jobs there are, by their places, or an error. */
static int64_t scan(void) {
    struct htw__scan scan = htw__scan_of(0, INT64_MAX);
    struct htw__scan_row rows[8];
    int64_t count = 0, result = 0;
    for (; !scan.is_done && result >= 0; count += result)
        result = htw__database_scan(&database, &scan, rows, COUNT_OF(rows));
    return result < 0 ? result : count;
}

/* Not as many as the ends, however long the journal is open. */
ROWS_TEST(rows_of_blocks_do_not_gather) {
    for (int round = 0; round < 40; round++) {
        begin_change();
        job_count = 0;
        insert_many(100, 100);
        commit();
        begin_change();
        remove_from(0);
        commit();
        close_database(false); /* as after a crash: the ring is forgotten */
        open_database();
        assert_int_equal(scan(), 0); /* and found */
    }
    assert_in_range(number_of(BLOCKS), 0, HTW__BLOCKS_EMPTY);
}

static int looks(void) {
    return sqlite3_stmt_status(database.sqlite->statements[HTW__COUNT_JOBS], SQLITE_STMTSTATUS_RUN,
                               1);
}

/* A look counts jobs of a block; a few are enough for all ends. */
ROWS_TEST(rows_of_blocks_are_rarely_looked_at) {
    enum { BLOCKS_OF_JOBS = 4, JOBS = BLOCKS_OF_JOBS * HTW__BLOCK_IDS };
    for (int is_known = 0; is_known < 2; is_known++) {
        begin_change();
        job_count = 0;
        insert_many(JOBS, BLOCKS_OF_JOBS);
        commit();
        if (!is_known) {
            close_database(true);
            open_database();
        }
        begin_change();
        (void)looks();
        remove_from(0);
        assert_in_range(looks(), BLOCKS_OF_JOBS, (is_known ? 1 : 3) * BLOCKS_OF_JOBS);
        commit();
    }
}

/* Its row is made again with the next job of it. */
ROWS_TEST(rows_of_a_block_that_went_too_early_come_again) {
    enum { OTHERS = 2 * HTW__BLOCKS_EMPTY };
    begin_change();
    insert(BASE_NS - HTW_HOUR);
    commit();
    begin_change();
    assert_int_equal(htw__database_remove(&database, jobs[0]), 0);
    insert_many(OTHERS, OTHERS);
    remove_from(1);
    commit();
    assert_int_equal(
        number_of(
            "SELECT count(*) FROM htw_block WHERE first = (SELECT min(first) FROM htw_block)"),
        1);
    begin_change();
    insert(BASE_NS - HTW_HOUR);
    commit();
    assert_int_equal(jobs[job_count - 1], jobs[0] + 1);
    assert_int_equal(scan(), 1);
}

ROWS_TEST(rows_of_a_block_that_was_empty_stay_with_its_next_job) {
    begin_change();
    insert(BASE_NS);
    remove_from(0);
    insert(BASE_NS);
    commit();
    assert_int_equal(jobs[1], jobs[0] + 1);
    close_database(true); /* which looks for blocks without jobs */
    open_database();
    assert_int_equal(scan(), 1);
}

ROWS_TEST(rows_of_blocks_that_are_damaged_are_refused) {
    assert_int_equal(sqlite3_exec(database.sqlite->connection,
                                  "INSERT INTO htw_block VALUES (5, 300)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(scan(), -EIO);
    assert_true(database.is_distrusted);
    assert_non_null(strstr(htw_journal_error(), "the table of blocks is damaged"));
}

ROWS_TEST(rows_of_a_block_that_was_undone_are_made_again) {
    const struct htw__job_row row = { .deadline_ns = HTW_HOUR, .payload = "" };
    const uint64_t place = htw__database_where_put(&row).place;
    struct htw__scan scan = htw__scan_of(place, place);
    struct htw__scan_row found[4];
    int64_t count = 0;
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_insert(&database, 2 * HTW__BLOCK_IDS, &row), 0);
    htw__database_rollback(&database);
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_insert(&database, 2 * HTW__BLOCK_IDS + 1, &row), 0);
    commit();
    while (!scan.is_done && count == 0)
        count = htw__database_scan(&database, &scan, found, COUNT_OF(found));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].id, 2 * HTW__BLOCK_IDS + 1);
}

ROWS_TEST(rows_keep_large_counters) {
    struct htw__job_row row = { .payload = "" };
    struct htw__whereabouts where = { .place = htw__place_buried(1),
                                      .counters = { 1001, 1002, 1003, 1004, 1005 } };
    const struct htw__whereabouts before = where;
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_insert(&database, HTW__BLOCK_IDS, &row), 0);
    assert_int_equal(htw__database_move(&database, HTW__BLOCK_IDS, &where), 0);
    commit();
    assert_int_equal(htw__database_fetch(&database, HTW__BLOCK_IDS, &row, &where), 0);
    assert_memory_equal(&where.counters, &before.counters, sizeof(where.counters));
    htw__database_fetch_end(&database);
}

ROWS_TEST(rows_of_a_job_in_no_place_are_damaged) {
    struct htw__job_row row = { .payload = "" };
    struct htw__whereabouts where = { .place = htw__place_buried(1) +
                                               (UINT64_C(1) << HTW__PLACE_CLASS_BITS) };
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_insert(&database, HTW__BLOCK_IDS, &row), 0);
    assert_int_equal(htw__database_move(&database, HTW__BLOCK_IDS, &where), 0);
    commit();
    assert_int_equal(htw__database_fetch(&database, HTW__BLOCK_IDS, &row, &where), -EIO);
    assert_true(database.is_distrusted);
}

/* ---- ids: each block has those of one place */

#define FIRST_ID 1024u

static void begin_ids(void) {
    memset(&ids, 0, sizeof(ids));
    ids.next_block = FIRST_ID;
}

/* More places than can be open: a block that was forgotten is not used again, and no id is given twice. */
/* holds: journal-14 */
UNIT_TEST_BETWEEN(begin_ids, NULL, ids_of_many_places_rise_and_are_never_given_twice) {
    enum { PLACES = 20000, GIVEN = 200000 };
    struct random_source source = { 1 };
    uint64_t *last = calloc(PLACES, sizeof(*last));
    uint64_t *place_of_block = calloc(GIVEN + FIRST_ID, sizeof(*place_of_block));
    assert_true(last != NULL && place_of_block != NULL);
    for (int i = 0; i < GIVEN; i++) {
        uint64_t n = random_below(&source, random_one_in(&source, 2) ? 10 : PLACES);
        uint64_t id = htw__ids_give(&ids, htw__place_ready(1, (uint32_t)n));
        uint64_t *owner = &place_of_block[id / HTW__BLOCK_IDS];
        assert_true(id > last[n] && id < ids.next_block);
        assert_true(*owner == 0 || *owner == n + 1);
        *owner = n + 1;
        last[n] = id;
    }
    free(last);
    free(place_of_block);
}

/* The places that are used most stay open, whatever comes between. */
UNIT_TEST_BETWEEN(begin_ids, NULL, ids_of_a_place_in_use_stay_in_its_block) {
    for (uint64_t i = 0; i < HTW__BLOCK_IDS; i++) {
        assert_int_equal(htw__ids_give(&ids, 7) % HTW__BLOCK_IDS, i);
        htw__ids_give(&ids, 1000 + i);
    }
}

UNIT_TEST(place_of_what_is_delayed_is_in_order_of_time_before_all_else) {
    static const int64_t times[] = { INT64_MIN, HTW_MINUTE, HTW_HOUR, HTW_NEVER_NS };
    for (size_t i = 1; i < COUNT_OF(times); i++)
        assert_true(htw__place_delayed(times[i - 1], HTW__QUEUE_MAX) <
                    htw__place_delayed(times[i], 0));
    assert_true(htw__place_delayed(HTW_NEVER_NS, UINT32_MAX) < htw__place_ready(0, 0));
    assert_true(htw__place_ready(1, UINT32_MAX) < htw__place_ready(2, 0));
    assert_true(htw__place_ready(HTW__QUEUE_MAX, UINT32_MAX) < htw__place_buried(0));
    assert_true(htw__place_buried(HTW__QUEUE_MAX) <= INT64_MAX);
    assert_int_equal(htw__place_bucket(htw__place_delayed(HTW_HOUR, 5)), 60);
    assert_int_equal(htw__place_priority(htw__place_ready(5, 1234)), 1234);
}
