/* SPDX-License-Identifier: MIT */
/*
 * htw/monitor.h - a running program shows its statistics: `htw top` and Prometheus read them through a
 * Unix socket.
 *
 *     struct htw_monitor *monitor;
 *     if (htw_monitor_open(&monitor, NULL) == 0)
 *         htw_monitor_add_scheduler(monitor, "sessions", scheduler, NULL);
 *     ...
 *     htw_monitor_close(monitor);
 *     htw_scheduler_destroy(scheduler);
 *
 * A library of its own, libhtw-monitor. It needs Linux.
 *
 * The socket. It is $XDG_RUNTIME_DIR/htw/PID.sock or, without that folder, /tmp/htw-UID/PID.sock; or
 * the path that the program chooses. From the first instant only its owner may connect to it (mode
 * 0600); the monitor also rejects clients of all users but those of the process and root. Clients
 * can read statistics, and switch what schedulers observe (htw_scheduler_observe()), which costs the
 * process time; they can change nothing else. docs/monitor.md describes what is read.
 *
 * Cost. A monitor without clients costs some memory (4 KiB) and a thread that sleeps. An answer takes the
 * locks of a scheduler one after the other, each for as long as an expiration does. At most 100 answers are
 * given in a second, and they take at most a tenth of a CPU: after one that walks many timers, others wait. The
 * monitor serves at most 8 clients at a time, each for at most 5 seconds. A client that does not read delays neither
 * the program nor other clients. The more sources, the longer an answer takes: 200 schedulers with 64 shards
 * and 1000 timers each, 70 ms. While the process may open no descriptor, clients wait.
 *
 * Threads. Any thread may call any function, but a monitor must not be used while it is being closed.
 * No function waits for a client.
 *
 * Forks. A child has no monitor: its functions return -EOWNERDEAD there or do nothing, the descriptors
 * of the monitor are closed, and the socket stays with the parent.
 */
#ifndef HTW_MONITOR_H
#define HTW_MONITOR_H

#include <htw/base.h>
#include <htw/purgatory.h>
#include <htw/scheduler.h>
#include <htw/wheel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A monitor; opaque. */
struct htw_monitor;

/** Something that a monitor shows: a scheduler, a purgatory, a journal or a wheel; opaque. */
struct htw_monitor_source;

/** The longest name of a source, in bytes. */
#define HTW_MONITOR_NAME_MAX 48

/** How many sources a monitor can have. */
#define HTW_MONITOR_SOURCES_MAX 256

/** The options of a monitor. Start from HTW_MONITOR_OPTIONS_INIT. */
struct htw_monitor_options {
    /** sizeof(struct htw_monitor_options); HTW_MONITOR_OPTIONS_INIT sets it. */
    size_t struct_size;
    /**
     * The path of the socket, of at most 96 bytes; its folder must exist. NULL: a name with the process
     * id in the folder of htw_monitor_folder(). A socket on which no process listens any more is replaced.
     */
    const char *path;
    /** The allocator; NULL means the default one. The struct is copied. */
    const struct htw_allocator *allocator;
};

/** The defaults: a path with the process id, the default allocator. */
#define HTW_MONITOR_OPTIONS_INIT HTW__INIT(htw_monitor_options)

/**
 * Opens a socket, and starts the thread that answers.
 *
 * @param ret_monitor receives the monitor. The caller owns it, and closes it with
 *                    htw_monitor_close().
 * @param options     NULL: the defaults. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: `ret_monitor` is NULL, `struct_size` is unknown, `path` is empty, or a function of
 *         the allocator is NULL;
 *         -ENAMETOOLONG: `path` is too long;
 *         -EBUSY: another monitor listens at `path`, or has been opening there for a second;
 *         -EEXIST: at `path` is something that is no socket;
 *         -EACCES: the default folder, or the file PATH.lock, which exists during the call, belongs to
 *         another user or lets others in, or the folder may not be written;
 *         -ENOMEM;
 *         another error of the system, such as -ENOENT, -EROFS or -EMFILE: the socket cannot be made.
 *
 * If no `path` is given, it also removes the sockets of processes that have died from the folder.
 */
HTW_API HTW_WARN_UNUSED int htw_monitor_open(struct htw_monitor **ret_monitor,
                                             const struct htw_monitor_options *options);

/**
 * Closes a monitor: ends its thread, removes its socket and its sources. NULL is ignored, and so is a
 * monitor of the parent process.
 *
 * Waits until the source that is being read has been read. Clients get no answer any more. It needs no
 * descriptor.
 */
HTW_API void htw_monitor_close(struct htw_monitor *monitor);

/** Returns the path of the socket, valid until the monitor is closed; NULL for NULL. */
HTW_API const char *htw_monitor_path(const struct htw_monitor *monitor);

/**
 * Writes the folder in which monitors of this user have their sockets to `buffer`, with a NUL. It need
 * not exist.
 *
 * @return 0: success;
 *         -EINVAL: `buffer` is NULL;
 *         -ENAMETOOLONG: `size` is too small.
 */
HTW_API int htw_monitor_folder(char *buffer, size_t size);

/**
 * Shows a scheduler.
 *
 * @param name       1 to HTW_MONITOR_NAME_MAX letters of ASCII, digits, and any of `._-:/`. No other
 *                   scheduler of the monitor may have it. It is copied.
 * @param scheduler  it must exist until the source is removed or the monitor is closed. The default
 *                   allocator or that of the scheduler is called by the thread of the monitor.
 * @param ret_source receives the source, for htw_monitor_remove(). May be NULL.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or the name is not valid;
 *         -EEXIST: the name is taken;
 *         -EAGAIN: the monitor has HTW_MONITOR_SOURCES_MAX sources;
 *         -ENOMEM, -EOWNERDEAD.
 */
HTW_API int htw_monitor_add_scheduler(struct htw_monitor *monitor, const char *name,
                                      struct htw_scheduler *scheduler,
                                      struct htw_monitor_source **ret_source);

/** Shows a purgatory. As htw_monitor_add_scheduler(); purgatories have names of their own. */
HTW_API int htw_monitor_add_purgatory(struct htw_monitor *monitor, const char *name,
                                      struct htw_purgatory *purgatory,
                                      struct htw_monitor_source **ret_source);

struct htw_journal;
struct htw_journal_stats;
struct htw_queue_stats;

/** htw_journal_get_stats(), with which libhtw-monitor is not linked. */
typedef int htw_journal_get_stats_function(struct htw_journal *journal,
                                           struct htw_journal_stats *stats);

/** htw_journal_list_queues(), likewise. */
typedef int htw_journal_list_queues_function(struct htw_journal *journal,
                                             bool (*)(void *, const struct htw_queue_stats *),
                                             void *context);

/**
 * Shows a journal. As htw_monitor_add_scheduler(); journals have names of their own.
 *
 *     htw_monitor_add_journal(monitor, "mail", journal, htw_journal_get_stats, htw_journal_list_queues, NULL);
 *
 * @param get_stats   htw_journal_get_stats().
 * @param list_queues htw_journal_list_queues(). NULL: queues are not shown.
 */
HTW_API int htw_monitor_add_journal(struct htw_monitor *monitor, const char *name,
                                    struct htw_journal *journal,
                                    htw_journal_get_stats_function *get_stats,
                                    htw_journal_list_queues_function *list_queues,
                                    struct htw_monitor_source **ret_source);

/**
 * Shows a wheel. A wheel has no lock: its owner lends it to the monitor while it sleeps.
 *
 *     htw_monitor_lend(source);
 *     poll(...);
 *     htw_monitor_take_back(source);
 *
 * @param tick_ns    how long a tick is, in nanoseconds, to show times; 0: unknown.
 * @param ret_source receives the source. The wheel is not lent.
 * @return as htw_monitor_add_scheduler();
 *         -EINVAL also if `tick_ns` is negative or `ret_source` is NULL.
 */
HTW_API HTW_WARN_UNUSED int htw_monitor_add_wheel(struct htw_monitor *monitor, const char *name,
                                                  const struct htw_wheel *wheel, int64_t tick_ns,
                                                  struct htw_monitor_source **ret_source);

/**
 * Lends a wheel to the monitor: until htw_monitor_take_back() the monitor may read it, and no thread
 * may change it.
 *
 * If a client waits for the state of this wheel, the call copies that itself. So a loop that never
 * sleeps calls this and htw_monitor_take_back() now and then. NULL and other sources than wheels are
 * ignored. Cost: two uncontended atomic operations; a copy takes some microseconds.
 */
HTW_API void htw_monitor_lend(struct htw_monitor_source *source);

/**
 * Takes a wheel back. Waits while the monitor reads it: some microseconds for each level, or the time
 * to count 64 timers in each of its buckets.
 */
HTW_API void htw_monitor_take_back(struct htw_monitor_source *source);

/**
 * Shows a source no more: afterwards what it showed may be destroyed. NULL is ignored, and so is a
 * source of the parent process.
 *
 * Waits while an answer is made, as the functions do that add a source: for some milliseconds, or, if a client
 * has asked for sites, as long as htw_scheduler_visit() of sites and wake-ups takes for all
 * schedulers.
 */
HTW_API void htw_monitor_remove(struct htw_monitor_source *source);

#ifdef __cplusplus
}
#endif

#endif /* HTW_MONITOR_H */
