/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c - the rows of the tables, below the journal: jobs as they were put, jobs that were moved, the blocks of
 * both, the order of places, queues. Random histories run beside a list.
 */
/* holds: journal-14b */
#include "../../../src/journal/blocks.h"
#include "../../../src/journal/rows.h"
#include "../../support/random.h"
#include "../../support/test_folder.h"
#include "../unit.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_NS (INT64_C(28333333) * HTW_MINUTE)

enum { JOBS_MAX = 4000 };

/* What the database should have. */
struct model_job {
    uint64_t id;
    bool exists, is_moved;
    struct htw__whereabouts where;
    int key; /* 0: none */
};

static char folder[TEST_FOLDER_SIZE], path[64];
static struct htw__journal_path file;
static struct htw__database database;
static struct htw__ids ids;
static struct random_source source;
static struct model_job jobs[JOBS_MAX];
static size_t job_count;
static int64_t last_put_us;

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
    source.state = 1;
    job_count = 0;
    last_put_us = BASE_NS / 1000;
    open_database();
}

static void end(void) {
    close_database(true);
    assert_true(test_folder_remove(folder));
}

#define ROWS_TEST(name) UNIT_TEST_BETWEEN(begin, end, name)

static void commit(void) {
    if (htw__database_commit(&database, ids.next_block, false) != 0)
        fail_msg("%s", htw_journal_error());
}

static int64_t number_of(const char *text) {
    struct sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database.connection, text, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* ---- steps of a history */

static struct htw__job_row random_row(void) {
    struct htw__job_row row = { .payload = "p", .payload_size = 1 };
    row.queue = (uint32_t)random_below(&source, 3);
    row.priority = (uint32_t)random_below(&source, 3);
    row.deadline_ns = BASE_NS + (int64_t)random_below(&source, 4) * HTW_MINUTE +
                      (int64_t)random_below(&source, 5);
    if (row.queue != 0) {
        row.put_us = ++last_put_us;
        if (random_one_in(&source, 2))
            row.deadline_ns = BASE_NS;
    }
    return row;
}

static struct model_job *insert(const struct htw__job_row *row) {
    struct model_job *job = &jobs[job_count++];
    *job = (struct model_job) { .exists = true, .where = htw__database_where_put(row) };
    job->id = htw__ids_give(&ids, job->where.place);
    if (htw__database_insert(&database, job->id, row) != 0)
        fail_msg("%s", htw_journal_error());
    return job;
}

static void remove_one(struct model_job *job) {
    assert_int_equal(htw__database_remove(&database, job->id), job->exists ? 0 : -ENOENT);
    job->exists = false;
}

static struct htw__whereabouts random_where(void) {
    uint32_t queue = (uint32_t)random_below(&source, 3);
    struct htw__whereabouts where = { .rank = (int64_t)random_below(&source, 50),
                                      .priority = (uint32_t)random_below(&source, 3),
                                      .counters.attempts = UINT32_MAX - 1,
                                      .counters.releases = UINT32_MAX - 2,
                                      .counters.timeouts = UINT32_MAX - 3,
                                      .counters.buries = UINT32_MAX - 4,
                                      .counters.kicks = UINT32_MAX };
    where.deadline_ns = BASE_NS + (int64_t)random_below(&source, 4) * HTW_MINUTE;
    switch (random_below(&source, 4)) {
    case 0:
        where.place = htw__place_delayed(where.deadline_ns, queue);
        where.is_leased = random_one_in(&source, 2);
        break;
    case 1:
        where.place = htw__place_ready(queue, where.priority);
        where.rank = last_put_us - (int64_t)random_below(&source, 500);
        break;
    case 2:
        where.place = htw__place_buried(queue);
        break;
    default:
        where.place = htw__place_done(where.deadline_ns, queue);
    }
    return where;
}

static void move_one(struct model_job *job) {
    struct htw__whereabouts where = random_where();
    assert_int_equal(htw__database_move(&database, job->id, &where), job->exists ? 0 : -ENOENT);
    if (job->exists) {
        job->where = where;
        job->is_moved = true;
    }
}

static struct model_job *random_job(void) {
    return &jobs[random_below(&source, job_count)];
}

static void step(void) {
    if (job_count == 0 || (random_one_in(&source, 2) && job_count < JOBS_MAX)) {
        struct htw__job_row row = random_row();
        (void)insert(&row);
    } else if (random_one_in(&source, 2)) {
        remove_one(random_job());
    } else {
        move_one(random_job());
    }
}

/* ---- comparing */

static int compare(const void *a, const void *b) {
    const struct model_job *left = *(const struct model_job *const *)a;
    const struct model_job *right = *(const struct model_job *const *)b;
    if (left->where.place != right->where.place)
        return left->where.place < right->where.place ? -1 : 1;
    /* Of equal ranks those that were not moved come first. */
    if (left->where.rank != right->where.rank)
        return left->where.rank < right->where.rank ? -1 : 1;
    if (left->is_moved != right->is_moved)
        return left->is_moved ? 1 : -1;
    return left->id < right->id ? -1 : 1;
}

static void assert_scanned(uint64_t first, uint64_t last, size_t capacity) {
    static const struct model_job *wanted[JOBS_MAX];
    static struct htw__scan_row rows[HTW__SCAN_MAX];
    struct htw__scan scan = htw__scan_of(first, last);
    size_t count = 0, seen = 0;
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].exists && jobs[i].where.place >= first && jobs[i].where.place <= last)
            wanted[count++] = &jobs[i];
    qsort(wanted, count, sizeof(wanted[0]), compare);
    while (!scan.is_done) {
        int64_t read = htw__database_scan(&database, &scan, rows, capacity);
        assert_in_range(read, 0, capacity);
        for (int64_t i = 0; i < read; i++, seen++) {
            assert_true(seen < count);
            assert_int_equal(rows[i].id, wanted[seen]->id);
            assert_int_equal(rows[i].place, wanted[seen]->where.place);
            assert_int_equal(rows[i].deadline_ns, wanted[seen]->where.deadline_ns);
            assert_int_equal(rows[i].rank, wanted[seen]->where.rank);
        }
    }
    assert_int_equal(seen, count);
}

static void assert_all(void) {
    uint64_t exist = 0, moved = 0;
    for (size_t i = 0; i < job_count; i++) {
        exist += jobs[i].exists;
        moved += jobs[i].exists && jobs[i].is_moved;
    }
    assert_int_equal(database.jobs, exist);
    assert_int_equal(database.moved, moved);
    assert_int_equal(number_of("SELECT count(*) FROM moved"), moved);
    assert_int_equal(number_of("SELECT count(*) FROM moved_place"), moved);
    assert_scanned(0, INT64_MAX, HTW__SCAN_MAX);
    assert_scanned(0, INT64_MAX, 1 + random_below(&source, 20));
    assert_scanned(htw__place_ready(1, 0), htw__place_ready(1, UINT32_MAX), 3);
}

ROWS_TEST(rows_of_random_histories_are_read_in_order) {
    for (int round = 0; round < 60; round++) {
        assert_int_equal(htw__database_begin(&database), 0);
        size_t before = job_count;
        static struct model_job saved[JOBS_MAX];
        memcpy(saved, jobs, sizeof(jobs));
        int64_t saved_put_us = database.last_put_us;
        for (int i = 0; i < 60; i++) {
            static struct model_job at_savepoint[JOBS_MAX];
            size_t count_then = job_count;
            bool is_part = random_one_in(&source, 10);
            memcpy(at_savepoint, jobs, sizeof(jobs));
            if (is_part)
                assert_int_equal(htw__database_savepoint(&database), 0);
            step();
            bool keeps = !is_part || random_one_in(&source, 2);
            if (is_part)
                assert_int_equal(htw__database_savepoint_end(&database, keeps), 0);
            if (!keeps) {
                memcpy(jobs, at_savepoint, sizeof(jobs));
                job_count = count_then;
            }
        }
        if (random_one_in(&source, 4)) {
            htw__database_rollback(&database);
            memcpy(jobs, saved, sizeof(jobs));
            job_count = before;
            assert_int_equal(database.last_put_us, saved_put_us);
        } else {
            commit();
        }
        if (random_one_in(&source, 5)) {
            close_database(random_one_in(&source, 2));
            open_database();
        }
        assert_all();
    }
}

/* ---- a scan beside changes */

ROWS_TEST(rows_are_scanned_once_while_others_come) {
    static unsigned seen[JOBS_MAX];
    enum { BEFORE = 300 };
    assert_int_equal(htw__database_begin(&database), 0);
    for (int i = 0; i < BEFORE; i++) {
        struct htw__job_row row = random_row();
        (void)insert(&row);
    }
    commit();
    struct htw__scan scan = htw__scan_of(0, INT64_MAX);
    while (!scan.is_done) {
        struct htw__scan_row rows[8];
        int64_t count = htw__database_scan(&database, &scan, rows, COUNT_OF(rows));
        assert_in_range(count, 0, COUNT_OF(rows));
        for (int64_t i = 0; i < count; i++)
            for (size_t j = 0; j < job_count; j++)
                seen[j] += jobs[j].id == rows[i].id;
        struct htw__job_row row = random_row();
        assert_int_equal(htw__database_begin(&database), 0);
        struct model_job *job = insert(&row);
        if (random_one_in(&source, 3))
            move_one(job);
        commit();
    }
    for (size_t i = 0; i < job_count; i++)
        assert_in_range(seen[i], i < BEFORE, 1);
}

/* ---- a job */

ROWS_TEST(rows_have_all_that_was_put_and_where_it_is) {
    struct htw__job_row row = { .deadline_ns = BASE_NS + HTW_HOUR,
                                .key = "",
                                .payload = "payload",
                                .payload_size = 7,
                                .queue = HTW__QUEUE_MAX,
                                .priority = UINT32_MAX,
                                .put_us = BASE_NS / 1000,
                                .lease_ns = HTW_DAY };
    struct htw__whereabouts where;
    uint64_t replaced;
    assert_int_equal(htw__database_begin(&database), 0);
    struct model_job *job = insert(&row);
    assert_int_equal(htw__database_take_key(&database, "", 0, job->id, &replaced), 0);
    commit();
    assert_int_equal(database.last_put_us, row.put_us);
    memset(&row, 0, sizeof(row));
    assert_int_equal(htw__database_fetch(&database, job->id, &row, &where), 0);
    assert_int_equal(row.deadline_ns, BASE_NS + HTW_HOUR);
    assert_non_null(row.key);
    assert_int_equal(row.key_size, 0);
    assert_memory_equal(row.payload, "payload", 7);
    assert_int_equal(row.payload_size, 7);
    assert_int_equal(row.queue, HTW__QUEUE_MAX);
    assert_int_equal(row.priority, UINT32_MAX);
    assert_int_equal(row.put_us, BASE_NS / 1000);
    assert_int_equal(row.lease_ns, HTW_DAY);
    htw__database_fetch_end(&database);
    assert_int_equal(where.place, htw__place_delayed(BASE_NS + HTW_HOUR, HTW__QUEUE_MAX));
    assert_int_equal(where.rank, BASE_NS / 1000);
    assert_int_equal(where.priority, UINT32_MAX);
    assert_int_equal(where.counters.attempts, 0);
    assert_int_equal(htw__database_begin(&database), 0);
    move_one(job);
    commit();
    memset(&where, 0, sizeof(where));
    assert_int_equal(htw__database_fetch(&database, job->id, &row, &where), 0);
    htw__database_fetch_end(&database);
    const struct htw__whereabouts *now = &job->where;
    assert_int_equal(where.place, now->place);
    assert_int_equal(where.rank, now->rank);
    assert_int_equal(where.deadline_ns, now->deadline_ns);
    assert_int_equal(where.priority, now->priority);
    assert_int_equal(where.is_leased, now->is_leased);
    assert_int_equal(where.counters.attempts, UINT32_MAX - 1);
    assert_int_equal(where.counters.releases, UINT32_MAX - 2);
    assert_int_equal(where.counters.timeouts, UINT32_MAX - 3);
    assert_int_equal(where.counters.buries, UINT32_MAX - 4);
    assert_int_equal(where.counters.kicks, UINT32_MAX);
    uint64_t id;
    assert_int_equal(htw__database_find_key(&database, "", 0, &id), 0);
    assert_int_equal(id, job->id);
    assert_int_equal(htw__database_find_key(&database, "k", 1, &id), 0);
    assert_int_equal(id, 0);
    assert_int_equal(htw__database_begin(&database), 0);
    remove_one(job);
    commit();
    assert_int_equal(database.keyed, 0);
    assert_int_equal(htw__database_find_key(&database, "", 0, &id), 0);
    assert_int_equal(id, 0);
    assert_int_equal(htw__database_fetch(&database, job->id, &row, &where), -ENOENT);
}

/* A job that was moved is replaced under its key with all that is known of it. */
ROWS_TEST(rows_that_were_moved_are_replaced_under_their_key) {
    struct htw__job_row row = { .deadline_ns = BASE_NS, .key = "k", .key_size = 1 };
    uint64_t replaced;
    assert_int_equal(htw__database_begin(&database), 0);
    struct model_job *first = insert(&row);
    assert_int_equal(htw__database_take_key(&database, "k", 1, first->id, &replaced), 0);
    assert_int_equal(replaced, 0);
    move_one(first);
    struct model_job *second = insert(&row);
    assert_int_equal(htw__database_take_key(&database, "k", 1, second->id, &replaced), 0);
    assert_int_equal(replaced, first->id);
    first->exists = false;
    commit();
    assert_int_equal(database.keyed, 1);
    assert_all();
}

ROWS_TEST(rows_put_for_now_are_ready_and_others_are_delayed) {
    const struct {
        int64_t deadline_ns, put_us;
        enum htw__place_class class;
    } table[] = {
        { BASE_NS, 0, HTW__PLACE_DELAYED },
        { INT64_MIN, 0, HTW__PLACE_DELAYED },
        { BASE_NS, BASE_NS / 1000, HTW__PLACE_READY },
        { BASE_NS + 999, BASE_NS / 1000, HTW__PLACE_READY },
        { BASE_NS + 1000, BASE_NS / 1000, HTW__PLACE_DELAYED },
        { INT64_MIN, 1, HTW__PLACE_READY },
        { HTW_NEVER_NS, INT64_MAX / 1000, HTW__PLACE_READY },
        { HTW_NEVER_NS, BASE_NS / 1000, HTW__PLACE_DELAYED },
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct htw__job_row row = { .deadline_ns = table[i].deadline_ns,
                                          .put_us = table[i].put_us };
        assert_int_equal(htw__place_class_of(htw__database_where_put(&row).place), table[i].class);
    }
}

/* ---- blocks */

#define BLOCKS "SELECT count(*) FROM block"

static void insert_many(int count, int places) {
    for (int i = 0; i < count; i++) {
        const struct htw__job_row row = { .deadline_ns = BASE_NS + (i % places) * HTW_MINUTE };
        (void)insert(&row);
    }
}

ROWS_TEST(rows_of_blocks_go_with_their_last_job) {
    assert_int_equal(htw__database_begin(&database), 0);
    insert_many(600, 1);
    commit();
    assert_int_equal(number_of(BLOCKS), 3);
    assert_int_equal(htw__database_begin(&database), 0);
    for (size_t i = 0; i < job_count; i++)
        if (i != 300)
            remove_one(&jobs[i]);
    commit();
    close_database(true);
    open_database();
    assert_int_equal(number_of(BLOCKS), 1);
    assert_all();
}

/* More blocks become empty in one transaction than the ring has room for. */
ROWS_TEST(rows_of_thousands_of_blocks_go_with_their_jobs) {
    enum { MANY = 3000 };
    assert_int_equal(htw__database_begin(&database), 0);
    insert_many(MANY, MANY);
    commit();
    assert_int_equal(number_of(BLOCKS), MANY);
    assert_int_equal(htw__database_begin(&database), 0);
    for (size_t i = 0; i < MANY; i++)
        remove_one(&jobs[i]);
    htw__database_rollback(&database);
    for (size_t i = 0; i < MANY; i++)
        jobs[i].exists = true;
    assert_int_equal(number_of(BLOCKS), MANY);
    assert_int_equal(htw__database_begin(&database), 0);
    for (size_t i = 0; i < MANY; i++)
        remove_one(&jobs[i]);
    commit();
    assert_in_range(number_of(BLOCKS), 0, HTW__BLOCKS_REST);
    close_database(true);
    open_database();
    assert_int_equal(number_of(BLOCKS), 0);
}

/* Not as many as the ends, however long the journal is open. */
ROWS_TEST(rows_of_blocks_do_not_gather) {
    for (int round = 0; round < 40; round++) {
        assert_int_equal(htw__database_begin(&database), 0);
        job_count = 0;
        insert_many(100, 100);
        commit();
        assert_int_equal(htw__database_begin(&database), 0);
        for (size_t i = 0; i < job_count; i++)
            remove_one(&jobs[i]);
        commit();
        close_database(false); /* as after a crash: the ring is forgotten */
        open_database();
        assert_scanned(0, INT64_MAX, 10); /* and found */
    }
    assert_in_range(number_of(BLOCKS), 0, HTW__BLOCKS_EMPTY);
}

ROWS_TEST(rows_of_blocks_go_when_all_their_jobs_were_moved) {
    assert_int_equal(htw__database_begin(&database), 0);
    insert_many(300, 1);
    for (size_t i = 0; i < job_count; i++)
        move_one(&jobs[i]);
    commit();
    close_database(true);
    open_database();
    assert_int_equal(number_of(BLOCKS), 0);
    assert_all();
    assert_int_equal(htw__database_begin(&database), 0);
    for (size_t i = 0; i < job_count; i++)
        remove_one(&jobs[i]);
    commit();
    assert_all();
}

static int looks(void) {
    return sqlite3_stmt_status(database.statements[HTW__COUNT_JOBS], SQLITE_STMTSTATUS_RUN, 1);
}

/* A look counts jobs of a block; a few are enough for all ends. */
ROWS_TEST(rows_of_blocks_are_rarely_looked_at) {
    enum { BLOCKS_OF_JOBS = 4, JOBS = BLOCKS_OF_JOBS * HTW__BLOCK_IDS };
    for (int is_known = 0; is_known < 2; is_known++) {
        assert_int_equal(htw__database_begin(&database), 0);
        job_count = 0;
        insert_many(JOBS, BLOCKS_OF_JOBS);
        commit();
        if (!is_known) {
            close_database(true);
            open_database();
        }
        assert_int_equal(htw__database_begin(&database), 0);
        (void)looks();
        for (size_t i = 0; i < job_count; i++)
            remove_one(&jobs[i]);
        assert_in_range(looks(), BLOCKS_OF_JOBS, (is_known ? 1 : 3) * BLOCKS_OF_JOBS);
        commit();
        assert_all();
    }
}

/* Its row is made again with the next job of it. */
ROWS_TEST(rows_of_a_block_that_went_too_early_come_again) {
    enum { OTHERS = 2 * HTW__BLOCKS_EMPTY };
    const struct htw__job_row row = { .deadline_ns = BASE_NS - HTW_HOUR };
    assert_int_equal(htw__database_begin(&database), 0);
    struct model_job *first = insert(&row);
    commit();
    assert_int_equal(htw__database_begin(&database), 0);
    remove_one(first);
    insert_many(OTHERS, OTHERS);
    for (size_t i = 1; i < job_count; i++)
        remove_one(&jobs[i]);
    commit();
    assert_int_equal(
        number_of("SELECT count(*) FROM block WHERE first = (SELECT min(first) FROM block)"), 1);
    assert_int_equal(htw__database_begin(&database), 0);
    struct model_job *second = insert(&row);
    commit();
    assert_int_equal(second->id, first->id + 1);
    assert_all();
}

/* The insert that would have made it is undone. */
ROWS_TEST(rows_of_a_block_that_was_undone_come_with_the_next_job) {
    const struct htw__job_row row = { .deadline_ns = BASE_NS };
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_savepoint(&database), 0);
    struct model_job *job = insert(&row);
    assert_int_equal(htw__database_savepoint_end(&database, false), 0);
    job->exists = false;
    (void)insert(&row);
    commit();
    assert_all();
    assert_int_equal(htw__database_begin(&database), 0);
    htw__database_rollback(&database);
}

ROWS_TEST(rows_of_blocks_that_are_damaged_are_refused) {
    struct htw__scan_row rows[8];
    struct htw__scan scan = htw__scan_of(0, INT64_MAX);
    assert_int_equal(sqlite3_exec(database.connection, "INSERT INTO block VALUES (5, 300, 555)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    int64_t result = 0;
    while (!scan.is_done && result == 0)
        result = htw__database_scan(&database, &scan, rows, COUNT_OF(rows));
    assert_int_equal(result, -EIO);
    assert_true(database.is_distrusted);
    assert_non_null(strstr(htw_journal_error(), "the table of blocks is damaged"));
}

/* ---- queues */

static char visited[64];

static void assert_queues(const char *wanted) {
    struct htw__queue_row row;
    int result;
    visited[0] = '\0';
    while ((result = htw__database_next_queue(&database, &row)) == 1) {
        size_t size = strlen(visited);
        snprintf(visited + size, sizeof(visited) - size, "%u %.*s %d %d %d %d %.*s;", row.number,
                 (int)row.name_size, (const char *)row.name, (int)row.jobs[0], (int)row.jobs[1],
                 (int)row.jobs[2], (int)row.jobs[3], (int)row.policy_size,
                 row.policy == NULL ? "-" : (const char *)row.policy);
    }
    assert_int_equal(result, 0);
    assert_string_equal(visited, wanted);
}

static void store_queue(const struct htw__queue_row *row) {
    assert_int_equal(htw__database_store_queue(&database, row), 0);
}

ROWS_TEST(rows_of_queues_are_stored_counted_and_removed) {
    assert_int_equal(htw__database_begin(&database), 0);
    store_queue(&(struct htw__queue_row) { .number = 7, .name = "mail", .name_size = 4 });
    store_queue(&(struct htw__queue_row) { .number = 2, .policy = "p", .policy_size = 1 });
    store_queue(&(struct htw__queue_row) {
        .number = 7, .name = "mail", .name_size = 4, .jobs = { 1, 2, 3, 4 } });
    commit();
    close_database(true);
    open_database();
    assert_queues("2  0 0 0 0 p;7 mail 1 2 3 4 ;");
    assert_int_equal(htw__database_begin(&database), 0);
    assert_int_equal(htw__database_remove_queue(&database, 2), 0);
    commit();
    assert_queues("7 mail 1 2 3 4 ;");
}
