/* SPDX-License-Identifier: MIT */
/* group.h - timers that are cancelled, paused and resumed together. */
#ifndef HTW_SRC_SCHEDULER_GROUP_H
#define HTW_SRC_SCHEDULER_GROUP_H

#include "../base/list.h"
#include "shard.h"

/*
 * A member of a ring that is visited in slices: of the timers of a group, and of the groups of a shard. The ring changes
 * between two slices, so a visit marks its place by a member without an object: its cursor.
 */
struct htw__member {
    struct htw__link link;
    void *object; /* attributes of a timer, or a group; NULL: a cursor, or the end of a sweep */
};

/* Moves a cursor behind the next member, and returns that; NULL: `end` is next. */
static inline struct htw__member *htw__cursor_step(struct htw__member *cursor,
                                                   const struct htw__link *end) {
    struct htw__link *link = cursor->link._next;
    if (link == end)
        return NULL;
    htw__link_unlink(&cursor->link);
    htw__link_insert(&link->_next, &cursor->link);
    return HTW_CONTAINER_OF(link, struct htw__member, link);
}

/* Guarded by the lock of the shard, in which all timers of the group live. */
struct htw_group {
    struct htw__shard *shard; /* constant */
    struct htw__link members; /* ring of struct htw__member: timers, and cursors of sweeps */
    uint64_t count;           /* timers in `members` */
    unsigned sweeps;          /* cancels, pauses and resumes that are under way */
    bool paused;
    bool destroyed; /* by the user: freed with its last timer or sweep */
    struct htw__key_table keys;
    struct htw__member listed; /* among all groups of the shard */
    char name[32];
};

/* Under the lock of the shard. */
void htw__group_add(struct htw_group *group, struct htw__member *member);

/* May free the group. Under the lock of the shard. */
void htw__group_remove(struct htw_group *group, struct htw__member *member);

/* Frees the group if it was destroyed and nothing refers to it. Under the lock of the shard. */
void htw__group_free_if_unused(struct htw_group *group);

/* What every public call begins with: 0, -EINVAL or -EOWNERDEAD. */
static inline int htw__group_refusal(const struct htw_group *group) {
    return group == NULL ? -EINVAL : htw__scheduler_refusal(group->shard->scheduler);
}

#endif /* HTW_SRC_SCHEDULER_GROUP_H */
