/* SPDX-License-Identifier: MIT */
/* scan.c - the jobs of places, in order. */
#include "rows.h"
#include "blocks.h"
#include "statements.h"

/* Of a call: places and blocks may have few jobs, or none. */
#define ROUNDS_MAX 128u

/* ---- places */

int htw__database_next_place(struct htw__database *self, uint64_t first, uint64_t last,
                             uint64_t *ret_place) {
    uint64_t place;
    int result = htw__statement_number(self, HTW__NEXT_PLACE, HTW__NUMBERS((int64_t)first), &place);
    *ret_place = HTW__PLACE_NONE;
    if (result != 1)
        return result;
    if (place < first)
        return htw__database_distrust(self, "the table of places is damaged");
    if (place <= last)
        *ret_place = place;
    return 0;
}

/* Or the scan is done. */
static int enter_place(struct htw__database *self, struct htw__scan *scan) {
    uint64_t place;
    int error = htw__database_next_place(self, scan->place, scan->last_place, &place);
    if (error != 0)
        return error;
    uint64_t last = scan->last_place;
    *scan = htw__scan_of(place, last);
    scan->is_in_place = place != HTW__PLACE_NONE;
    scan->is_done = !scan->is_in_place;
    scan->rank = INT64_MIN;
    return 0;
}

static void leave_place(struct htw__scan *scan) {
    scan->is_in_place = false;
    scan->is_done = scan->place == scan->last_place;
    scan->place++;
}

/* ---- the two parts of a place */

/* The next jobs of one part, in order of rank and id. */
struct part {
    struct htw__scan_row rows[HTW__SCAN_MAX];
    size_t count, taken;
    bool is_last;  /* nothing follows */
    uint64_t next; /* of those that were not moved: behind all that were read */
};

/* `ret_entered` is false: there is no further block. */
static int enter_block(struct htw__database *self, struct htw__scan *scan, bool *ret_entered) {
    uint64_t first;
    if (scan->block != 0 && !scan->block_has_jobs)
        htw__blocks_found_empty(&self->sqlite->blocks, scan->block, scan->place);
    int result = htw__statement_number(
        self, HTW__NEXT_BLOCK, HTW__NUMBERS((int64_t)scan->place, (int64_t)scan->block), &first);
    *ret_entered = result == 1;
    if (result != 1)
        return result;
    if (first <= scan->block || first % HTW__BLOCK_IDS != 0 || first > HTW__ID_MAX)
        return htw__database_distrust(self, "the table of blocks is damaged");
    scan->block = first;
    scan->block_has_jobs = false;
    if (scan->id < first)
        scan->id = first - 1;
    return 0;
}

/* Reads on in the block, or enters the next one. */
static int read_put(struct htw__database *self, struct htw__scan *scan, struct part *part,
                    size_t capacity) {
    bool more = false, entered;
    int64_t count = 0;
    part->next = scan->id + 1;
    if (scan->block != 0)
        count = htw__blocks_read(self, &part->next, scan->block + HTW__BLOCK_IDS - 1, part->rows,
                                 capacity, &more);
    if (count < 0)
        return (int)count;
    part->count = (size_t)count;
    scan->block_has_jobs = scan->block_has_jobs || count > 0;
    if (count > 0 || more)
        return 0;
    int error = enter_block(self, scan, &entered);
    part->is_last = !entered;
    part->next = scan->id + 1;
    return error;
}

static int read_moved(struct htw__database *self, const struct htw__scan *scan, struct part *part,
                      size_t capacity) {
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__SCAN_MOVED];
    part->is_last = !self->sqlite->has_moved;
    if (part->is_last)
        return 0;
    htw__statement_bind(
        self, HTW__SCAN_MOVED,
        HTW__NUMBERS((int64_t)scan->place, scan->rank, (int64_t)scan->moved, (int64_t)capacity));
    int result = 1;
    while (part->count < capacity && (result = htw__statement_step(self, HTW__SCAN_MOVED)) == 1)
        part->rows[part->count++] =
            (struct htw__scan_row) { .id = (uint64_t)sqlite3_column_int64(statement, 0),
                                     .deadline_ns = sqlite3_column_int64(statement, 1),
                                     .rank = sqlite3_column_int64(statement, 2) };
    sqlite3_reset(statement);
    part->is_last = part->count < capacity;
    return result < 0 ? result : 0;
}

static bool has_row(const struct part *part) {
    return part->taken < part->count;
}

/* The part whose row is next; NULL: that cannot be told before one of them is read on. */
static struct part *next_part(struct part *put, struct part *moved) {
    if (has_row(put) && has_row(moved))
        return put->rows[put->taken].rank <= moved->rows[moved->taken].rank ? put : moved;
    if (has_row(put))
        return moved->is_last ? put : NULL;
    return has_row(moved) && put->is_last ? moved : NULL;
}

static size_t merge(struct htw__scan *scan, struct part *put, struct part *moved,
                    struct htw__scan_row *rows, size_t capacity) {
    size_t count = 0;
    struct part *part;
    while (count < capacity && (part = next_part(put, moved)) != NULL) {
        struct htw__scan_row row = part->rows[part->taken++];
        row.place = scan->place;
        rows[count++] = row;
        if (part == put) {
            scan->id = row.id;
        } else {
            scan->rank = row.rank;
            scan->moved = row.id;
        }
    }
    if (!has_row(put))
        scan->id = put->next - 1;
    return count;
}

/* ---- scans */

/* A round in the place: some rows, or another block, or the end of the place. */
static int64_t read_on(struct htw__database *self, struct htw__scan *scan,
                       struct htw__scan_row *rows, size_t capacity) {
    struct part put, moved;
    put.count = put.taken = moved.count = moved.taken = 0;
    put.is_last = moved.is_last = false;
    int error = read_put(self, scan, &put, capacity);
    if (error == 0 && (put.count > 0 || put.is_last))
        error = read_moved(self, scan, &moved, capacity);
    if (error != 0)
        return error;
    size_t count = merge(scan, &put, &moved, rows, capacity);
    if (put.is_last && moved.is_last && !has_row(&moved))
        leave_place(scan);
    return (int64_t)count;
}

int64_t htw__database_scan(struct htw__database *self, struct htw__scan *scan,
                           struct htw__scan_row *rows, size_t capacity) {
    size_t count = 0;
    for (unsigned i = 0; i < ROUNDS_MAX && count < capacity && !scan->is_done; i++) {
        if (!scan->is_in_place) {
            int error = enter_place(self, scan);
            if (error != 0)
                return error;
            continue;
        }
        int64_t more = read_on(self, scan, rows + count, capacity - count);
        if (more < 0)
            return more;
        count += (size_t)more;
    }
    return (int64_t)count;
}
