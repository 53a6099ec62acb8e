/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - a bucket of level 0 in memory: records that wait for their millisecond.
 *
 * Records arrive in order of offset, and leave in order of (deadline, offset), which progress.h
 * writes down: from the wheel, at their millisecond, to a heap of what is due. For that to be true:
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

#include <htw/wheel.h>

/* A record in memory. */
struct htw__entry {
    struct htw_timer timer;     /* until it is due */
    struct htw__heap_node turn; /* among the due */
    int64_t deadline_ms,
        offset; /* its place in the order; the deadline is not after the bucket's end */
    struct htw__loaded *loaded;
    struct htw__link link; /* in order of offset */
    size_t size;
    struct htw__relay_record *record; /* behind the entry */
    struct htw__request request;      /* what it asks for */
};

struct htw__loaded {
    struct htw_wheel *wheel; /* of the relay: a tick is a millisecond */
    void *owner;             /* of the bucket, for the caller, ... */
    uint32_t slot;           /* ... and where it lies there */
    int64_t end_ms;          /* of the bucket: its deadlines are before this */
    struct htw__relay_progress progress;
    int64_t seen;   /* read up to here, in this pass */
    int64_t target; /* nothing leaves before this is seen */
    bool is_armed;  /* the target was seen */
    bool is_cut;
    int64_t cut_deadline_ms, cut_offset;
    struct htw__link entries;
    struct htw__link link; /* the loaded buckets of a relay */
    /* What is due, by deadline and offset. The wheel hands out what was due when it was armed in the order of arming, and
       the progress of a bucket needs that of the deadlines. */
    struct htw__heap due;
    size_t count;
    size_t bytes;
};

/* What becomes of a record that has arrived. */
enum htw__arrival {
    HTW__ARRIVAL_KEPT, /* in memory, or done before, or for another pass */
    HTW__ARRIVAL_DUE,  /* it leaves at once */
    HTW__ARRIVAL_NO_MEMORY,
};

/* Begins to load a bucket. Reading starts at `position`; `end` is as far as is known to be there. */
void htw__loaded_init(struct htw__loaded *loaded, struct htw_wheel *wheel, int64_t end_ms,
                      int64_t position, const struct htw__relay_progress *progress, int64_t end,
                      void *owner, uint32_t slot);

/* Drops everything. */
void htw__loaded_fini(struct htw__loaded *loaded);

/* A record has arrived; a bad one is due at once. More than `bytes_max` in memory makes a cut. */
enum htw__arrival htw__loaded_add(struct htw__loaded *loaded,
                                  const struct htw__relay_record *record,
                                  const struct htw__request *request, size_t bytes_max);

/* All before `offset` has been read. Returns 0 or -ENOMEM. */
int htw__loaded_reach(struct htw__loaded *loaded, int64_t offset);

/* The wheel has handed out the timer of an entry. */
void htw__loaded_fall_due(struct htw_timer *timer);

/* The next entry that is due leaves; NULL: none is. The caller delivers the record, and then frees the
 * entry by free(). */
struct htw__entry *htw__loaded_leave(struct htw__loaded *loaded);

/* Whether everything up to the cut has left, and another pass is needed. */
bool htw__loaded_needs_pass(const struct htw__loaded *loaded);

/* Begins it: the bucket is read again from its start, `position`. */
void htw__loaded_begin_pass(struct htw__loaded *loaded, int64_t position);

/* Whether everything that was read has left. */
bool htw__loaded_is_empty(const struct htw__loaded *loaded);

/* Moves all entries to another wheel, whose clock may be earlier. Returns 0 or -ENOMEM. */
int htw__loaded_move(struct htw__loaded *loaded, struct htw_wheel *wheel);

#endif /* HTW_RELAY_LOADED_H */
