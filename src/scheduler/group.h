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
void htw__group_join(struct htw_group *group, struct htw__attributes *attributes);
void htw__group_leave(struct htw_group *group, struct htw__attributes *attributes);

/* Its table of keys, created at need; NULL: no memory. Under the lock of the shard. */
struct htw__key_table *htw__group_keys(struct htw_group *group);

/* Frees the group if it was destroyed and nothing refers to it. Under the lock of the shard. */
void htw__group_release_if_over(struct htw_group *group);

/* What every call begins with: 0, -EINVAL or -EOWNERDEAD. */
static inline int htw__group_refusal(const struct htw_group *group) {
    return group == NULL ? -EINVAL : htw__scheduler_refusal(group->scheduler);
}

#endif /* HTW_SRC_SCHEDULER_GROUP_H */
