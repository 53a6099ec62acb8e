/* SPDX-License-Identifier: MIT */
/*
 * progress.h - what the relay writes beside its offsets, in the metadata of the consumer group: short
 * texts, which every client that may commit to the group can write. So reading trusts nothing.
 *
 * Of a bucket of level 0 that is being delivered: records leave it in order of (deadline, offset),
 * not in order of offset. `(read_end, deadline_ms, offset)` says: of the records before `read_end`,
 * those up to (deadline_ms, offset) are done. A deadline after the end of the bucket counts as
 * `end_ms`, the end, which is written down too: who resumes must order by the same.
 *
 * Of a stripe, beside the offset of its input partition: the version, the clock, the widths and sizes by which its buckets were
 * filled, how much of its index is there, and the name of the owner, whose transaction may be in the way of a successor.
 */
#ifndef HTW_RELAY_PROGRESS_H
#define HTW_RELAY_PROGRESS_H

#include "levels.h"
#include "record.h"

/* The most bytes of a text here, with the final NUL. Brokers allow 4096 (offset.metadata.max.bytes). */
#define HTW__PROGRESS_TEXT_SIZE 256

struct htw__relay_progress {
    int64_t read_end;
    int64_t deadline_ms; /* negative: none is done */
    int64_t offset;
    int64_t end_ms;
};

/* Of a bucket of which nothing is done from `position` on. */
#define HTW__PROGRESS_NONE(position) ((struct htw__relay_progress) { (position), -1, -1, 0 })

/* Whether a record is done: it was read, and its turn came. */
bool htw__progress_covers(const struct htw__relay_progress *progress, int64_t deadline_ms,
                          int64_t offset);

/* Writes a progress. */
void htw__progress_format(const struct htw__relay_progress *progress,
                          char text[HTW__PROGRESS_TEXT_SIZE]);

/* Reads a progress beside the offset `position`. Absent or empty: none, `read_end` is `position`.
 * Returns 0, or -EINVAL if it is no progress, or not one that can stand beside that offset. */
int htw__progress_parse(struct htw__bytes text, int64_t position,
                        struct htw__relay_progress *ret_progress);

/* The longest name of an owner (htw__bytes_are_name()). */
#define HTW__RELAY_OWNER_MAX 64u

/* How much of the index of a stripe (index.h) is known to be there. While all of it is, an entry that is missing was
 * removed. */
struct htw__ids_log {
    int64_t start, end; /* its partition begins there, or before, and goes that far at least */
    int64_t since;      /* records of the input before this offset may have lost their entries */
};

/* What stands beside the offset of an input partition. */
struct htw__relay_clock {
    struct htw__levels levels;
    int64_t time_ms;
    struct htw__ids_log ids;
    struct htw__bytes owner; /* absent: it had no transactions */
};

/* Writes it. */
void htw__clock_format(const struct htw__relay_clock *clock, char text[HTW__PROGRESS_TEXT_SIZE]);

/* Reads it; the owner leads into the text. Returns 0, -ENOENT if there is none, or -EINVAL if it is no
 * clock. */
int htw__clock_parse(struct htw__bytes text, struct htw__relay_clock *ret_clock);

#endif /* HTW_RELAY_PROGRESS_H */
