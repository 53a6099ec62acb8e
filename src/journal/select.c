/* SPDX-License-Identifier: MIT */
/* select.c - the delayed jobs of a queue in the file, in order of deadline; or those that are done, by their end. */
#include "select.h"

#include <errno.h>
#include <stdlib.h>

static size_t size_of(size_t wanted) {
    return (2 * wanted + HTW__SCAN_MAX) * sizeof(struct htw__position);
}

int htw__selection_init(struct htw_journal *journal, struct htw__selection *selection,
                        enum htw__place_class class, size_t wanted) {
    *selection = (struct htw__selection) { .class = class, .wanted = wanted, .room = wanted };
    selection->rows = htw__journal_allocate(journal, size_of(wanted));
    return selection->rows == NULL ? htw__journal_fail_as(-ENOMEM, "no memory for a list of jobs")
                                   : 0;
}

void htw__selection_fini(struct htw_journal *journal, struct htw__selection *selection) {
    htw__journal_release(journal, selection->rows, size_of(selection->room));
}

static void keep_first(struct htw__selection *selection) {
    qsort(selection->rows, selection->count, sizeof(*selection->rows), htw__position_compare);
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
    uint64_t last = htw__place(selection->class, htw__bucket_of(INT64_MAX), UINT32_MAX);
    uint64_t next = htw__place(selection->class, minute, queue);
    selection->count = 0;
    while (selection->count < selection->wanted) {
        int error = htw__database_next_place(database, next, last, &place);
        if (error != 0)
            return error;
        if (place == HTW__PLACE_NONE)
            return 0;
        minute = htw__place_bucket(place);
        next = htw__place(selection->class, minute, queue);
        if (place <= next) {
            if (place == next)
                error = select_place(database, selection, place);
            if (error != 0)
                return error;
            if (place < next)
                continue;
        }
        next = htw__place(selection->class, minute + 1, queue);
    }
    return 0;
}
