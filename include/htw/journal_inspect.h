/* SPDX-License-Identifier: MIT */
/*
 * htw/journal_inspect.h - looks at a journal: its jobs, its queues and its statistics, also in a file that another process
 * has open; and checks a file. Link with libhtw-journal.
 *
 * What looks at jobs reads the file beside the writer. It may be called in a notice, too. Errors: htw/journal.h.
 */
#ifndef HTW_JOURNAL_INSPECT_H
#define HTW_JOURNAL_INSPECT_H

#include <htw/journal.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ a file that others may have open */

/**
 * Opens the file of a journal to look at it, also while another process has it open, and changes nothing of it.
 * (Of a file without a log it undoes a transaction in which a process was killed, as the next program that opens it does.)
 *
 * The calls that look work: peek, list, list_queues, get_queue, get_stats, htw_journal_check().
 * Changes return -EROFS. Jobs are as the file says, by the clock: one that is delivered or leased in the memory of a process is READY.
 * Queues are as they were at the open.
 *
 * @param ret_journal  as of htw_journal_open(); the caller closes it with htw_journal_close().
 * @param path         the file. One without tables, as a crash leaves it at the first open of a journal, is an empty journal.
 * @param ret_is_guest receives whether it is the database of a program, as `is_guest` of the options. May be NULL.
 * @return as htw_journal_open().
 */
HTW_API HTW_WARN_UNUSED int htw_journal_open_to_read(struct htw_journal **ret_journal,
                                                     const char *path, bool *ret_is_guest);

/* ------------------------------------------------------------------ looking at jobs */

/** A job, as it is. */
struct htw_job_info {
    uint64_t id;
    enum htw_job_state state;
    const char
        *queue; /**< NULL: the default queue. Valid, as payload and key, until the visit returns */
    const void *payload;
    size_t payload_size;
    const void *key; /**< NULL: none */
    size_t key_size;
    int64_t deadline_ns; /**< LEASED: when the lease ends */
    int64_t put_ns;      /**< when it was put; INT64_MIN: not known, as of a mere delay */
    int64_t lease_ns;    /**< how long its leases last, if the request does not say it */
    uint32_t priority;
    /** How often it was leased or delivered, released, its lease has ended by itself, buried, kicked. */
    uint32_t attempts, releases, timeouts, buries, kicks;
};

/** Receives a copy of a job. Returns whether to go on. Must return, as callbacks must (htw_callback). It may call what its
    caller may call: nothing is held meanwhile. */
typedef bool htw_job_visit(void *context, const struct htw_job_info *info);

/**
 * Shows the job with an id. Changes that are not yet durable do not count.
 *
 * @return 0: it was visited; -ENOENT: there is none; -ENOMEM, -EBUSY, -EIO, -ESHUTDOWN.
 *
 * Cost: some 10 us, and a copy of the job. It waits for no commit, and no commit waits for it, except in the file of a
 * program or without a file: there it is the commit that is under way.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_peek(struct htw_journal *journal, uint64_t id,
                                             htw_job_visit *visit, void *context);

/** Where a list goes on. Zeroed: at its beginning. The members are private. */
struct htw_list_place {
    uint64_t _private[20];
};

/**
 * Shows jobs of a queue in a state: DELAYED by deadline, READY by priority, BURIED in the order of burying,
 * LEASED in no order. `count` 1 with a zeroed place shows the first.
 *
 * @param place is moved behind the last job that was visited. Jobs that change meanwhile, or between two calls, may be
 *              missed or come twice; those that stay come once.
 * @return 0 or more: so many were visited; less than `count`: these were the last, or `visit` has ended
 *         it;
 *         -ENOMEM, -EBUSY, -EIO, -ESHUTDOWN.
 *
 * Cost: some 5 us for each job, and for DELAYED the minutes in which jobs of any queue are due. It waits as htw_journal_peek(). Copies of jobs take up to 256 KiB, and one job more.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_list(struct htw_journal *journal, const char *queue,
                                             enum htw_job_state state, struct htw_list_place *place,
                                             uint32_t count, htw_job_visit *visit, void *context);

/* ------------------------------------------------------------------ queues */

/** The numbers of a queue. Start from HTW_QUEUE_STATS_INIT. */
struct htw_queue_stats {
    /** sizeof(struct htw_queue_stats); HTW_QUEUE_STATS_INIT sets it. */
    size_t struct_size;
    const char *name; /**< NULL: the default queue; valid in a visit only */
    /** Durable jobs in each state. Overdue ones count as DELAYED until the journal has read them, and
        while the default queue is delivered, so do those that wait for `deliver`. */
    uint64_t delayed, ready, leased, buried;
    uint64_t waiting;        /**< requests that name it */
    int64_t paused_until_ns; /**< INT64_MIN: not paused */
    struct htw_queue_policy policy;
};

#define HTW_QUEUE_STATS_INIT \
    { sizeof(struct htw_queue_stats), NULL, 0, 0, 0, 0, 0, INT64_MIN, HTW_QUEUE_POLICY_INIT }

/** Sets `stats` to HTW_QUEUE_STATS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_queue_stats_init(struct htw_queue_stats *stats);

/**
 * Copies the numbers of a queue.
 *
 * @return 0: success; -ENOENT: there is no such queue; -EINVAL.
 *
 * Cost: O(1); does not wait for the disk.
 */
HTW_API int htw_journal_get_queue(struct htw_journal *journal, const char *queue,
                                  struct htw_queue_stats *stats);

/** Receives the numbers of a queue. Returns whether to go on. Must return, as callbacks must (htw_callback), and must not
    call this journal, whose lock is held. */
typedef bool htw_queue_visit(void *context, const struct htw_queue_stats *stats);

/**
 * Shows all queues, in no order, the default queue first. Those that begin or end meanwhile may be left out.
 *
 * @return 0: success, or `visit` has ended it; -EINVAL.
 *
 * Cost: below 1 us for each queue, besides `visit`. Others wait for 128 of them, and then have their turn.
 */
HTW_API int htw_journal_list_queues(struct htw_journal *journal, htw_queue_visit *visit,
                                    void *context);

/* ------------------------------------------------------------------ all of the file */

/** Receives a sentence about what is wrong in a file; `problem` is valid in this call only. Must return, as callbacks must
    (htw_callback), and must not call functions of this journal. */
typedef void htw_problem(void *context, const char *problem);

/**
 * Reads all of the file of a journal that was opened by htw_journal_open_to_read(), as of one instant.
 *
 * @param problem called in this thread for each thing that is wrong.
 * @return 0: all was read; -EINVAL: also if the journal was opened otherwise; -EIO, -EBUSY, -ENOMEM.
 *
 * Cost: that of reading the file. The log of the file grows meanwhile.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_check(struct htw_journal *journal, htw_problem *problem,
                                              void *context);

/* ------------------------------------------------------------------ statistics */

/**
 * Counters since the journal was opened. When no thread is in a call and nothing waits to be
 * written, found + put = jobs + done + cancelled + replaced.
 */
struct htw_journal_stats {
    /** sizeof(struct htw_journal_stats); HTW_JOURNAL_STATS_INIT sets it. */
    size_t struct_size;
    uint64_t found;        /**< jobs that were in the file when it was opened */
    uint64_t put;          /**< jobs that were put, durably */
    uint64_t done;         /**< jobs that were ended by done, durably */
    uint64_t cancelled;    /**< jobs that were cancelled, durably */
    uint64_t replaced;     /**< jobs that were replaced under a key, durably */
    uint64_t delivered;    /**< calls of `deliver` */
    uint64_t refused;      /**< calls that returned -EAGAIN */
    uint64_t failed;       /**< changes that failed: no space, no memory, or the disk */
    uint64_t commits;      /**< transactions */
    uint64_t checkpoints;  /**< times that the log was copied into the file */
    uint64_t jobs;         /**< jobs in the file now, those in flight included */
    uint64_t in_flight;    /**< delivered and not done now */
    uint64_t in_memory;    /**< jobs of the near future that are in memory now */
    uint64_t queued;       /**< changes that wait to be written now */
    uint64_t memory_bytes; /**< memory of the journal, without SQLite's */
    uint64_t log_bytes;    /**< the size of PATH-wal now */
    /** Jobs in each state now, as in struct htw_queue_stats. */
    uint64_t delayed, ready, leased, buried;
    uint64_t queues;   /**< how many there are now, the default one included */
    uint64_t requests; /**< for jobs, that wait now */
    /** How long the oldest job in memory has been due and waits to be delivered or leased, by its deadline or its put.
        Those that memory has no room for may be older. */
    uint64_t oldest_ns;
    uint64_t stopped;                 /**< 1: the journal has stopped by itself */
    struct htw_distribution commit;   /**< duration of a transaction */
    struct htw_distribution durable;  /**< from the call of a change until it was durable */
    struct htw_distribution lateness; /**< from the deadline to the call of `deliver` */
};

#define HTW_JOURNAL_STATS_INIT                                                                     \
    {                                                                                              \
        sizeof(struct htw_journal_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, 0 }, {                     \
            0, 0, 0, 0, 0, 0, 0                                                                    \
        }                                                                                          \
    }

/** Sets `stats` to HTW_JOURNAL_STATS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_journal_stats_init(struct htw_journal_stats *stats);

/**
 * Copies the statistics of a journal to `stats`. Works in a journal that has stopped, too.
 *
 * @param stats its `struct_size` must be set, as HTW_JOURNAL_STATS_INIT does.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or `struct_size` is unknown.
 *
 * Cost: about 10 us; does not wait for the disk. `commit` and `durable` may count changes that the
 * other numbers do not count yet.
 */
HTW_API int htw_journal_get_stats(struct htw_journal *journal, struct htw_journal_stats *stats);

/**
 * Writes the statistics in the text format of Prometheus, the distributions as histograms in
 * seconds, and htw_journal_stopped: 1 if the journal has stopped by itself. All names start with
 * "htw_journal_".
 *
 * @return 0: success;
 *         -EINVAL: a pointer is NULL;
 *         -EIO: writing to the stream failed.
 *
 * Cost: about 40 us; does not wait for the disk of the journal.
 */
HTW_API int htw_journal_prometheus(struct htw_journal *journal, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif /* HTW_JOURNAL_INSPECT_H */
