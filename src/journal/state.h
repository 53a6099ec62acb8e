/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_journal, and an overview.
 *
 * PARTS. Callers make CHANGES (change.h) and append them to the queue (submit.c). The WRITER, a
 * thread, takes all that wait, makes them in one transaction (commit.c), and tells the callers. The
 * same thread READS the jobs of the near future from the file into memory (reader.c), and copies the
 * log into the file. Timers of the user's scheduler, the SLOTS (slot.c), hand out what is due. A
 * caller that waits, and is alone, commits by itself: it saves two changes of threads. So does a loop that
 * processes the journal (htw_journal_process()), for all changes that wait.
 *
 * THE CURSOR is a place in the order of delivery (deadline, then id). Each durable job up to the
 * cursor is in memory, or was delivered. Those behind it are in the file alone. A job that is put
 * up to the cursor goes to memory when its commit has succeeded, so it is delivered also where it
 * is earlier than all that was read. The reader moves the cursor forward. It moves back, but never
 * behind a job that was delivered, when there is too much in memory: the jobs that are dropped then
 * are read again later.
 *
 * RULES. Nothing is delivered before its put is durable: only the writer adds to memory, after its
 * commit. Nothing in memory is removed before its end is durable. Only a step stops a delivery
 * earlier: the job is held, and waits again if the commit fails.
 *
 * QUEUES. A job that is to be leased goes from the heap by deadline to that of its queue when it is due, and from there to
 * a request (lease.c), or behind the window of the queue (window.c). What callers do to jobs that exist are
 * STEPS (step.c) of changes.
 *
 * FAILURE. A commit that fails is rolled back, and what it may have left in the log is overwritten.
 * If that is impossible, or if an fsync failed, the journal STOPS: each call returns -EIO, nothing is
 * delivered. The file has the truth, for the next open.
 *
 * LOCK. One, `mutex`. It is not held while the database is used. One thread uses that at a time, the
 * one that has set `is_in_use`: the writer, or a caller that commits by itself or processes. Those that look at
 * jobs have a connection of their own, if there is a log (snapshot.h).
 * With it held, slots are rescheduled, so it comes before the locks of the scheduler.
 */
#ifndef HTW_SRC_JOURNAL_STATE_H
#define HTW_SRC_JOURNAL_STATE_H

#include "../base/clock.h"
#include "../base/fork.h"
#include "../base/histogram.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "database/blocks.h"
#include "database/error.h"
#include "jobs.h"
#include "queue.h"

#include <htw/loop.h>
#include <htw/timer.h>

struct htw__change;

/* A timer of the scheduler that delivers. */
struct htw__slot {
    struct htw_journal *journal;
    htw_handle handle; /* 0: the timer has ended, and so has the scheduler */
    int64_t armed_ns;  /* HTW_NEVER_NS: it is not */
    bool is_running;
};

struct htw__reader {
    uint64_t next_bucket; /* none before it has unread jobs; HTW__BUCKET_NONE: none at all */
    bool is_scanning;     /* reads it, by `scan` */
    struct htw__scan scan;
    bool is_full;      /* waits for memory to become free */
    int64_t paused_ns; /* no memory: tries again after this, by the monotonic clock */
};

/* Requests for jobs: lease.h. */
struct htw__leases {
    struct htw__key_table by_number; /* all requests that were not told */
    uint64_t seed, last_number;
    struct htw__heap ends; /* of waits and of pauses */
    size_t pauses;         /* queues that are paused */
    struct htw__lease_request *served, **last_served;
};

/* Changes of the journal itself, by what they are for. */
enum htw__own {
    HTW__OWN_NONE,    /* of a caller */
    HTW__OWN_STAGE,   /* memory becomes free: window.c */
    HTW__OWN_TAKE_IN, /* jobs of the inbox: guest.c */
    HTW__OWN_LEASE,   /* a durable lease begins, or a lease has ended: lease.c */
    HTW__OWN_KINDS
};

/* What others have put: reader.h. */
struct htw__guest {
    int64_t interval_ns;
    int64_t look_ns; /* the next look, by the monotonic clock; 0: at once; HTW_NEVER_NS: no guest */
    uint64_t after;  /* the look goes on behind this id */
};

/* Those that look at jobs: snapshot.h. */
struct htw__looks {
    struct htw__database
        *database; /* the second connection; NULL: not yet open. Of the thread that has the turn */
    uint64_t taken, ended; /* turns */
};

struct htw_journal {
    struct htw_allocator allocator;
    struct htw_scheduler *scheduler; /* of the slots; may be NULL if there are none */
    htw_deliver *deliver;
    htw_stopped *stopped;
    void *context;
    unsigned fork_count;
    bool is_manual;    /* the clock of the scheduler */
    bool is_read_only; /* opened to be read */
    int64_t near_ns, gather_ns, lease_ns;
    uint64_t max_jobs, max_in_flight;
    size_t queued_max, waiting_max; /* bytes: the halves of max_memory */
    size_t ready_max;               /* of the second, for READY jobs */

    struct htw__journal_path path;
    struct htw__database database;                 /* of the thread that has set is_in_use */
    struct htw__scan_row scan_rows[HTW__SCAN_MAX]; /* the writer's */
    pthread_t writer;
    bool has_writer;

    struct htw__mutex mutex; /* for all that follows */
    pthread_cond_t work;     /* for the writer */
    pthread_cond_t read;     /* the reader has done a step: for manual time */
    pthread_cond_t idle;     /* for those that look: snapshot.h */

    struct htw__change *first, **last; /* the queue */
    uint64_t queued;                   /* changes, those of the batch included */
    uint64_t waiting_changes;          /* in the queue */
    uint64_t queued_jobs;              /* jobs that these put */
    size_t queued_bytes;
    pthread_t processor; /* the thread whose calls do not wake the writer; 0: none */
    bool is_urgent;      /* a caller waits for the queue */
    struct htw__looks looks;
    uint64_t generation; /* of the database, as memory has followed it */
    bool is_in_use;      /* the database */
    bool writer_waits;   /* for the database */
    bool look_waits; /* for the database, where there is one connection: the writer yields to it */
    bool snapshot_waits;   /* for memory to follow a commit */
    uint64_t ids_wait;     /* threads that wait for it to reserve ids */
    uint64_t last_callers; /* that waited for the last batch */
    int64_t lately_ns;     /* the longest commit, where older ones count less */
    struct htw__ids ids;
    bool is_closing;  /* nothing is delivered any more */
    bool is_stopping; /* no change is accepted any more */
    bool needs_retry; /* a slot could not be armed */
    bool has_failed;
    bool has_told; /* `stopped` */
    _Atomic int64_t report_due_ns;
    char failure[HTW__JOURNAL_SENTENCE];  /* why */
    char sentence[HTW__JOURNAL_SENTENCE]; /* of the last batch that failed, with `sentence_error` */
    int sentence_error;
    int unreported; /* the error of a change without a notice */
    char unreported_sentence[HTW__JOURNAL_SENTENCE];

    struct htw__jobs jobs;
    struct htw__queues queues;
    struct htw__leases leases;
    struct htw__guest guest;
    struct htw__queue *changed;         /* of the thread that has set is_in_use */
    bool counts_queues;                 /* so has this: there are other jobs than mere delays */
    uint64_t under_way[HTW__OWN_KINDS]; /* changes of its own */
    int64_t stage_ns;                   /* no window moves back before, by the monotonic clock */
    int64_t last_put_us;
    struct htw__position cursor;
    struct htw__position reach; /* memory takes jobs up to here; behind the cursor during a scan */
    struct htw__position delivered; /* none after it was delivered */
    size_t evict_above;             /* bytes that wait */
    struct htw__reader reader;
    struct htw__slot *slots;
    uint32_t slot_count;
    const struct htw_site *site; /* of the slots */

    struct htw_journal_stats stats;              /* what is counted; the rest is 0 */
    struct htw__histogram commit_ns, durable_ns; /* recorded while is_in_use */
    struct htw__histogram lateness_ns;           /* recorded under the lock */
};

/* The error of each call: NULL, or a child process. 0: none. */
int htw__journal_refusal(const struct htw_journal *journal);

/* The same of a call that waits for the writer: it is refused in a notice, too. */
int htw__journal_refusal_to_wait(const struct htw_journal *journal);

/* Under the lock: stops the journal for good. The sentence of this thread says why. */
void htw__journal_stop(struct htw_journal *journal);

/* Without the lock: tells the function of htw_set_log(); of warnings, one in a second. */
void htw__journal_report(struct htw_journal *journal, enum htw_log_level level,
                         const char *sentence);

/* Under the lock: changes or requests wait for the writer. The thread that processes the journal sees to them itself. */
void htw__journal_call_writer(struct htw_journal *journal);

/* Under the lock, after a commit: memory knows its number and the ids that it has reserved; snapshots wait for that. */
void htw__journal_follow(struct htw_journal *journal);

/* Under the lock: the thread no longer uses the database. */
void htw__journal_release_database(struct htw_journal *journal);

/* ---- the calls of user code that a thread is in */

struct htw__journal_frame {
    const struct htw_journal *journal;
    bool is_notice; /* in the writer */
    struct htw__journal_frame *outer;
};

void htw__journal_frame_push(struct htw__journal_frame *frame);
void htw__journal_frame_pop(struct htw__journal_frame *frame);

/* Whether this thread is in a notice of the journal, or (`any`) in a notice or `deliver`. */
bool htw__journal_is_inside(const struct htw_journal *journal, bool any);

/* ---- memory */

#define HTW__JOURNAL_ALIGNMENT ((size_t)16) /* that of malloc() */

static inline void *htw__journal_allocate(struct htw_journal *journal, size_t size) {
    return journal->allocator.allocate(journal->allocator.context, size, HTW__JOURNAL_ALIGNMENT);
}

static inline void htw__journal_release(struct htw_journal *journal, void *memory, size_t size) {
    journal->allocator.release(journal->allocator.context, memory, size, HTW__JOURNAL_ALIGNMENT);
}

/* Numbers that rise, in microseconds since 1970: the order of putting. Under the lock. */
int64_t htw__journal_next_put(struct htw_journal *journal, int64_t now);

/* A job is put now. Under the lock. */
void htw__journal_note_put(struct htw_journal *journal, struct htw__job *job);

/* The present time of deadlines. */
static inline int64_t htw__journal_now(const struct htw_journal *journal) {
    return journal->is_manual ? htw_scheduler_now(journal->scheduler) : htw__clock_realtime_ns();
}

/* Whether jobs of the default queue may be delivered, by this journal or, where it has no scheduler and leases nothing, by
   the program that opens the file next. A place of READY is not read for that. */
static inline bool htw__journal_may_deliver(const struct htw_journal *journal) {
    return journal->deliver != NULL || journal->scheduler == NULL;
}

/* Whether a job is a mere delay: neither its order nor its age is asked for. */
static inline bool htw__journal_is_plain(const struct htw_journal *journal, bool has_queue,
                                         uint32_t priority, int64_t lease_ns) {
    bool is_for_lease = journal->deliver == NULL && (lease_ns != 0 || priority != 0);
    return !has_queue && htw__journal_may_deliver(journal) && !is_for_lease;
}

#endif /* HTW_SRC_JOURNAL_STATE_H */
