/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the rows of the tables: jobs, their blocks, those that were moved, the inbox.
 *
 * JOBS. A job is a row of `job`, as it was put: inserted once, removed once, never changed. Its key is the id. Ids are
 * given in BLOCKS (blocks.h), and a block belongs to a place, so rows that are due in the same minute are beside each
 * other. `block` says which ids the jobs of a place may have. Its row is made with the first job that needs it, and
 * removed when the last job of it has gone.
 *
 * MOVED. A job that is no longer as it was put (released, moved, buried, kicked, leased durably), or that
 * others have put (reader.h), has a row in `moved` too, which says where it is now. Its block does not count for it.
 *
 * Where no job was moved, that costs nothing. Changes are made between htw__database_begin() and _commit(); a
 * failure leaves its sentence (error.h). One thread at a time, as for the database.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_ROWS_H
#define HTW_SRC_JOURNAL_DATABASE_ROWS_H

#include "database.h"
#include "place.h"

struct sqlite3; /* of a guest: htw/journal_guest.h */

/* ---- jobs */

/* How often this has happened to a job. */
struct htw__counters {
    uint32_t attempts, releases, timeouts, buries, kicks;
};

/* Where a job is, and what has happened to it. */
struct htw__whereabouts {
    uint64_t place;
    int64_t rank; /* the order within the place: READY: its `put_us`; BURIED: a number that rises */
    int64_t deadline_ns; /* DELAYED: when it is due, or when its lease ends */
    uint32_t priority;
    bool is_leased; /* durably: in class DELAYED */
    struct htw__counters counters;
};

struct htw__job_row {
    int64_t deadline_ns;
    const void *key; /* NULL: none */
    size_t key_size;
    const void *payload;
    size_t payload_size;
    uint32_t queue, priority;
    /* When it was put: microseconds since 1970, in the order of putting. 0: unknown, for jobs that are only
       delayed. The job is put into READY, or, if it `is_to_come`, into DELAYED: the file has ~put_us then. */
    int64_t put_us;
    bool is_to_come;
    int64_t lease_ns; /* how long its leases last; 0: as the options say */
};

/* Where a job is that was put like this; its counters are 0. */
struct htw__whereabouts htw__database_where_put(const struct htw__job_row *row);

/* Its id must be of a block of the place where it is put (htw__ids_give()), or from the inbox: then `moved` says where it is. */
int htw__database_insert(struct htw__database *self, uint64_t id, const struct htw__job_row *row);

/* Removes a job, and what `moved` has about it. -ENOENT: there is no such job. */
int htw__database_remove(struct htw__database *self, uint64_t id);

/* Says where a job is now, which must exist. -ENOENT: it does not. */
int htw__database_move(struct htw__database *self, uint64_t id, const struct htw__whereabouts *to);

/* Reads a job and where it is. What `row` points to is valid until htw__database_fetch_end(). -ENOENT: there is no
   such job; then there is nothing to end. */
int htw__database_fetch(struct htw__database *self, uint64_t id, struct htw__job_row *ret_row,
                        struct htw__whereabouts *ret_where);
void htw__database_fetch_end(struct htw__database *self);

/* ---- keys */

/* The job that has the key; 0: none. 0 or an error. */
int htw__database_find_key(struct htw__database *self, const void *key, size_t key_size,
                           uint64_t *ret_id);

/* ---- the jobs of places, in order */

/* Where a scan is: in `place`, behind `id` of the jobs that are as they were put, and behind (`rank`, `moved`) of
   those that were moved. */
struct htw__scan {
    uint64_t place, last_place;
    uint64_t block, id; /* block: its first id */
    int64_t rank;
    uint64_t moved;
    /* Yes or no. Without padding: the same scan has the same bytes. */
    uint32_t is_in_place, is_done, block_has_jobs, unused;
};

/* The jobs of the places from `first` to `last`. */
static inline struct htw__scan htw__scan_of(uint64_t first, uint64_t last) {
    return (struct htw__scan) { .place = first, .last_place = last };
}

/*
 * Reads the next `capacity` (1 to HTW__SCAN_MAX) jobs of a scan, in order of place. In a place those that were not moved
 * come by id, which is the order of putting, and those that were moved among them by rank. Returns how many; fewer,
 * or none, does not mean the end, which is `scan->is_done`: a call does a bounded amount of work. Or a negative errno.
 *
 * Between two calls jobs may come and go. One that comes to a position that the scan has passed is not read.
 */
#define HTW__SCAN_MAX 256u
int64_t htw__database_scan(struct htw__database *self, struct htw__scan *scan,
                           struct htw__scan_row *rows, size_t capacity);

/* The first place of `first` to `last` that has jobs, or has had some; UINT64_MAX: none. 0 or an error. */
int htw__database_next_place(struct htw__database *self, uint64_t first, uint64_t last,
                             uint64_t *ret_place);

/* ---- the inbox of a guest (reader.h): jobs that others have put, and that the journal has not taken in */

/* Puts a job that is valid, in a transaction of the caller, and sets its id. 0, -EEXIST: another job has the key; or an error. */
int htw__inbox_put(struct sqlite3 *connection, struct htw_job *job);

/* Reads the next job behind the id `after`, its id and the name of its queue. What they point to is valid until
   htw__inbox_next_end(). -ENOENT: there is none; then there is nothing to end. */
int htw__inbox_next(struct htw__database *database, uint64_t after, struct htw__job_row *ret_row,
                    uint64_t *ret_id, const char **ret_queue);
void htw__inbox_next_end(struct htw__database *database);

/* The job in the inbox that has the key; 0: none. 0 or an error. */
int htw__inbox_find_key(struct htw__database *database, const void *key, size_t key_size,
                        uint64_t *ret_id);

/* In a transaction: a job leaves the inbox, or ends in it, which `added.inbox` counts. -ENOENT: it is not there. */
int htw__inbox_leave(struct htw__database *database, uint64_t id);
int htw__inbox_remove(struct htw__database *database, uint64_t id);

/* In a transaction: a job is put under the key. If one of the inbox has it, that one goes, or -EEXIST. */
int htw__inbox_take_key(struct htw__database *database, const void *key, size_t key_size,
                        bool is_if_absent);

#endif /* HTW_SRC_JOURNAL_DATABASE_ROWS_H */
