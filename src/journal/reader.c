/* SPDX-License-Identifier: MIT */
/* reader.c - brings the jobs of the near future from the file into memory. */
#include "reader.h"

#include "../base/clock.h"
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the array of selected rows. */
#define FIRST_ROWS 1024u
#define ROWS_MAX ((size_t)1 << 19)

/* Rows that a step scans, and jobs that it fetches. */
#define SCAN_STEP HTW__SCAN_MAX
#define FETCH_STEP 64u

#define PAUSE_NS (100 * HTW_MILLISECOND)

/* The last place of a bucket in the order of delivery. */
static struct htw__position end_of_bucket(uint64_t bucket) {
    int64_t start;
    if (__builtin_mul_overflow((int64_t)bucket + 1, HTW_MINUTE, &start))
        return (struct htw__position) { INT64_MAX, HTW__ID_MAX };
    return (struct htw__position) { start - 1, HTW__ID_MAX };
}

int htw__reader_init(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    journal->cursor = (struct htw__position) { INT64_MIN, 0 };
    journal->delivered = journal->cursor;
    journal->evict_above = journal->waiting_max;
    reader->next_bucket = journal->database.jobs == 0 ? HTW__BUCKET_NONE : 0;
    reader->capacity = FIRST_ROWS;
    reader->capacity_max = journal->waiting_max / (8 * sizeof(*reader->rows));
    if (reader->capacity_max < FIRST_ROWS)
        reader->capacity_max = FIRST_ROWS;
    if (reader->capacity_max > ROWS_MAX)
        reader->capacity_max = ROWS_MAX;
    reader->rows = htw__journal_allocate(journal, reader->capacity * sizeof(*reader->rows));
    return reader->rows == NULL ? -ENOMEM : 0;
}

void htw__reader_fini(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    if (reader->rows != NULL)
        htw__journal_release(journal, reader->rows, reader->capacity * sizeof(*reader->rows));
}

/* ---- when there is something to read */

static int64_t begins_ns(const struct htw_journal *journal, uint64_t bucket) {
    int64_t start = htw__bucket_start(bucket);
    return start < journal->near_ns ? 0 : start - journal->near_ns;
}

/* The job that is fetched next, which those behind it wait for; NULL: none. */
static const struct htw__position *next_selected(const struct htw__reader *reader) {
    return reader->phase == HTW__READER_FETCH ? &reader->rows[reader->fetched] : NULL;
}

bool htw__reader_is_past(const struct htw_journal *journal, struct htw__position position) {
    const struct htw__position *row = next_selected(&journal->reader);
    return row == NULL || htw__position_precedes(position, *row);
}

/* Whether it must wait until jobs are delivered. What is in memory may wait for the next job that is
   selected: then that is read in any case. */
static bool is_full(const struct htw_journal *journal) {
    const struct htw__job *first = htw__jobs_first(&journal->jobs);
    if (first == NULL || !htw__reader_is_past(journal, first->position))
        return false;
    size_t limit = journal->reader.is_full ? journal->waiting_max / 2 : journal->waiting_max;
    return journal->jobs.waiting_bytes + journal->jobs.ready_bytes >= limit;
}

bool htw__reader_has_work(const struct htw_journal *journal) {
    const struct htw__reader *reader = &journal->reader;
    if (journal->slot_count == 0 || journal->is_closing || journal->has_failed || is_full(journal))
        return false;
    if (reader->paused_ns != 0 && htw__clock_monotonic_ns() < reader->paused_ns)
        return false;
    return reader->phase != HTW__READER_IDLE ||
           (reader->next_bucket != HTW__BUCKET_NONE &&
            begins_ns(journal, reader->next_bucket) <= htw__journal_now(journal));
}

int64_t htw__reader_next(const struct htw_journal *journal) {
    const struct htw__reader *reader = &journal->reader;
    if (reader->phase != HTW__READER_IDLE || reader->next_bucket == HTW__BUCKET_NONE ||
        is_full(journal))
        return HTW_NEVER_NS;
    return begins_ns(journal, reader->next_bucket);
}

/* ---- reading */

static void move_cursor(struct htw_journal *journal, struct htw__position to) {
    if (htw__position_precedes(journal->cursor, to))
        journal->cursor = to;
}

/* There is no unread job before `bucket`. */
static void skip_to(struct htw_journal *journal, uint64_t bucket) {
    struct htw__reader *reader = &journal->reader;
    int64_t horizon;
    if (__builtin_add_overflow(htw__journal_now(journal), journal->near_ns, &horizon))
        horizon = INT64_MAX;
    uint64_t near = htw__bucket_of(horizon);
    uint64_t empty_to = bucket > near ? near + 1 : bucket; /* buckets before this are empty */
    if (empty_to > 0)
        move_cursor(journal, end_of_bucket(empty_to - 1));
    reader->next_bucket = bucket;
}

static uint64_t first_place(uint64_t bucket) {
    return htw__place(HTW__PLACE_DELAYED, bucket, 0);
}

static uint64_t last_place(uint64_t bucket) {
    return htw__place(HTW__PLACE_DELAYED, bucket, UINT32_MAX);
}

/* Looks for the next bucket that has jobs, or has had some. */
static int find_bucket(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    uint64_t from = reader->next_bucket, place;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__database_next_place(&journal->database, first_place(from),
                                         last_place(htw__bucket_of(INT64_MAX)), &place);
    htw__mutex_lock(&journal->mutex);
    if (error != 0)
        return error;
    if (place == HTW__PLACE_NONE) {
        skip_to(journal, HTW__BUCKET_NONE);
        return 0;
    }
    uint64_t bucket = htw__place_bucket(place);
    skip_to(journal, bucket);
    if (begins_ns(journal, bucket) <= htw__journal_now(journal)) {
        reader->phase = HTW__READER_SCAN;
        reader->bucket = bucket;
        reader->scan = htw__scan_of(place, last_place(bucket));
        reader->count = 0;
        reader->is_partial = false;
    }
    return 0;
}

static void sort_rows(struct htw__reader *reader) {
    qsort(reader->rows, reader->count, sizeof(*reader->rows), htw__position_compare);
}

static bool grow(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    if (reader->capacity >= reader->capacity_max)
        return false;
    size_t capacity = 2 * reader->capacity;
    struct htw__position *rows = htw__journal_allocate(journal, capacity * sizeof(*rows));
    if (rows == NULL)
        return false;
    memcpy(rows, reader->rows, reader->count * sizeof(*rows));
    htw__journal_release(journal, reader->rows, reader->capacity * sizeof(*rows));
    reader->rows = rows;
    reader->capacity = capacity;
    return true;
}

/* Keeps the earliest rows. When the array is full, the later half is left for the next scan. */
static void select_row(struct htw_journal *journal, struct htw__position row) {
    struct htw__reader *reader = &journal->reader;
    if (!htw__position_precedes(journal->cursor, row))
        return;
    /* After a cut the first half is sorted, and what comes after its end will not be kept. */
    const struct htw__position *bound = &reader->rows[reader->capacity / 2 - 1];
    if (reader->is_partial && htw__position_precedes(*bound, row))
        return;
    if (reader->count == reader->capacity && (reader->is_partial || !grow(journal))) {
        sort_rows(reader);
        reader->count = reader->capacity / 2;
        reader->is_partial = true;
    }
    reader->rows[reader->count++] = row;
}

static void end_scan(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    sort_rows(reader);
    if (reader->is_partial) {
        reader->count = reader->capacity / 2;
        move_cursor(journal, reader->rows[reader->count - 1]);
        reader->next_bucket = reader->bucket;
    } else {
        move_cursor(journal, end_of_bucket(reader->bucket));
        if (reader->next_bucket == reader->bucket)
            reader->next_bucket = reader->bucket + 1;
    }
    reader->fetched = 0;
    reader->phase = reader->count > 0 ? HTW__READER_FETCH : HTW__READER_IDLE;
}

static int scan(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    struct htw__scan scan = reader->scan;
    htw__mutex_unlock(&journal->mutex);
    int64_t count = htw__database_scan(&journal->database, &scan, journal->scan_rows, SCAN_STEP);
    htw__mutex_lock(&journal->mutex);
    if (count < 0)
        return (int)count;
    reader->scan = scan;
    for (int64_t i = 0; i < count; i++)
        select_row(journal, (struct htw__position) { journal->scan_rows[i].deadline_ns,
                                                     journal->scan_rows[i].id });
    if (scan.is_done)
        end_scan(journal);
    return 0;
}

/* Gives memory a job that was selected, unless it was moved since. */
static void take(struct htw_journal *journal, struct htw__job *job,
                 const struct htw__whereabouts *where, struct htw__position position) {
    bool is_there = htw__place_class_of(where->place) == HTW__PLACE_DELAYED &&
                    where->deadline_ns == position.deadline_ns;
    if (is_there)
        htw__jobs_add(&journal->jobs, job, where->is_leased ? HTW__JOB_LEASED : HTW__JOB_WAITING);
    else
        htw__jobs_give_up(&journal->jobs, job);
}

/* -ENOENT: it has ended, or is in memory, in another state. */
static int fetch_one(struct htw_journal *journal, struct htw__position position) {
    struct htw__job *job;
    struct htw__whereabouts where;
    if (htw__jobs_find(&journal->jobs, position.id) != NULL)
        return -ENOENT;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__job_read(journal, position.id, &job, &where);
    htw__mutex_lock(&journal->mutex);
    if (error == 0)
        take(journal, job, &where, position);
    return error;
}

static int fetch(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    int error = 0;
    for (unsigned i = 0; i < FETCH_STEP && reader->phase == HTW__READER_FETCH && error == 0; i++) {
        if (is_full(journal)) {
            reader->is_full = true;
            return 0;
        }
        reader->is_full = false;
        error = fetch_one(journal, reader->rows[reader->fetched]);
        if (error == -ENOENT)
            error = 0;
        if (error == 0 && ++reader->fetched == reader->count)
            reader->phase = HTW__READER_IDLE;
    }
    return error;
}

void htw__reader_step(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    int error = 0;
    reader->paused_ns = 0;
    switch (reader->phase) {
    case HTW__READER_IDLE:
        reader->is_full = false;
        error = find_bucket(journal);
        break;
    case HTW__READER_SCAN:
        error = scan(journal);
        break;
    case HTW__READER_FETCH:
        error = fetch(journal);
        break;
    }
    if (error == -ENOMEM || error == -EBUSY)
        reader->paused_ns = htw__clock_monotonic_ns() + PAUSE_NS;
    else if (error != 0)
        htw__journal_stop(journal);
    pthread_cond_broadcast(&journal->read);
}

/* ---- jobs that are put, and jobs that are dropped */

static void unread_from(struct htw_journal *journal, uint64_t bucket) {
    if (bucket < journal->reader.next_bucket)
        journal->reader.next_bucket = bucket;
}

bool htw__reader_covers(struct htw_journal *journal, struct htw__position position,
                        const struct htw__whereabouts *where, bool is_moved) {
    struct htw__reader *reader = &journal->reader;
    if (journal->slot_count == 0)
        return false;
    if (!htw__position_precedes(journal->cursor, position))
        return true;
    uint64_t bucket = htw__bucket_of(position.deadline_ns);
    unread_from(journal, bucket);
    if (reader->phase == HTW__READER_SCAN && reader->bucket == bucket &&
        htw__scan_has_passed(&reader->scan, position.id, where, is_moved))
        select_row(journal, position);
    return false;
}

void htw__reader_unhold(struct htw_journal *journal, uint64_t id) {
    struct htw__job *job = htw__jobs_find(&journal->jobs, id);
    if (job == NULL || !job->is_held)
        return;
    if (!htw__position_precedes(journal->cursor, job->position)) {
        htw__jobs_unhold(&journal->jobs, job);
        return;
    }
    unread_from(journal, htw__bucket_of(job->position.deadline_ns)); /* dropped meanwhile */
    htw__jobs_end(&journal->jobs, job);
}

/* A selection that is not yet fetched is given up. */
static void evict(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    const struct htw__position *row = next_selected(reader);
    struct htw__position last = htw__jobs_evict(&journal->jobs, journal->delivered);
    if (row != NULL && !htw__position_precedes(last, *row)) {
        last = (struct htw__position) { row->deadline_ns, row->id - 1 };
        htw__jobs_cut(&journal->jobs, last);
    }
    if (htw__position_precedes(last, journal->cursor)) {
        journal->cursor = last;
        unread_from(journal, htw__bucket_of(last.deadline_ns));
        reader->phase = HTW__READER_IDLE;
    }
    reader->is_full = true;
}

void htw__reader_evict(struct htw_journal *journal) {
    if (journal->jobs.waiting_bytes <= journal->waiting_max) {
        journal->evict_above = journal->waiting_max;
        return;
    }
    if (journal->jobs.waiting_bytes <= journal->evict_above || journal->jobs.waiting.count < 2)
        return;
    evict(journal);
    /* If little could be dropped, not again before there is twice as much. */
    journal->evict_above = journal->waiting_max;
    if (journal->jobs.waiting_bytes > journal->waiting_max / 4 * 3)
        journal->evict_above = 2 * journal->jobs.waiting_bytes;
}
