/* SPDX-License-Identifier: MIT */
/* attributes.h - the second record, of timers that repeat, or have a key, a group or a hook; and
   what remains to be done, without a lock, for a timer that has ended. */
#ifndef HTW_SRC_SCHEDULER_ATTRIBUTES_H
#define HTW_SRC_SCHEDULER_ATTRIBUTES_H

#include "state.h"

/* As the spec says; in no group and no table yet. NULL: no memory. */
struct htw__attributes *htw__attributes_create(struct htw_scheduler *scheduler,
                                               const struct htw_spec *spec, uint64_t hash);

void htw__attributes_destroy(struct htw_scheduler *scheduler, struct htw__attributes *attributes);

/* Into the table, or out of it, if it has a key; under the lock of its shard. */
void htw__attributes_insert_key(struct htw__shard *shard, struct htw__attributes *attributes);
void htw__attributes_remove_key(struct htw__shard *shard, struct htw__attributes *attributes);

/* Stops the time of a timer: its deadline becomes what remains. Under the lock of its shard. */
void htw__attributes_pause(struct htw__record *record, struct htw__attributes *attributes,
                           int64_t now_ns);

/* Lets it go on, if it was stopped: the deadline is an instant again. `extra` may be NULL. */
void htw__attributes_resume(struct htw__record *record, struct htw__attributes *attributes,
                            int64_t now_ns);

/*
 * Files a record that is due at the instant deadline_ns, or if its group is paused, stops its time
 * there. Under the lock of the shard; cannot fail. `extra` may be NULL.
 */
void htw__attributes_file(struct htw__shard *shard, struct htw__record *record,
                          struct htw__attributes *attributes, int64_t now_ns, bool *ret_wake);

/* A timer that has ended without a run, or with its last. */
struct htw__ended {
    struct htw_unexpired unexpired;
    struct htw__attributes *attributes; /* in no list any more; NULL: it had none */
};

/* Takes the second record, if any, out of group and table; under the lock of its shard. */
void htw__attributes_detach(struct htw__shard *shard, struct htw__record *record,
                            bool has_attributes, struct htw__ended *ret_ended);

/* The argument, if it is to be given back; NULL: it is its release hook's. Before it is settled. */
static inline void *htw__ended_arg(const struct htw__ended *ended) {
    bool has_hook = ended->attributes != NULL && ended->attributes->release != NULL;
    return has_hook ? NULL : ended->unexpired.arg;
}

/* Calls the release hook, if there is one, and frees the second record. No lock is held. */
void htw__ended_settle(struct htw_scheduler *scheduler, const struct htw__ended *ended);

#endif /* HTW_SRC_SCHEDULER_ATTRIBUTES_H */
