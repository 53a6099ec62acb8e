/* SPDX-License-Identifier: MIT */
/* history.c - jobs that are done and stay for a time. */
#include "change.h"
#include "load.h"
#include "reader.h"

#include <errno.h>

/* Until removing is tried again, after a failure. */
#define RETRY_NS HTW_SECOND

/* ---- keeping */

/* When the jobs of a minute are to be removed. */
static int64_t removal_ns(const struct htw_journal *journal, uint64_t bucket) {
    int64_t end_ns = htw__bucket_start(bucket + 1), ns;
    return __builtin_add_overflow(end_ns, journal->history_ns, &ns) ? HTW_NEVER_NS : ns;
}

int htw__history_keep(struct htw_journal *journal, uint64_t id, uint32_t queue,
                      struct htw__whereabouts *where) {
    int64_t now = htw__journal_now(journal), end_ns = removal_ns(journal, htw__bucket_of(now));
    where->place = htw__place_done(now, queue);
    where->rank = where->deadline_ns = now;
    where->is_leased = false;
    htw__mutex_lock(&journal->mutex);
    const struct htw__job *job = htw__jobs_find(&journal->jobs, id);
    if (job != NULL) /* it knows better */
        where->counters = job->counters;
    if (journal->forget_ns > end_ns)
        journal->forget_ns = end_ns;
    htw__mutex_unlock(&journal->mutex);
    return htw__database_keep(&journal->database, id, where);
}

/* ---- removing */

bool htw__history_has_work(const struct htw_journal *journal) {
    return journal->forget_ns != HTW_NEVER_NS && journal->under_way[HTW__OWN_FORGET] == 0 &&
           journal->forget_ns <= htw__journal_now(journal);
}

/* Some jobs of the minutes before `end`. When there will be more: `ret_next_ns`. */
static int remove_some(struct htw_journal *journal, uint64_t end, int64_t *ret_next_ns) {
    const uint64_t first = htw__place(HTW__PLACE_DONE, 0, 0),
                   last = htw__place(HTW__PLACE_DONE, htw__bucket_of(INT64_MAX), UINT32_MAX);
    struct htw__scan scan = htw__scan_of(first, htw__place(HTW__PLACE_DONE, end, 0) - 1);
    uint64_t place = HTW__PLACE_NONE;
    int64_t count =
        end == 0 ? 0
                 : htw__database_scan(&journal->database, &scan, journal->scan_rows, HTW__SCAN_MAX);
    int error = count < 0 ? (int)count : 0;
    for (int64_t i = 0; i < count && error == 0; i++) {
        const struct htw__scan_row *row = &journal->scan_rows[i];
        htw__count_job(journal, (uint32_t)row->place, HTW_JOB_DONE, -1);
        error = htw__database_forget(&journal->database, row->id);
    }
    if (error == 0)
        error = htw__database_next_place(&journal->database, first, last, &place);
    if (error != 0)
        return error;
    *ret_next_ns = place == HTW__PLACE_NONE   ? HTW_NEVER_NS
                   : journal->history_ns == 0 ? INT64_MIN
                                              : removal_ns(journal, htw__place_bucket(place));
    return 0;
}

static int forget_some(struct htw_journal *journal, struct htw__change *change) {
    (void)change;
    int64_t before_ns, next_ns = HTW_NEVER_NS;
    if (journal->history_ns == 0)
        before_ns = INT64_MAX;
    else if (__builtin_sub_overflow(htw__journal_now(journal), journal->history_ns, &before_ns))
        before_ns = INT64_MIN;
    int error = remove_some(journal, htw__bucket_of(before_ns), &next_ns);
    htw__mutex_lock(&journal->mutex);
    journal->forget_ns = next_ns;
    htw__mutex_unlock(&journal->mutex);
    return error;
}

static void end_forgetting(struct htw_journal *journal, int result) {
    if (result != 0)
        journal->forget_ns = htw__journal_now(journal) + RETRY_NS;
}

static const struct htw__work forgetting = { HTW__OWN_FORGET, forget_some, end_forgetting };

int htw__history_step(struct htw_journal *journal) {
    return htw__submit_own(journal, &forgetting, NULL, 0);
}
