/* SPDX-License-Identifier: MIT */
/* window.c - moves the windows of queues. */
#include "reader.h"

#include "change.h"
#include "lease.h"
#include "load.h"

#include <errno.h>

/* Jobs that one change moves. */
#define STAGE_MAX 4096u

static struct htw__step stage_of(uint64_t id) {
    return (struct htw__step) { .id = id, .kind = HTW__STEP_STAGE, .is_optional = true };
}

/* ---- forward */

/* A job that comes to a place that the scan has left would not be read. */
static void include_passed(struct htw__queue *queue) {
    struct htw__turn last = { htw__place_priority(queue->scan.place) - 1, INT64_MAX, UINT64_MAX };
    if (queue->scan.is_done)
        queue->window = HTW__TURN_LAST;
    else if (htw__place_priority(queue->scan.place) > 0 && !htw__queue_covers(queue, last))
        queue->window = last;
}

/* The default queue was leased, and is delivered now: its READY jobs become due like others. */
static int hand_over(struct htw_journal *journal, const struct htw__scan_row *rows, int64_t count) {
    struct htw__step steps[HTW__READ_STEP];
    for (int64_t i = 0; i < count; i++)
        steps[i] = stage_of(rows[i].id);
    return count > 0 ? htw__submit_own(journal, HTW__OWN_STAGE, steps, (size_t)count) : 0;
}

static int fill(struct htw_journal *journal, struct htw__queue *queue) {
    struct htw__scan scan = queue->scan;
    const struct htw__scan_row *rows = journal->scan_rows;
    int64_t count = htw__jobs_scan(journal, &scan);
    int error = count < 0 ? (int)count : queue->is_delivered ? hand_over(journal, rows, count) : 0;
    for (int64_t i = 0; i < count && error == 0 && !queue->is_delivered; i++) {
        struct htw__turn turn = { htw__place_priority(rows[i].place), rows[i].rank, rows[i].id };
        if (htw__queue_covers(queue, turn))
            continue;
        error = htw__job_take(journal, rows[i].id);
        if (error == 0)
            queue->window = turn;
    }
    if (error != 0)
        return error; /* and the scan is where it was */
    queue->scan = scan;
    include_passed(queue);
    return 0;
}

static int move_forward(struct htw_journal *journal, struct htw__queue *queue) {
    queue->users++;
    int error = fill(journal, queue);
    queue->users--;
    if (error != 0)
        htw__queues_want(&journal->queues, queue);
    else
        htw__leases_restart(journal, queue);
    htw__leases_look(journal, queue);
    htw__queues_drop(&journal->queues, queue);
    return error;
}

/* ---- back */

/* Jobs that became ready by the clock may be behind it already. */
static void lower_window(struct htw__queue *queue, struct htw__turn last) {
    uint32_t number = (uint32_t)queue->number;
    if (!htw__queue_covers(queue, last))
        return;
    queue->window = last;
    queue->scan = htw__scan_of(htw__place_ready(number, (uint32_t)last.priority),
                               htw__place_ready(number, UINT32_MAX));
}

/* Moves the window of a queue before the later half of its jobs, and forgets these, except those that have no place of
   READY yet: of these `steps` receives some. 0 or -ENOMEM. */
static int halve(struct htw_journal *journal, struct htw__queue *queue, struct htw__step *steps) {
    struct htw__heap *heap = &queue->ready;
    uint32_t first = heap->count / 2, step_count = 0;
    htw__heap_sort(heap);
    lower_window(queue, htw__turn_of(htw__job_of_turn(heap->nodes[first - 1])));
    for (uint32_t i = heap->count;
         i-- > first;) { /* what is removed leaves those before it in order */
        struct htw__job *job = htw__job_of_turn(heap->nodes[i]);
        if (job->filed == HTW_JOB_READY && !job->is_changed)
            htw__jobs_end(&journal->jobs, job);
        else if (step_count < STAGE_MAX)
            steps[step_count++] = stage_of(job->position.id);
    }
    return step_count > 0 ? htw__submit_own(journal, HTW__OWN_STAGE, steps, step_count) : 0;
}

static int move_back(struct htw_journal *journal) {
    struct htw__step *steps = htw__journal_allocate(journal, STAGE_MAX * sizeof(*steps));
    int error = -ENOMEM;
    if (steps != NULL) {
        error = halve(journal, htw__jobs_crowded(&journal->jobs), steps);
        htw__journal_release(journal, steps, STAGE_MAX * sizeof(*steps));
    }
    return error;
}

/* ---- steps */

bool htw__window_is_full(const struct htw_journal *journal) {
    return journal->jobs.ready_bytes > journal->ready_max &&
           !htw__ring_is_empty(&journal->jobs.crowded);
}

static bool is_to_move_back(const struct htw_journal *journal) {
    return htw__window_is_full(journal) && journal->under_way[HTW__OWN_STAGE] == 0 &&
           htw__clock_monotonic_ns() >= journal->stage_ns;
}

bool htw__window_has_work(const struct htw_journal *journal) {
    return (journal->queues.wanted != NULL && journal->under_way[HTW__OWN_STAGE] == 0) ||
           is_to_move_back(journal);
}

int htw__window_step(struct htw_journal *journal) {
    return is_to_move_back(journal)
               ? move_back(journal)
               : move_forward(journal, htw__queues_take_wanted(&journal->queues));
}
