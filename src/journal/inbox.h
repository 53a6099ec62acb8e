/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - the rows of the inbox of a guest (guest.h): jobs that others have put, and that the journal has not taken in.
 *
 * A journal that is no guest has none of them. As rows.h.
 */
#ifndef HTW_SRC_JOURNAL_INBOX_H
#define HTW_SRC_JOURNAL_INBOX_H

#include "rows.h"

/* The next jobs behind `*after`, which is set behind the last one, or to 0: there are no more. How many, or an error. */
#define HTW__INBOX_SOME 128u
int64_t htw__inbox_list(struct htw__database *database, uint64_t *after,
                        uint64_t ids[HTW__INBOX_SOME]);

/* Reads a job and the name of its queue. What they point to is valid until htw__inbox_fetch_end(). -ENOENT: it is not
   there; then there is nothing to end. */
int htw__inbox_fetch(struct htw__database *database, uint64_t id, struct htw__job_row *ret_row,
                     const char **ret_queue);
void htw__inbox_fetch_end(struct htw__database *database);

/* The job in the inbox that has the key; 0: none. 0 or an error. */
int htw__inbox_find_key(struct htw__database *database, const void *key, size_t key_size,
                        uint64_t *ret_id);

/* In a transaction: a job leaves the inbox. -ENOENT: it is not there. */
int htw__inbox_remove(struct htw__database *database, uint64_t id);

/* In a transaction: a job is put under the key. If one of the inbox has it, that one goes, or -EEXIST. */
int htw__inbox_take_key(struct htw__database *database, const void *key, size_t key_size,
                        bool is_if_absent);

#endif /* HTW_SRC_JOURNAL_INBOX_H */
