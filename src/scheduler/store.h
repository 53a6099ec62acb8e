/* SPDX-License-Identifier: MIT */
/*
 * store.h - the timing wheel of a clockwork: hierarchical, with a delay queue, as htw/wheel.h, but of
 * entries instead of timers. docs/architecture.md says why there are two.
 *
 * A bucket is a chain of arrays of ENTRIES. An entry holds what the wheel needs, so that a bucket is
 * emptied from memory that follows itself, and the records of its timers are fetched ahead. It names
 * its record by index and TAG; a record does not know its entry. So:
 *
 *  - A timer that ends leaves its entry behind, with the tag of an earlier generation.
 *  - A timer that is moved to a later time keeps its entry. When that comes up, it is filed again.
 *  - A timer that is moved to an earlier time gets another entry, and the FILING of its record is
 *    raised, so that the tag of the old one does not fit any more. So does one that is paused.
 *  - Entries that were left behind are dropped when they come up, when they are the first of the bucket
 *    that is next, or by a SWEEP, which begins when they might be a third of all.
 *
 * A tag may fit by chance, since it is short: then the entry comes up for a timer that is not due, and
 * is filed again; or the timer is due, and it does not matter which of its entries comes up. An entry
 * that a timer needs is never dropped.
 *
 * A timer that never becomes due has no entry. One for which there was no memory is UNFILED: its record
 * says so, and when it is due the slab is searched (collect.c). So expiry cannot fail.
 *
 * All of this happens under the lock of the shard, except creation.
 */
#ifndef HTW_SRC_SCHEDULER_STORE_H
#define HTW_SRC_SCHEDULER_STORE_H

#include "../base/compiler.h"
#include "../wheel/delay_queue.h"
#include "chunks.h"
#include "clocks.h"
#include "record.h"

#include <errno.h>

/* So many entries a bucket holds itself. Most buckets of a program with few timers need no chunk. */
#define HTW__BUCKET_ENTRIES 2u

/* In the order in which they were filed: first its own entries, then those of its chunks. */
struct htw__entry_bucket {
    alignas(64) struct htw__chunk *first; /* NULL: none */
    struct htw__chunk *last;
    uint16_t first_begin; /* the first entry in `first` */
    uint16_t last_end;    /* behind the last entry in `last` */
    uint16_t own_begin, own_end;
    struct htw__entry own[HTW__BUCKET_ENTRIES];
};

struct htw__stores;

struct htw__clockwork;

struct htw__store {
    struct htw__stores *stores;
    const struct htw__clockwork *clockwork; /* whose timers it has */
    struct htw__link link; /* among those of the shard */
    uint64_t clock;
    uint32_t mask;    /* buckets in a level - 1 */
    uint8_t bits;     /* log2 of that: a bucket of level i is 2^(bits * i) ticks wide */
    uint8_t level_count;
    bool in_round;
    bool retired;     /* nothing in it is needed any more */
    struct htw__delay_queue queue;
    struct htw__entry_bucket due;        /* filed for the tick of the clock, or an earlier one */
    struct htw__entry_bucket next_round; /* the same, but inside the round: due in the next one */
    uint64_t count;                      /* entries */
    uint64_t unfiled_tick;               /* the first of its timers that are UNFILED */
    uint32_t unfiled_place;              /* where the search for them is */
    uint64_t unfiled_next;               /* the first of those that it has passed over */
    struct htw__entry_bucket *levels[];  /* as many as there can be */
};

/* Those of a shard. */
struct htw__stores {
    const struct htw_scheduler *scheduler; /* constant, as is the next */
    struct htw__slab *slab;
    struct htw__chunks chunks;
    struct htw__link all;
    uint64_t entry_count;
    uint64_t sweep_at;
    uint64_t demoted;
    uint64_t bytes; /* without chunks */
    uint32_t retired_count;
    struct { /* the sweep */
        struct htw__store *store; /* NULL: there is none */
        uint32_t id;              /* of the bucket */
        bool inside;              /* the bucket's own entries are done */
        struct htw__chunk *previous, *into; /* the last that was visited; the one that is filled up */
    } sweep;
};

void htw__stores_init(struct htw__stores *stores, const struct htw_scheduler *scheduler,
                      struct htw__slab *slab);
void htw__stores_fini(struct htw__stores *stores);

/* ---- one store */

/* Not under the lock. `size` is the number of buckets in a level. 0 or -ENOMEM. */
int htw__store_create(struct htw__store **ret_store, const struct htw__clockwork *clockwork,
                      uint32_t size, uint64_t start);

/* Takes a store that was created into the shard. */
void htw__store_add(struct htw__store *store);

/* Of one that was not added. NULL is allowed. */
void htw__store_destroy(struct htw__store *store);

/* Gives up a store that was added, with what is in it. Sweeps free it. NULL is allowed. */
void htw__store_retire(struct htw__store *store);

/* Files an entry. Its tick is not HTW_NEVER_TICK. 0, or -ENOMEM: nothing has changed. */
int htw__store_file(struct htw__store *store, struct htw__entry entry);

/* Files a record that is PENDING. Cannot fail. */
void htw__store_file_always(struct htw__store *store, struct htw__record *record,
                            struct htw__entry entry);

/*
 * Takes up to `max` entries that are due at `now`, in up to `budget` steps, and fetches their records; to
 * look at these is for the caller, who needs no lock for most. HTW_DONE: there are no more, and the bucket
 * that is next has a timer.
 */
enum htw_wheel_progress htw__store_poll(struct htw__store *store, uint64_t now,
                                        struct htw__entry entries[], size_t max, size_t budget,
                                        size_t *ret_count);

/* The PENDING record of an entry that a timer needs, or may need; NULL: it was left behind. */
struct htw__record *htw__store_record(const struct htw__store *store, struct htw__entry entry);

/* The tick of the clock that is next; HTW_NEVER_TICK: none. */
uint64_t htw__store_next(const struct htw__store *store);

/* Moves up to `max` entries to another store. Returns whether there are more. */
bool htw__store_move(struct htw__store *from, struct htw__store *to, size_t max);

/* The timers that have their entry in a bucket; counts at most `most`, of as many entries. */
size_t htw__store_count_in(const struct htw__store *store, unsigned level, uint32_t slot,
                           size_t most);

/* Whether a record is UNFILED and of this store; then no more. */
bool htw__store_unfiled(struct htw__store *store, struct htw__record *record);

/* ---- sweeps */

/* Entries that were left behind, beside the half of what the timers need. */
#define HTW__LEFT_BEHIND_MAX 8192u

static inline bool htw__stores_need_sweep(const struct htw__stores *stores) {
    return stores->entry_count >= stores->sweep_at;
}

static inline bool htw__stores_need_cleanup(const struct htw__stores *stores) {
    uint64_t timers = stores->slab->used_count;
    return stores->sweep.store != NULL || stores->retired_count > 0 ||
           stores->entry_count > timers + timers / 2 + HTW__LEFT_BEHIND_MAX;
}

/* A slice of a sweep. */
void htw__stores_sweep(struct htw__stores *stores);

/* ---- entries and records */

#define HTW__TAG_FILING (HTW__FILING / HTW__FILING_ONE) /* the bits of the filing; above, the generation */

static inline uint32_t htw__entry_tag(uint64_t status) {
    return (htw__status_generation(status) * (HTW__TAG_FILING + 1)) |
           ((uint32_t)(status & HTW__FILING) / HTW__FILING_ONE);
}

static inline struct htw__entry htw__entry_of(const struct htw__stores *stores,
                                              const struct htw__record *record, uint64_t tick) {
    uint64_t status = atomic_load_explicit(&record->status, memory_order_relaxed);
    return (struct htw__entry) { tick, htw__slab_index(stores->slab, &record->cell),
                                 htw__entry_tag(status) };
}

#endif /* HTW_SRC_SCHEDULER_STORE_H */
