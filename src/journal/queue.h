/* SPDX-License-Identifier: MIT */
/*
 * queue.h - the queues of a journal: their names and numbers, how many jobs they have in each state, policies and
 * pauses. Under the lock of the journal.
 *
 * A READY job is in memory, or in the file in a place of READY. THE WINDOW of a queue is a place in its order (priority,
 * then the order of putting): the READY jobs up to it are in memory. Where the window ends before the last job, the
 * writer moves it forward when few are left in memory, and back where memory has no room. Jobs that memory forgets are in
 * a place of READY in the file; those that became ready by the clock are moved there by a change first.
 */
#ifndef HTW_SRC_JOURNAL_QUEUE_H
#define HTW_SRC_JOURNAL_QUEUE_H

#include "jobs.h"

struct htw__queues {
    struct htw_allocator allocator;
    struct htw__key_table by_name, by_number; /* not the default queue */
    uint64_t seed;
    struct htw__queue_counts all; /* the `counts` of all queues */
    struct htw__queue *unnamed;   /* the default queue */
    struct htw__link named;       /* the others, the newest last */
    struct htw__queue *wanted;    /* those whose windows are to be moved */
};

static inline int64_t htw__counts_sum(const struct htw__queue_counts *counts) {
    int64_t sum = 0;
    for (size_t i = 0; i < HTW__QUEUE_STATES; i++)
        sum += counts->of[i];
    return sum;
}

static inline void htw__counts_add(struct htw__queue_counts *counts,
                                   const struct htw__queue_counts *by) {
    for (size_t i = 0; i < HTW__QUEUE_STATES; i++)
        counts->of[i] += by->of[i];
}

/* 0 or -ENOMEM. */
int htw__queues_init(struct htw__queues *queues, const struct htw_allocator *allocator,
                     bool is_delivered);
void htw__queues_fini(struct htw__queues *queues);

/* `name` NULL: the default queue. NULL: there is none. */
struct htw__queue *htw__queues_find(const struct htw__queues *queues, const char *name);
struct htw__queue *htw__queues_find_number(const struct htw__queues *queues, uint64_t number);

/* As it, or a new one. 0, -EAGAIN: there are too many; -ENOMEM. */
int htw__queues_get(struct htw__queues *queues, const char *name, struct htw__queue **ret_queue);

/* A new one, whose name and number no other has. NULL: no memory. */
struct htw__queue *htw__queues_add(struct htw__queues *queues, const char *name, uint64_t number);

/* The queues of the file. 0, -EBADMSG, -ENOMEM or another error. */
int htw__queues_load(struct htw__queues *queues, struct htw__database *database);

/* For a file that is only read: jobs whose time has come, or whose lease has ended, count as READY. 0 or an error. */
int htw__queues_count_due(struct htw__queues *queues, struct htw__database *database, int64_t now);

/* The window is to be moved. */
void htw__queues_want(struct htw__queues *queues, struct htw__queue *queue);

/* One of those; NULL: none. */
struct htw__queue *htw__queues_take_wanted(struct htw__queues *queues);

/* Removes it if it has nothing, and nothing points to it. */
void htw__queues_drop(struct htw__queues *queues, struct htw__queue *queue);

/* Whether there are other jobs than mere delays of the default queue. */
bool htw__queues_are_used(const struct htw__queues *queues);

/* The queue after `queue`, which begins with the default one; NULL: none. The order does not change. */
struct htw__queue *htw__queues_next(const struct htw__queues *queues,
                                    const struct htw__queue *queue);

/* Whether a READY job of the file belongs in memory. */
static inline bool htw__queue_covers(const struct htw__queue *queue, struct htw__turn turn) {
    return !htw__turn_precedes(queue->window, turn);
}

/* Whether all READY jobs are in memory. */
static inline bool htw__queue_is_whole(const struct htw__queue *queue) {
    return htw__queue_covers(queue, HTW__TURN_LAST);
}

/* The job that is leased next; NULL: none, or one that is to be read. */
struct htw__job *htw__queue_next(const struct htw__queue *queue);

bool htw__queue_name_is_valid(const char *name);

/* The jobs of all queues by state. */
struct htw__queue_counts htw__queues_count(const struct htw__queues *queues,
                                           const struct htw__jobs *jobs, uint64_t jobs_in_file);

void htw__queue_stats(const struct htw__queues *queues, const struct htw__queue *queue,
                      const struct htw__jobs *jobs, uint64_t jobs_in_file,
                      struct htw_queue_stats *ret_stats);

/* ---- the counts in the file: for the thread that writes, without the lock. `changed`: the queues of a transaction */

/* A job comes to be in this state in the file (`by` 1), or is no longer (-1). */
void htw__queue_count(struct htw__queue **changed, struct htw__queue *queue,
                      enum htw_job_state state, int by);

/* The queue receives another policy, which must stay until the end of the transaction. */
void htw__queue_set_policy(struct htw__queue **changed, struct htw__queue *queue,
                           const struct htw_queue_policy *policy);

/* Writes the rows of the queues that have changed. 0 or an error. */
int htw__queues_write(struct htw__queue **changed, struct htw__database *database);

/* Under the lock: the transaction is durable, or rolled back. Drops queues that have nothing left. */
void htw__queues_end_transaction(struct htw__queues *queues, struct htw__queue **changed,
                                 bool keep);

/* ---- policies: what queues do with jobs whose attempt has failed */

bool htw__policy_is_on(const struct htw_queue_policy *policy);

/* 0 or -EINVAL. */
int htw__policy_check(const struct htw_queue_policy *policy);

/* The delay before the next attempt of a job, after `attempts`. */
int64_t htw__policy_backoff(const struct htw_queue_policy *policy, uint64_t id, uint32_t attempts);

#endif /* HTW_SRC_JOURNAL_QUEUE_H */
