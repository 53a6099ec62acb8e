/* SPDX-License-Identifier: MIT */
/* select.h - the first jobs of a queue in the file: delayed ones by deadline, and those of a kick. */
#ifndef HTW_SRC_JOURNAL_SELECT_H
#define HTW_SRC_JOURNAL_SELECT_H

#include "change.h"

/* The first jobs behind a position. */
struct htw__selection {
    struct htw__position after;
    struct htw__position *rows; /* `count` of them; there is room for twice `room`, and a scan */
    size_t count, wanted;       /* at most `room` */
    size_t room;
};

/* 0 or -ENOMEM. */
int htw__selection_init(struct htw_journal *journal, struct htw__selection *selection,
                        struct htw__position after, size_t wanted);
void htw__selection_fini(struct htw_journal *journal, struct htw__selection *selection);

/* Finds up to `wanted` jobs behind `after`. Without the lock, in the thread that has the database. 0 or an error. */
int htw__selection_find(struct htw__database *database, uint32_t queue,
                        struct htw__selection *selection);

/* In the transaction: makes the steps of a kick, for the jobs that were buried first, or the delayed ones. 0 or an error. */
int htw__kick(struct htw_journal *journal, struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_SELECT_H */
