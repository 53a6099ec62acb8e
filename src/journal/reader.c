/* SPDX-License-Identifier: MIT */
/* reader.c - brings the jobs of the near future from the file into memory, in turn with what moves the windows of queues. */
#include "reader.h"

#include "../base/clock.h"
#include "load.h"

#include <errno.h>

/* The last place of a bucket in the order of delivery. */
static struct htw__position end_of_bucket(uint64_t bucket) {
    int64_t start;
    if (__builtin_mul_overflow((int64_t)bucket + 1, HTW_MINUTE, &start))
        return (struct htw__position) { INT64_MAX, HTW__ID_MAX };
    return (struct htw__position) { start - 1, HTW__ID_MAX };
}

void htw__reader_init(struct htw_journal *journal) {
    journal->cursor = (struct htw__position) { INT64_MIN, 0 };
    journal->delivered = journal->reach = journal->cursor;
    journal->evict_above = journal->waiting_max;
    bool has_jobs = journal->database.jobs > 0 && journal->scheduler != NULL;
    journal->reader.next_bucket = has_jobs ? 0 : HTW__BUCKET_NONE;
}

/* ---- when there is something to read */

static int64_t begins_ns(const struct htw_journal *journal, uint64_t bucket) {
    int64_t start = htw__bucket_start(bucket);
    return start < journal->near_ns ? 0 : start - journal->near_ns;
}

bool htw__reader_is_past(const struct htw_journal *journal, struct htw__position position) {
    return !htw__position_precedes(journal->cursor, position);
}

/* Whether it must wait until jobs are delivered. After a scan whose later jobs had no room, until there is room for
   many, so that the bucket is not read again for a few. */
static bool is_full(const struct htw_journal *journal) {
    const struct htw__jobs *jobs = &journal->jobs;
    if (htw__jobs_waiting(jobs) == 0)
        return false;
    return journal->reader.is_full
               ? jobs->waiting_bytes >= journal->waiting_max / 4
               : jobs->waiting_bytes + jobs->ready_bytes >= journal->waiting_max;
}

bool htw__reader_has_work(const struct htw_journal *journal) {
    const struct htw__reader *reader = &journal->reader;
    return reader->is_scanning ||
           (!is_full(journal) && reader->next_bucket != HTW__BUCKET_NONE &&
            begins_ns(journal, reader->next_bucket) <= htw__journal_now(journal));
}

int64_t htw__reader_next(const struct htw_journal *journal) {
    const struct htw__reader *reader = &journal->reader;
    if (reader->is_scanning || reader->next_bucket == HTW__BUCKET_NONE || is_full(journal))
        return HTW_NEVER_NS;
    return begins_ns(journal, reader->next_bucket);
}

/* ---- how far memory reaches */

/* Memory has all jobs up to there. */
static void move_cursor(struct htw_journal *journal, struct htw__position to) {
    if (htw__position_precedes(journal->cursor, to))
        journal->cursor = journal->reach = to;
}

/* There is no unread job before `bucket`. */
static void skip_to(struct htw_journal *journal, uint64_t bucket) {
    int64_t horizon;
    if (__builtin_add_overflow(htw__journal_now(journal), journal->near_ns, &horizon))
        horizon = INT64_MAX;
    uint64_t near = htw__bucket_of(horizon);
    uint64_t empty_to = bucket > near ? near + 1 : bucket; /* buckets before this are empty */
    if (empty_to > 0)
        move_cursor(journal, end_of_bucket(empty_to - 1));
    journal->reader.next_bucket = bucket;
}

static uint64_t first_place(uint64_t bucket) {
    return htw__place(HTW__PLACE_DELAYED, bucket, 0);
}

static uint64_t last_place(uint64_t bucket) {
    return htw__place(HTW__PLACE_DELAYED, bucket, UINT32_MAX);
}

static void begin_scan(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    struct htw__position end = end_of_bucket(reader->next_bucket);
    reader->is_scanning = true;
    reader->scan = htw__scan_of(first_place(reader->next_bucket), last_place(reader->next_bucket));
    if (htw__position_precedes(journal->reach, end))
        journal->reach = end;
}

/* ---- reading */

/* Looks for the next bucket that has jobs, or has had some. */
static int find_bucket(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    uint64_t from = reader->next_bucket, place;
    reader->is_full = false;
    htw__mutex_unlock(&journal->mutex);
    int error = htw__database_next_place(&journal->database, first_place(from),
                                         last_place(htw__bucket_of(INT64_MAX)), &place);
    htw__mutex_lock(&journal->mutex);
    if (error != 0)
        return error;
    uint64_t bucket = place == HTW__PLACE_NONE ? HTW__BUCKET_NONE : htw__place_bucket(place);
    skip_to(journal, bucket);
    if (bucket == HTW__BUCKET_NONE || begins_ns(journal, bucket) > htw__journal_now(journal))
        return 0;
    begin_scan(journal);
    return 0;
}

static void unread_from(struct htw_journal *journal, uint64_t bucket) {
    if (bucket < journal->reader.next_bucket)
        journal->reader.next_bucket = bucket;
}

/* Drops the later half of the jobs behind a position. A bucket that is being read goes on with those before that. */
static void evict(struct htw_journal *journal, struct htw__position keep) {
    struct htw__position last = htw__jobs_evict(&journal->jobs, keep);
    journal->reader.is_full = true;
    if (htw__position_precedes(last, journal->reach)) {
        journal->reach = last;
        unread_from(journal, htw__bucket_of(last.deadline_ns));
    }
    if (htw__position_precedes(last, journal->cursor))
        journal->cursor = last;
    if (!htw__position_precedes(journal->cursor, journal->reach))
        journal->reader.is_scanning = false;
}

static void end_scan(struct htw_journal *journal) {
    uint64_t *bucket = &journal->reader.next_bucket;
    bool is_whole = !htw__position_precedes(journal->reach, end_of_bucket(*bucket));
    move_cursor(journal, journal->reach);
    *bucket += is_whole;
    journal->reader.is_scanning = false;
    journal->reader.is_full = !is_whole;
}

/* Takes the jobs behind the cursor, as many of the earliest as there is room for. */
static int scan(struct htw_journal *journal) {
    struct htw__reader *reader = &journal->reader;
    struct htw__scan scan = reader->scan;
    int64_t count = htw__jobs_scan(journal, &scan);
    int error = count < 0 ? (int)count : 0;
    for (int64_t i = 0; i < count && error == 0; i++) {
        const struct htw__scan_row *row = &journal->scan_rows[i];
        struct htw__position position = { row->deadline_ns, row->id };
        if (!htw__position_precedes(journal->cursor, position) ||
            htw__position_precedes(journal->reach, position))
            continue;
        error = htw__job_take(journal, row->id);
        if (journal->jobs.waiting_bytes > journal->waiting_max &&
            htw__jobs_waiting(&journal->jobs) > 1)
            evict(journal, journal->cursor);
    }
    if (error != 0)
        return error; /* and the scan is where it was */
    reader->scan = scan;
    if (reader->is_scanning && scan.is_done)
        end_scan(journal);
    return 0;
}

/* ---- jobs that are put, and jobs that are dropped */

bool htw__reader_covers(struct htw_journal *journal, struct htw__position position) {
    if (journal->slot_count == 0)
        return false;
    if (!htw__position_precedes(journal->reach, position))
        return true;
    unread_from(journal, htw__bucket_of(position.deadline_ns));
    return false;
}

void htw__reader_evict(struct htw_journal *journal) {
    if (journal->jobs.waiting_bytes <= journal->waiting_max) {
        journal->evict_above = journal->waiting_max;
        return;
    }
    if (journal->jobs.waiting_bytes <= journal->evict_above ||
        htw__jobs_waiting(&journal->jobs) < 2)
        return;
    evict(journal, journal->delivered);
    pthread_cond_broadcast(&journal->read); /* there may be nothing to read now */
    /* If little could be dropped, not again before there is twice as much. */
    journal->evict_above = journal->waiting_max;
    if (journal->jobs.waiting_bytes > journal->waiting_max / 4 * 3)
        journal->evict_above = 2 * journal->jobs.waiting_bytes;
}

/* ---- a step of the reader, and of the windows */

/* Of all, where there is no memory, or another program has locked the file. */
#define PAUSE_NS (100 * HTW_MILLISECOND)

bool htw__readers_have_work(const struct htw_journal *journal) {
    if (journal->slot_count == 0 || journal->is_closing || journal->has_failed ||
        (journal->reader.paused_ns != 0 && htw__clock_monotonic_ns() < journal->reader.paused_ns))
        return false;
    return htw__reader_has_work(journal) || htw__window_has_work(journal);
}

static void pause_or_stop(struct htw_journal *journal, int error) {
    if (error == -ENOMEM || error == -EBUSY)
        journal->reader.paused_ns = htw__clock_monotonic_ns() + PAUSE_NS;
    else if (error != 0)
        htw__journal_stop(journal);
}

void htw__readers_step(struct htw_journal *journal) {
    journal->reader.paused_ns = 0;
    if (htw__reader_has_work(journal))
        pause_or_stop(journal, journal->reader.is_scanning ? scan(journal) : find_bucket(journal));
    if (!journal->has_failed && htw__window_has_work(journal))
        pause_or_stop(journal, htw__window_step(journal));
    pthread_cond_broadcast(&journal->read);
}
