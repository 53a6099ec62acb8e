/* SPDX-License-Identifier: MIT */
/*
 * htw/journal.h - jobs that survive a crash: delays, each handed out at its time, and queues, whose jobs
 * are leased by priority; at least once, even if the process crashes in between. Link with
 * libhtw-journal, which uses SQLite. htw/journal_inspect.h looks at them; htw/journal_guest.h puts jobs in
 * transactions of a program.
 *
 *     static void deliver(void *context, const struct htw_delivery *delivery) {
 *         send_mail(delivery->payload, delivery->payload_size);
 *         htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
 *     }
 *
 *     struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
 *     options.deliver = deliver;
 *     if (htw_journal_open(&journal, scheduler, "mail.journal", &options) != 0)
 *         fprintf(stderr, "%s\n", htw_journal_error());
 *     if (htw_journal_put(journal, deadline_ns, mail, mail_size, &id) == 0)
 *         accept_mail(); // it will be delivered
 *
 * Promises. A call that makes a change durable has written it to the disk when it returns 0; the
 * calls named ..._later tell by their notice, or by htw_journal_sync(). Then:
 *  - A job that was put is delivered at least once, and never before its deadline.
 *  - A job that was ended by htw_journal_done() is never delivered again.
 *  - A job that was delivered and is not done is delivered again when the file is opened again, with the same id.
 *  - A change that failed has changed nothing, except after -EIO: see below.
 * docs/journal.md explains what this asks of `deliver`, and what HTW_SYNCHRONOUS_NORMAL gives up.
 *
 * Queues. Each job is in a queue. Jobs of the default queue (NULL) are handed to `deliver`, if there is one, all others to
 * those who ask by htw_journal_lease(). A job becomes ready at its deadline by the clock alone.
 *
 * Time. A deadline is an instant: nanoseconds since 1970 by the wall clock. If the clock is set, deadlines follow. The
 * scheduler may have any clock. With HTW_CLOCK_MANUAL, for tests, deadlines are times of that clock, and
 * htw_scheduler_advance() also waits until the journal has read the jobs of the new time.
 *
 * Threads. Any thread may call any function at any time, also in `deliver`. These functions block
 * until the disk has answered: those that change something and are not named ..._later, and
 * htw_journal_sync(), htw_journal_open() and htw_journal_close(); htw_journal_lease() waits for a job,
 * too. In a notice of the same journal they return -EDEADLK, because it runs in the thread that writes.
 * If nothing else is to be written, a change that waits uses SQLite in the calling thread: that takes up to
 * 32 KiB of its stack, and a signal of the thread is handled afterwards. Such a change is no cancellation
 * point. The journal holds no lock while it calls `deliver` or a notice; it may hold one while it calls an
 * allocator.
 *
 * The file is a database of SQLite in WAL mode: beside PATH there are PATH-wal and PATH-shm while it
 * is in use, and PATH-lock, which stays. Other programs may read it at any time. One journal may have it
 * open: another process, or a second open in this one, is refused. Do not open and close the file in the
 * same process by other means than a connection of the same SQLite library: closing it would release
 * SQLite's locks.
 *
 * Errors. Each function returns -EINVAL for NULL where NULL is not allowed, and -EOWNERDEAD in a
 * child process after fork. htw_journal_error() has a sentence about each failure. Calls that change
 * something also return the following; unless it says otherwise, nothing has changed:
 *    -ENOSPC     the disk or a quota is full, or the process may not make a file longer (RLIMIT_FSIZE); or all
 *                ids were given. Later calls are tried again. Room is kept for what ends, buries, releases or
 *                kicks jobs: docs/journal.md
 *    -ENOMEM     no memory
 *    -EAGAIN     `max_jobs`, `max_memory` or HTW_QUEUES_MAX is reached. Only where jobs are put, or a queue
 *                is named that did not exist
 *    -EMSGSIZE   a job is too large
 *    -EEXIST     a job with HTW_JOB_IF_ABSENT has a key that another job has
 *    -ESTALE     the lease that a change names has ended
 *    -EBUSY      another program has held SQLite's lock for 2 seconds (of a guest: 30)
 *    -EIO        the disk has failed. If the journal could undo the change it continues. Otherwise it has stopped: every
 *                later call returns -EIO, and nothing is delivered any more. Then the file says which of the last changes
 *                were made: close the journal and open it again
 *    -ESHUTDOWN  the journal is being closed
 *    -EROFS      the journal was opened by htw_journal_open_to_read()
 *
 * Fork. The child process cannot use or close the journal: htw_journal_close() returns -EOWNERDEAD there and
 * does nothing. A child that is forked in `deliver` or a notice must leave by exec or _exit(), as from a
 * callback (htw_callback).
 */
#ifndef HTW_JOURNAL_H
#define HTW_JOURNAL_H

#include <htw/scheduler.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An open journal; opaque. */
struct htw_journal;

/** The most bytes that payload and key of a job may have together. */
#define HTW_JOURNAL_JOB_MAX 999999000

/** A job that is handed out. */
struct htw_delivery {
    struct htw_journal *journal;
    uint64_t id;
    int64_t deadline_ns; /**< of a durable lease: when it was made */
    int64_t late_ns;     /**< time from the deadline to this call; at least 0 */
    const void *payload; /**< valid until `deliver` returns; not NULL */
    size_t payload_size;
    const void *key; /**< valid until `deliver` returns; NULL: the job has none */
    size_t key_size;
    const char *queue; /**< valid until `deliver` returns; NULL: the default queue */
    uint32_t priority;
    /** Which attempt this is: 1, 2, ... With the id it names the lease (struct htw_job_update). Attempts that a crash
        has ended count only if their leases were durable. */
    uint32_t attempt;
    int64_t lease_end_ns; /**< when the lease ends; HTW_NEVER_NS: it does not (`deliver`) */
    int64_t lease_ns;     /**< of the job (struct htw_job); 0: as the options say */
};

/**
 * Receives a job whose time has come. The job ends with htw_journal_done(), in this call or later, in any thread. Until then
 * it counts as in flight, and is delivered again if the process ends. Called where the scheduler runs callbacks. It must
 * return, as callbacks must (htw_callback).
 */
typedef void htw_deliver(void *context, const struct htw_delivery *delivery);

/**
 * The notice of a change that was made later: called once, when the change is durable or has failed. Must return. Other
 * changes wait until it has returned.
 *
 * @param result 0: the change is durable; otherwise the error of the blocking call.
 *
 * Threads: called in the thread that writes: the journal's, one that waits for a call, or that of htw_journal_process(). Notices come in the order of the calls.
 */
typedef void htw_durable(void *arg, int result);

/**
 * The notice that the journal has stopped by itself: called once, soon after that, in the thread that writes. Must return.
 *
 * @param why a sentence, as that of htw_journal_error(); valid until the notice returns.
 */
typedef void htw_stopped(void *context, const char *why);

/** When a change counts as durable. */
enum htw_synchronous {
    /** When the disk has confirmed it. It survives a crash of the process and of the system, and a power cut. */
    HTW_SYNCHRONOUS_FULL = 0,
    /** When the operating system has it. It survives a crash or kill of the process. A crash of the system or a power
        cut may undo the changes of the last seconds, in whole. */
    HTW_SYNCHRONOUS_NORMAL = 1
};

/** The limits of the options. */
#define HTW_JOURNAL_PARALLEL_MAX 256u
#define HTW_JOURNAL_NEAR_NS_MAX HTW_DAY
#define HTW_JOURNAL_GATHER_NS_MAX HTW_SECOND

/** The options of a journal. Start from HTW_JOURNAL_OPTIONS_INIT. */
struct htw_journal_options {
    /** sizeof(struct htw_journal_options); HTW_JOURNAL_OPTIONS_INIT sets it. */
    size_t struct_size;
    /** Receives the jobs of the default queue. NULL: they are leased, as others. */
    htw_deliver *deliver;
    htw_stopped *stopped; /**< told if the disk fails, or the file is damaged. NULL: no notice */
    void *context;        /**< passed to `deliver` and `stopped` */
    enum htw_synchronous synchronous;
    /** The most calls of `deliver` at once, up to HTW_JOURNAL_PARALLEL_MAX. 0 or 1: one at a time, in order of
        deadline and then of putting. More: they begin in that order. The scheduler needs as many workers. */
    uint32_t parallel;
    /** How far ahead jobs are held in memory, up to HTW_JOURNAL_NEAR_NS_MAX; 0 means 10 minutes.
        Jobs beyond are in the file only. */
    int64_t near_ns;
    /** The most bytes of jobs in memory: those that wait to be written, and those of the near future; 0 means
        64 MiB. A single job may exceed it. Jobs in flight take about 200 bytes each, which do not count. */
    uint64_t max_memory;
    /** The most jobs in the file; 0 means no limit. Jobs that wait to be written count. */
    uint64_t max_jobs;
    /** The most jobs in flight: delivered and not done. When it is reached, delivery waits; 0 means 100 000. So
        this is also the most jobs that a crash delivers twice. */
    uint64_t max_in_flight;
    /** How long changes made by ..._later may wait for others, to be written with them, up to
        HTW_JOURNAL_GATHER_NS_MAX; 0 means 2 ms. A blocking call is written at once, and what waits with it. */
    int64_t gather_ns;
    /** How long leases last where neither the request nor the job says it; 0 means 1 minute. */
    int64_t lease_ns;
    /** Of the journal's own memory, not of SQLite's; NULL: the default one. Thread-safe. The struct is copied. */
    const struct htw_allocator *allocator;
    /** The file (never NULL) is the database of a program, whose transactions put jobs: htw/journal_guest.h. */
    bool is_guest;
    /** Of a guest: how often it looks for jobs of which no htw_journal_wake() tells; 0 means 100 ms,
        HTW_NEVER_NS never. That is how late such a job may be taken in. */
    int64_t inbox_ns;
};

#define HTW_JOURNAL_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(struct htw_journal_options), NULL, NULL, NULL, HTW_SYNCHRONOUS_FULL, 0, 0, 0, 0, 0, \
            0, 0, NULL, false, 0                                                                   \
    }

/** Sets `options` to HTW_JOURNAL_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_journal_options_init(struct htw_journal_options *options);

/* ------------------------------------------------------------------ opening and closing */

/**
 * Opens a journal, or creates its file, and starts to deliver, first what is overdue. `deliver` may be called before this
 * has returned.
 *
 * @param ret_journal receives the journal. The caller owns it, and closes it with
 *                    htw_journal_close() before the scheduler is stopped.
 * @param scheduler   calls `deliver`, and knows when jobs are ready and leases end; may be NULL if there
 *                    is no `deliver`: then nothing can be leased.
 * @param path        the file. It is created for its owner alone (mode 0600). NULL: none; the jobs are in
 *                    memory, and gone when the journal is closed.
 * @param options     NULL: the defaults, without `deliver`. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: an option is out of its range, `deliver` has no scheduler, or the file has several names (hard links);
 *         -EBUSY: the file is open in a journal of this or another process, or another program holds SQLite's lock;
 *         -EBADMSG: the file is not a journal, or is damaged. It is left as it is;
 *         -EPROTONOSUPPORT: the file has another format, as that of a newer version of the library;
 *         -EISDIR, -EACCES, -EROFS, -ENOENT, -ENAMETOOLONG: the path cannot be used, or the file cannot be written;
 *         -ENOTSUP: the SQLite that is loaded is older than 3.31, or was built without mutexes;
 *         -ENOSPC: there is no space for a new file, or for PATH-shm. Otherwise a journal that exists is opened on a full
 *         disk, too: docs/journal.md;
 *         -EIO, -ENOMEM, -EMFILE, -ENFILE, -ESHUTDOWN.
 *
 * Cost: does not depend on the number of jobs. Starts one thread. Memory: 270 KiB, and SQLite's cache of up to 8 MiB.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_open(struct htw_journal **ret_journal,
                                             struct htw_scheduler *scheduler, const char *path,
                                             const struct htw_journal_options *options);

/**
 * Closes a journal: stops to deliver, waits for calls of `deliver` that are running, and makes all
 * changes durable that were made before. NULL is ignored.
 *
 * No other thread may be in a call with this journal, except inside `deliver`. A journal that has
 * stopped (-EIO) is closed, too.
 *
 * @return 0: success;
 *         -EDEADLK: called in `deliver` or a notice of this journal; it is not closed;
 *         -EIO, -ENOSPC: it is closed, but changes whose calls had no notice were lost.
 */
HTW_API int htw_journal_close(struct htw_journal *journal);

/**
 * Describes the last failure of a function of the journal in the calling thread: a sentence with the file and the cause,
 * without a full stop. In a notice with an error: that of the change. Never NULL, and valid until the next failure in this
 * thread.
 */
HTW_API const char *htw_journal_error(void);

/* ------------------------------------------------------------------ changes that wait */

/**
 * Puts a job, and waits until it is durable.
 *
 * @param deadline_ns  when it is to be delivered; in the past: now. HTW_NEVER_NS: never;
 *                     the job waits until it is cancelled.
 * @param payload      is copied. May be NULL if `payload_size` is 0.
 * @param payload_size 0 to HTW_JOURNAL_JOB_MAX.
 * @param ret_id       receives the id, before the job can be delivered. May be NULL. Also written
 *                     where the put fails after that; no other job receives this id.
 * @return 0: the job is durable; otherwise an error at the top.
 *
 * Cost: about one fdatasync() of the disk (HTW_SYNCHRONOUS_FULL) or some 30 us (NORMAL). Threads that
 * wait at the same time share it. Allocates the job, and holds it until it is written.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_put(struct htw_journal *journal, int64_t deadline_ns,
                                            const void *payload, size_t payload_size,
                                            uint64_t *ret_id);

/**
 * Cancels a job that has not been delivered, and waits until that is durable.
 *
 * @return 0: the job has not been delivered, and never will be;
 *         -EALREADY: it has been delivered, and is not done. htw_journal_done() ends it;
 *         -ENOENT: no job has this id: it has ended, or never existed;
 *         an error at the top: the job is delivered, late where its time has come meanwhile.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_cancel(struct htw_journal *journal, uint64_t id);

/**
 * Ends a job, whether or not it has been delivered, and waits until that is durable.
 *
 * @return 0: the job is never delivered again;
 *         -ENOENT: no job has this id;
 *         an error at the top: the job is as before. A job in flight stays in flight.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_done(struct htw_journal *journal, uint64_t id);

/** A job that is put by htw_journal_apply(). Start from HTW_JOB_INIT. */
struct htw_job {
    /** sizeof(struct htw_job); HTW_JOB_INIT sets it. */
    size_t struct_size;
    int64_t deadline_ns; /**< as in htw_journal_put() */
    const void *payload; /**< as in htw_journal_put() */
    size_t payload_size;
    /** The key: `key_size` bytes, which are copied; NULL: none. At most one job has a key. A new job replaces the
        one that has it, also if that one is in flight: it ends as by htw_journal_done(). */
    const void *key;
    size_t key_size;
    uint64_t id; /**< receives the id, as `ret_id` of htw_journal_put() */
    /** The name of the queue: 1 to HTW_QUEUE_NAME_MAX bytes, which are copied. It exists from its first job
        on, and as long as it has jobs, requests, a policy or a pause. NULL: the default queue. */
    const char *queue;
    uint32_t priority; /**< 0 comes first. Of equal ones, the job comes first that was put first */
    uint32_t flags;    /**< HTW_JOB_IF_ABSENT or 0 */
    int64_t lease_ns;  /**< how long its leases last; 0: as the options say */
};

#define HTW_JOB_INIT \
    { sizeof(struct htw_job), 0, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0 }

/** A flag: if a job has the key, that one stays, and the change fails with -EEXIST. */
#define HTW_JOB_IF_ABSENT 1u

/** The limits of queues: the bytes of a name, and how many there are. */
#define HTW_QUEUE_NAME_MAX 255u
#define HTW_QUEUES_MAX (1u << 20)

/** Sets `job` to HTW_JOB_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_job_init(struct htw_job *job);

/** The state of a job. */
enum htw_job_state {
    HTW_JOB_DELAYED = 0, /**< its deadline is to come */
    HTW_JOB_READY = 1,   /**< it waits to be leased */
    HTW_JOB_LEASED = 2,  /**< leased, or in flight: delivered and not done */
    HTW_JOB_BURIED = 3   /**< put aside until it is kicked */
};

/** What is done with a job that exists. -EALREADY: its state is another one than the step begins with. */
enum htw_job_step {
    HTW_JOB_END,     /**< ends it, in any state, as htw_journal_done() */
    HTW_JOB_CANCEL,  /**< ends it, unless it is LEASED, as htw_journal_cancel() */
    HTW_JOB_RELEASE, /**< gives it back: LEASED becomes DELAYED or READY, by `deadline_ns` */
    HTW_JOB_BURY,    /**< any state becomes BURIED */
    HTW_JOB_KICK,    /**< BURIED or DELAYED becomes READY */
    HTW_JOB_MOVE,    /**< DELAYED, READY or BURIED becomes DELAYED or READY, by `deadline_ns` */
    HTW_JOB_EXTEND   /**< the lease ends at `deadline_ns`. Durable where the lease is */
};

/** A step of a job. Start from HTW_JOB_UPDATE_INIT. */
struct htw_job_update {
    /** sizeof(struct htw_job_update); HTW_JOB_UPDATE_INIT sets it. */
    size_t struct_size;
    uint64_t id;
    /** With CANCEL in place of the id: the key of the job, `key_size` bytes; NULL: the id says it. */
    const void *key;
    size_t key_size;
    enum htw_job_step step;
    /** The attempt whose lease it is (struct htw_delivery): if that has ended, -ESTALE. 0: any. */
    uint32_t attempt;
    /** RELEASE, MOVE, EXTEND: an instant. INT64_MIN with RELEASE: as the policy of the queue says, and
        without one at once; with EXTEND of a lease that is not durable: the job is READY at once, and
        nothing has failed: it counts neither as released nor as timed out. */
    int64_t deadline_ns;
    bool has_priority; /**< the job receives `priority` */
    uint32_t priority;
};

#define HTW_JOB_UPDATE_INIT \
    { sizeof(struct htw_job_update), 0, NULL, 0, HTW_JOB_END, 0, INT64_MIN, false, 0 }

/** Sets `update` to HTW_JOB_UPDATE_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_job_update_init(struct htw_job_update *update);

/** Changes that are made together or not at all. Start from HTW_JOURNAL_CHANGE_INIT. */
struct htw_journal_change {
    /** sizeof(struct htw_journal_change); HTW_JOURNAL_CHANGE_INIT sets it. */
    size_t struct_size;
    const uint64_t *done; /**< the ids of `done_count` jobs that end, as by htw_journal_done() */
    size_t done_count;
    struct htw_job *jobs; /**< `job_count` jobs that are put, after the others have ended */
    size_t job_count;
    /** `update_count` steps of different jobs, made before `jobs` are put. */
    const struct htw_job_update *updates;
    size_t update_count;
};

#define HTW_JOURNAL_CHANGE_INIT \
    { sizeof(struct htw_journal_change), NULL, 0, NULL, 0, NULL, 0 }

/** Sets `change` to HTW_JOURNAL_CHANGE_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_journal_change_init(struct htw_journal_change *change);

/**
 * Makes several changes at once, and waits until they are durable. A crash leaves all of them or none. A job that is ended
 * and put again in one change, with its next deadline, comes once for each instant of a schedule: docs/journal.md.
 *
 * @param change the `id` of each job is set. The library keeps no pointer to what is in it.
 * @return 0: success;
 *         -ENOENT: a job of `done` or `updates` does not exist, or is in `done` twice;
 *         -EALREADY: see enum htw_job_step;
 *         -EINVAL also if a `struct_size` is unknown;
 *         an error at the top. Nothing has changed.
 *
 * Cost: as htw_journal_put(), and 1 to 2 us for each job.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_apply(struct htw_journal *journal,
                                              const struct htw_journal_change *change);

/** As htw_journal_apply() with one step. An EXTEND of a lease that is not durable does not wait for the disk. */
HTW_API HTW_WARN_UNUSED int htw_journal_update(struct htw_journal *journal,
                                               const struct htw_job_update *update);

/**
 * Kicks jobs of a queue in one change, and waits until it is durable: those that were buried first, or, if
 * none is BURIED, the DELAYED ones that would come first.
 *
 * @param count at most so many jobs; more than HTW_KICK_MAX is HTW_KICK_MAX.
 * @return 0 or more: so many jobs are READY now; or an error at the top.
 *
 * Cost: as htw_journal_put(), and some 10 us for each job. Without BURIED jobs the minutes are passed in which jobs of any
 * queue are due.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_kick(struct htw_journal *journal, const char *queue,
                                             uint32_t count);

/** The most jobs of a kick. */
#define HTW_KICK_MAX 65536u

/**
 * Waits until all changes are durable that were made before, by any thread, and until their notices have returned.
 *
 * @return 0: they are;
 *         the error of the first change without a notice that has failed since the last call of
 *         this function. (If several threads call this function, use notices.) It is no failure if the
 *         change was the END or CANCEL of one job that was gone (-ENOENT), delivered (-EALREADY) or
 *         leased again (-ESTALE), or the put of one job HTW_JOB_IF_ABSENT whose key is taken (-EEXIST);
 *         -EDEADLK: called in a notice of this journal;
 *         -ESHUTDOWN, -EIO: the journal is being closed, or has stopped.
 *
 * Cost: as htw_journal_put() if changes wait to be written; otherwise about 1 us.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_sync(struct htw_journal *journal);

/* ------------------------------------------------------------------ changes that are made later */

/*
 * These functions do not wait, and may be called in a notice, too. `durable` is called with `arg`
 * when the change is durable or has failed; NULL: no notice. They return 0 if the change will be made
 * or has failed by the time of the notice, and otherwise an error that needs no disk: -EINVAL,
 * -EMSGSIZE, -EAGAIN, -ENOMEM, -ESHUTDOWN, -EIO; then there is no notice. Changes are made in the
 * order of the calls. Cost: 1 to 2 us and an allocation of about 200 bytes, besides the job.
 */

/** As htw_journal_put(), and `ret_id` receives the id in this call. It waits for a commit only where ids must be reserved:
    after an open, and for more than 4096 jobs since the last commit. */
HTW_API HTW_WARN_UNUSED int htw_journal_put_later(struct htw_journal *journal, int64_t deadline_ns,
                                                  const void *payload, size_t payload_size,
                                                  htw_durable *durable, void *arg,
                                                  uint64_t *ret_id);

/** As htw_journal_done(), without waiting. */
HTW_API int htw_journal_done_later(struct htw_journal *journal, uint64_t id, htw_durable *durable,
                                   void *arg);

/** As htw_journal_apply(), without waiting. All is copied. */
HTW_API HTW_WARN_UNUSED int htw_journal_apply_later(struct htw_journal *journal,
                                                    const struct htw_journal_change *change,
                                                    htw_durable *durable, void *arg);

/** As htw_journal_update(), without waiting. The key is copied. */
HTW_API int htw_journal_update_later(struct htw_journal *journal,
                                     const struct htw_job_update *update, htw_durable *durable,
                                     void *arg);

/** As htw_journal_kick(), without waiting. The result of the notice is the number of jobs. */
HTW_API int htw_journal_kick_later(struct htw_journal *journal, const char *queue, uint32_t count,
                                   htw_durable *durable, void *arg);

/**
 * Does what waits for the journal's thread in this one: writes changes, and calls notices and `leased`, also those of
 * other threads. For a program with a loop: that saves two changes of threads for each round. From the first call on,
 * calls of this thread do not wake the journal's thread, so call this after them, before the thread waits for anything else.
 * The journal's thread does what is left: all, if it or another thread uses the file, or if space lacks; and changes, if
 * a recent commit took `patience_ns` or longer. This one blocks no signals: a handler that runs in it meanwhile delays the
 * commit, and on a file system where it interrupts a sync, the journal stops.
 *
 * @param patience_ns from 0. 0: the journal's thread writes; HTW_NEVER_NS: this one waits for any
 *                    disk.
 * @return 0; -EDEADLK: called in a callback of this journal.
 *
 * Threads: one; of several, the last that has called it counts. Others may use the journal meanwhile. If that thread ends before the
 * journal is closed, another one is to call this: a thread that begins later may be taken for it.
 * Cost: that of a commit for all changes together; about 50 ns if nothing waits.
 */
HTW_API int htw_journal_process(struct htw_journal *journal, int64_t patience_ns);

/* ------------------------------------------------------------------ leases */

/** What is to be leased. Start from HTW_LEASE_INIT. */
struct htw_lease {
    /** sizeof(struct htw_lease); HTW_LEASE_INIT sets it. */
    size_t struct_size;
    /** The names of `queue_count` different queues, which are copied; NULL: the default queue. The first READY job of
        them all, by priority, is leased. They need not exist yet. */
    const char *const *queues;
    size_t queue_count;
    /** In place of queues: the job that is to be leased, if it is not LEASED; 0: none. */
    uint64_t id;
    /** How long the lease lasts; 0: as the job or the options say. */
    int64_t lease_ns;
    /** Until when to wait for a job; INT64_MIN: not at all; HTW_NEVER_NS: for ever. */
    int64_t wait_until_ns;
    /** The lease survives a crash, and the attempt counts: a commit before `leased` is called. */
    bool is_durable;
};

#define HTW_LEASE_INIT \
    { sizeof(struct htw_lease), NULL, 0, 0, 0, INT64_MIN, false }

/** Sets `lease` to HTW_LEASE_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_lease_init(struct htw_lease *lease);

/**
 * Receives a job that was leased, or the news that there is none. Called once, as notices are (htw_durable). Must return.
 *
 * @param result   0; -ETIMEDOUT: none was READY in time; -ECANCELED: htw_journal_lease_cancel();
 *                 -ENOENT, -EALREADY: the job of an id; -ESHUTDOWN: the journal is being closed; or why a
 *                 commit or a read has failed.
 * @param delivery the job; valid until it returns; NULL if `result` is not 0.
 *
 * The lease ends by a step of the job, or at `lease_end_ns`. Then the job is READY again, unless the policy of its queue
 * says otherwise.
 */
typedef void htw_leased(void *arg, int result, const struct htw_delivery *delivery);

/**
 * Leases a job as soon as one is READY, without waiting. Requests for the same queue are served in the
 * order of the calls.
 *
 * @param ret_request receives a number for htw_journal_lease_cancel(), before `leased` is called. May be NULL.
 * @return 0: `leased` will be called;
 *         -EINVAL: also if the journal has no scheduler or delivers a queue, or a queue is named twice;
 *         -EAGAIN: there are HTW_QUEUES_MAX queues;
 *         -ENOMEM, -ESHUTDOWN, -EIO.
 *
 * Cost: about 2 us, and 150 bytes for the request and 40 for each of its queues; for many queues, up to 0.2 us for each, and
 * 0.5 us for one that does not exist.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_lease_later(struct htw_journal *journal,
                                                    const struct htw_lease *lease,
                                                    htw_leased *leased, void *arg,
                                                    uint64_t *ret_request);

/**
 * Leases a job, and waits for it. `leased` is called before this returns: in this thread, if that is alone.
 *
 * @return the result of `leased`, or of htw_journal_lease_later(); -EDEADLK: in a notice.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_lease(struct htw_journal *journal,
                                              const struct htw_lease *lease, htw_leased *leased,
                                              void *arg);

/**
 * Ends a request that waits.
 *
 * @return 0: its `leased` will be called with -ECANCELED;
 *         -ENOENT: it has been called, or a job is being leased to it.
 */
HTW_API int htw_journal_lease_cancel(struct htw_journal *journal, uint64_t request);

/* ------------------------------------------------------------------ queues */

/** What a queue does with jobs whose attempt has failed: a RELEASE without a deadline, or the end of a lease by itself. Start
    from HTW_QUEUE_POLICY_INIT, which does nothing. */
struct htw_queue_policy {
    /** sizeof(struct htw_queue_policy); HTW_QUEUE_POLICY_INIT sets it. */
    size_t struct_size;
    uint32_t attempts_max; /**< after so many attempts a job is BURIED; 0: never */
    /** The delay before the next attempt, as of htw_backoff_next(), with the id of the job as its seed. `initial_ns` 0: none. */
    int64_t initial_ns;
    int64_t cap_ns;
    double multiplier;
    double jitter;
};

#define HTW_QUEUE_POLICY_INIT \
    { sizeof(struct htw_queue_policy), 0, 0, 0, 2.0, 0.5 }

/** Sets `policy` to HTW_QUEUE_POLICY_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_queue_policy_init(struct htw_queue_policy *policy);

/**
 * Gives a queue a policy, and waits until that is durable.
 *
 * @param policy NULL: none, as at first.
 * @return 0: success;
 *         -EINVAL: a member is out of its range (htw_backoff_init());
 *         -EAGAIN: there are HTW_QUEUES_MAX queues;
 *         an error at the top.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_set_policy(struct htw_journal *journal, const char *queue,
                                                   const struct htw_queue_policy *policy);

/**
 * Pauses a queue until an instant: none of its jobs is leased before it. In the past: resumes it. A restart
 * ends all pauses. The default queue cannot be paused while it is delivered.
 *
 * @return 0: success; -EINVAL, -EAGAIN, -ENOMEM, -ESHUTDOWN, -EIO.
 *
 * Cost: O(1); does not wait for the disk.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_pause(struct htw_journal *journal, const char *queue,
                                              int64_t until_ns);

#ifdef __cplusplus
}
#endif

#endif /* HTW_JOURNAL_H */
