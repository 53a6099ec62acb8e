/* SPDX-License-Identifier: MIT */
/* group.h - timers that are cancelled, paused and resumed together. */
#ifndef HTW_SRC_SCHEDULER_GROUP_H
#define HTW_SRC_SCHEDULER_GROUP_H

#include "../base/list.h"
#include "shard.h"

/* A place in the list of a group. */
struct htw__member {
    struct htw__link link;
    struct htw__attributes *attributes; /* of the timer; NULL: the cursor or the end of a sweep */
};

/* A place in the list of all groups of a shard. */
struct htw__listed {
    struct htw__link link;
    const struct htw_group *group; /* NULL: the cursor of a visit */
};

/* Guarded by the lock of the shard, in which all timers of the group live. */
struct htw_group {
    struct htw__shard *shard; /* constant */
    struct htw__link members; /* ring of struct htw__member: timers, and cursors of sweeps */
    uint64_t count;           /* timers in `members` */
    unsigned sweeps;          /* cancels, pauses and resumes that are under way */
    bool paused;
    bool destroyed;              /* by the user: freed with its last timer or sweep */
    struct htw__key_table *keys; /* NULL until a timer of the group has a key */
    struct htw__listed listed;
    char name[32];
};

/* Under the lock of the shard. */
void htw__group_add(struct htw_group *group, struct htw__member *member);

/* May free the group. Under the lock of the shard. */
void htw__group_remove(struct htw_group *group, struct htw__member *member);

/* Its table of keys, created if there is none; NULL: no memory. Under the lock of the shard. */
struct htw__key_table *htw__group_keys(struct htw_group *group);

/* Frees the group if it was destroyed and nothing refers to it. Under the lock of the shard. */
void htw__group_free_if_unused(struct htw_group *group);

/* What every public call begins with: 0, -EINVAL or -EOWNERDEAD. */
static inline int htw__group_refusal(const struct htw_group *group) {
    return group == NULL ? -EINVAL : htw__scheduler_refusal(group->shard->scheduler);
}

#endif /* HTW_SRC_SCHEDULER_GROUP_H */
