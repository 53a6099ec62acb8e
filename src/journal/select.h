/* SPDX-License-Identifier: MIT */
/* select.h - the delayed jobs of a queue in the file, in order of deadline; or those that are done, by their end. */
#ifndef HTW_SRC_JOURNAL_SELECT_H
#define HTW_SRC_JOURNAL_SELECT_H

#include "state.h"

/* The first jobs behind a position. */
struct htw__selection {
    enum htw__place_class class; /* DELAYED or DONE */
    struct htw__position after;
    struct htw__position *rows; /* `count` of them; there is room for twice `room`, and a scan */
    size_t count, wanted;       /* at most `room` */
    size_t room;
};

/* 0 or -ENOMEM. */
int htw__selection_init(struct htw_journal *journal, struct htw__selection *selection,
                        enum htw__place_class class, size_t wanted);
void htw__selection_fini(struct htw_journal *journal, struct htw__selection *selection);

/* Finds up to `wanted` jobs behind `after`. Without the lock, in the thread that has the database. 0 or an error. */
int htw__selection_find(struct htw__database *database, uint32_t queue,
                        struct htw__selection *selection);

#endif /* HTW_SRC_JOURNAL_SELECT_H */
