/* SPDX-License-Identifier: MIT */
/* group.h - timers that are cancelled, paused and resumed together. */
#ifndef HTW_SRC_SCHEDULER_GROUP_H
#define HTW_SRC_SCHEDULER_GROUP_H

#include "state.h"

/* All of it is guarded by the lock of the shard in which its timers live. */
struct htw_group {
    struct htw_scheduler *scheduler;
    struct htw__shard *shard;
    struct htw__link timers; /* of struct htw__member, and the marks of the sweeps among them */
    uint64_t count;          /* timers in `timers` */
    unsigned sweeps;         /* that are under way: cancels, pauses and resumes */
    bool paused;
    bool abandoned; /* the user has destroyed it: it goes with its last timer or sweep */
    struct htw__key_table *keys; /* NULL until a timer of the group has a key */
};

/* Under the lock of the shard. */
void htw__group_join(struct htw_group *group, struct htw__extra *extra);
void htw__group_leave(struct htw_group *group, struct htw__extra *extra);

/* Its table of keys, created at need; NULL: no memory. Under the lock of the shard. */
struct htw__key_table *htw__group_keys(struct htw_group *group);

/*
 * Files a record that is due at the instant deadline_ns, or if its group is paused, stops its time
 * there. Under the lock of the shard; cannot fail. `extra` may be NULL.
 */
void htw__group_file(struct htw__shard *shard, struct htw__record *record, struct htw__extra *extra,
                     int64_t now_ns, bool *ret_wake);

#endif /* HTW_SRC_SCHEDULER_GROUP_H */
