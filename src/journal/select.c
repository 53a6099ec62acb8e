/* SPDX-License-Identifier: MIT */
/* select.c - the first jobs of a queue in the file. */
#include "select.h"

#include "step.h"

#include <errno.h>
#include <stdlib.h>

static size_t size_of(size_t wanted) {
    return (2 * wanted + HTW__SCAN_MAX) * sizeof(struct htw__position);
}

int htw__selection_init(struct htw_journal *journal, struct htw__selection *selection,
                        struct htw__position after, size_t wanted) {
    *selection = (struct htw__selection) { .after = after, .wanted = wanted, .room = wanted };
    selection->rows = htw__journal_allocate(journal, size_of(wanted));
    return selection->rows == NULL ? htw__journal_fail_as(-ENOMEM, "no memory for a list of jobs")
                                   : 0;
}

void htw__selection_fini(struct htw_journal *journal, struct htw__selection *selection) {
    htw__journal_release(journal, selection->rows, size_of(selection->room));
}

static int compare(const void *a, const void *b) {
    struct htw__position left = *(const struct htw__position *)a;
    struct htw__position right = *(const struct htw__position *)b;
    return htw__position_precedes(right, left) - htw__position_precedes(left, right);
}

static void keep_first(struct htw__selection *selection) {
    qsort(selection->rows, selection->count, sizeof(*selection->rows), compare);
    if (selection->count > selection->wanted)
        selection->count = selection->wanted;
}

static int select_place(struct htw__database *database, struct htw__selection *selection,
                        uint64_t place) {
    struct htw__scan scan = htw__scan_of(place, place);
    struct htw__scan_row rows[HTW__SCAN_MAX];
    while (!scan.is_done) {
        int64_t count = htw__database_scan(database, &scan, rows, HTW__SCAN_MAX);
        if (count < 0)
            return (int)count;
        for (int64_t i = 0; i < count; i++) {
            struct htw__position position = { rows[i].deadline_ns, rows[i].id };
            if (htw__position_precedes(selection->after, position))
                selection->rows[selection->count++] = position;
        }
        if (selection->count >= 2 * selection->wanted)
            keep_first(selection);
    }
    keep_first(selection);
    return 0;
}

/* Minute by minute, each by a seek of its queue. */
int htw__selection_find(struct htw__database *database, uint32_t queue,
                        struct htw__selection *selection) {
    uint64_t minute = htw__bucket_of(selection->after.deadline_ns), place;
    uint64_t last = htw__place(HTW__PLACE_DELAYED, htw__bucket_of(INT64_MAX), UINT32_MAX);
    uint64_t next = htw__place(HTW__PLACE_DELAYED, minute, queue);
    selection->count = 0;
    while (selection->count < selection->wanted) {
        int error = htw__database_next_place(database, next, last, &place);
        if (error != 0)
            return error;
        if (place == HTW__PLACE_NONE)
            return 0;
        minute = htw__place_bucket(place);
        uint64_t own = htw__place(HTW__PLACE_DELAYED, minute, queue);
        if (place == own)
            error = select_place(database, selection, place);
        if (error != 0)
            return error;
        next = place < own ? own : htw__place(HTW__PLACE_DELAYED, minute + 1, queue);
    }
    return 0;
}

/* ---- kicks */

/* Kicks a job, unless that is not possible. */
static int kick(struct htw_journal *journal, struct htw__change *change, uint64_t id) {
    struct htw__step *step = &change->steps[change->step_count];
    *step = (struct htw__step) { .id = id, .kind = HTW_JOB_KICK, .is_optional = true };
    htw__mutex_lock(&journal->mutex);
    if (htw__step_waits(journal, step))
        step->kind = HTW__STEP_NONE;
    else
        (void)htw__step_hold(journal, step);
    htw__mutex_unlock(&journal->mutex);
    int error = htw__step_write(journal, step);
    change->step_count += step->kind != HTW__STEP_NONE;
    return error;
}

static int kick_buried(struct htw_journal *journal, struct htw__change *change, size_t wanted) {
    uint64_t place = htw__place_buried((uint32_t)change->queue->number);
    struct htw__scan scan = htw__scan_of(place, place);
    struct htw__scan_row rows[HTW__SCAN_MAX];
    while (!scan.is_done && change->step_count < wanted) {
        size_t left = wanted - change->step_count;
        int64_t count = htw__database_scan(&journal->database, &scan, rows,
                                           left < HTW__SCAN_MAX ? left : HTW__SCAN_MAX);
        int error = count < 0 ? (int)count : 0;
        for (int64_t i = 0; i < count && error == 0; i++)
            error = kick(journal, change, rows[i].id);
        if (error != 0)
            return error;
    }
    return 0;
}

static int kick_delayed(struct htw_journal *journal, struct htw__change *change, size_t wanted) {
    struct htw__selection selection;
    const struct htw__position now = { htw__journal_now(journal), UINT64_MAX };
    int error = htw__selection_init(journal, &selection, now, wanted);
    if (error != 0)
        return error;
    do {
        selection.wanted = wanted - change->step_count;
        error =
            htw__selection_find(&journal->database, (uint32_t)change->queue->number, &selection);
        for (size_t i = 0; i < selection.count && error == 0; i++) {
            selection.after = selection.rows[i];
            error = kick(journal, change, selection.rows[i].id);
        }
    } while (error == 0 && selection.count == selection.wanted && change->step_count < wanted);
    htw__selection_fini(journal, &selection);
    return error;
}

int htw__kick(struct htw_journal *journal, struct htw__change *change) {
    const struct htw__queue *queue = change->queue;
    bool has_buried = queue->counts.of[HTW_JOB_BURIED] + queue->added.of[HTW_JOB_BURIED] > 0;
    return has_buried ? kick_buried(journal, change, change->special.kick_count)
                      : kick_delayed(journal, change, change->special.kick_count);
}
