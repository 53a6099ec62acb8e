/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - a bucket of level 0 in memory: records that wait for their millisecond.
 *
 * Records arrive in order of offset, and leave at their millisecond, in order of (deadline, offset), which progress.h
 * writes down. For that to be true:
 *   - nothing leaves before the bucket has been read up to what was there when it was opened;
 *   - a record that arrives later with a deadline that has passed leaves at once.
 * A record with a deadline after the end of the bucket should not be there. It leaves at the end, and
 * is filed anew.
 *
 * MEMORY. When the bucket takes more than its share, the later half of what is in memory is dropped:
 * `cut` is the first that was dropped, and nothing from there on is kept. When all before the cut has
 * left, the bucket is read again from its start: a pass. So the memory is bounded whatever a bucket
 * holds, and each pass delivers about as much as fits.
 */
#ifndef HTW_RELAY_LOADED_H
#define HTW_RELAY_LOADED_H

#include "../../../src/base/heap.h"
#include "progress.h"
#include "request.h"

/* A record in memory. */
struct htw__entry {
    struct htw__heap_node turn;
    int64_t deadline_ms,
        offset; /* its place in the order; the deadline is not after the bucket's end */
    size_t size;
    struct htw__relay_record *record;  /* behind the entry */
    struct htw__relay_request request; /* what it asks for */
};

struct htw__loaded {
    int64_t end_ms; /* of the bucket: its deadlines are before this */
    struct htw__relay_progress progress;
    int64_t seen;   /* read up to here, in this pass */
    int64_t target; /* nothing leaves before this is seen */
    bool is_cut;
    int64_t cut_deadline_ms, cut_offset;
    struct htw__heap entries; /* by deadline and offset */
    size_t bytes;
};

/* Begins to load a bucket. Reading starts at `position`; `end` is as far as is known to be there. */
void htw__loaded_init(struct htw__loaded *loaded, int64_t end_ms, int64_t position,
                      const struct htw__relay_progress *progress, int64_t end);

/* Drops everything. */
void htw__loaded_fini(struct htw__loaded *loaded);

/* A record has arrived; a bad one is due at once. More than `bytes_max` in memory makes a cut. Returns whether the record
 * leaves at once; otherwise it is in memory, was done before, or is for another pass. */
bool htw__loaded_add(struct htw__loaded *loaded, const struct htw__relay_record *record,
                     const struct htw__relay_request *request, size_t bytes_max);

/* All before `offset` has been read. */
void htw__loaded_reach(struct htw__loaded *loaded, int64_t offset);

/* When the next entry leaves; INT64_MAX: none does before more is read. */
int64_t htw__loaded_next(const struct htw__loaded *loaded);

/* How many entries are due. */
size_t htw__loaded_overdue(const struct htw__loaded *loaded, int64_t now_ms);

/* The next entry that is due leaves; NULL: none is. The caller delivers the record, and then frees the
 * entry by free(). */
struct htw__entry *htw__loaded_leave(struct htw__loaded *loaded, int64_t now_ms);

/* Whether everything that was read has left, up to the cut if there is one: then another pass is needed. */
bool htw__loaded_is_empty(const struct htw__loaded *loaded);

/* Begins it: the bucket is read again from its start, `position`. */
void htw__loaded_begin_pass(struct htw__loaded *loaded, int64_t position);

#endif /* HTW_RELAY_LOADED_H */
