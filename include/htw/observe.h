/* SPDX-License-Identifier: MIT */
/*
 * htw/observe.h - what a scheduler does and has done: statistics, the timers by the place where they were
 * armed, wake-ups, herds, a flight recorder and the fill of its wheels.
 *
 * Statistics are always counted. What costs time is switched on by htw_scheduler_observe().
 *
 * Threads and errors are as in htw/scheduler.h. No function blocks.
 */
#ifndef HTW_OBSERVE_H
#define HTW_OBSERVE_H

#include <htw/timer.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ statistics */

/**
 * Counters since the scheduler was created. When no thread is in a call and nothing runs,
 * scheduled = fired + cancelled + handed_back + pending.
 */
struct htw_scheduler_stats {
    /** sizeof(struct htw_scheduler_stats); HTW_SCHEDULER_STATS_INIT sets it. */
    size_t struct_size;
    uint64_t scheduled;               /**< schedule calls that returned 0 */
    uint64_t fired;                   /**< timers that ended with a run */
    uint64_t cancelled;               /**< timers cancelled without a run; replaced ones count */
    uint64_t handed_back;             /**< timers that stop handed back */
    uint64_t runs;                    /**< callbacks started; more than `fired` if timers repeat */
    uint64_t late;                    /**< callbacks started later than `late_threshold_ns` */
    uint64_t missed;                  /**< periods skipped by HTW_REPEAT_SKIP */
    uint64_t refused;                 /**< schedule calls that returned -EAGAIN */
    uint64_t moved;                   /**< calls of htw_reschedule() that returned HTW_MOVED */
    uint64_t demoted;                 /**< number of demotions in the wheels */
    uint64_t wakeups;                 /**< times an expirer woke up or process was called */
    uint64_t empty_wakeups;           /**< of these, with nothing due */
    uint64_t pending;                 /**< timers pending now, as htw_pending() */
    uint64_t running;                 /**< callbacks running now */
    uint64_t memory_bytes;            /**< memory of the scheduler, attributes included */
    struct htw_distribution lateness; /**< from the deadline to the start of a callback */
    struct htw_distribution callback; /**< duration of callbacks */
};

#define HTW_SCHEDULER_STATS_INIT HTW__INIT(htw_scheduler_stats)

/**
 * Copies the statistics of a scheduler to `stats`.
 *
 * @param stats its `struct_size` must be set, as HTW_SCHEDULER_STATS_INIT does.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or `struct_size` is unknown;
 *         -ENOMEM.
 *
 * Cost: O(shards + threads), about 20 us; locks each shard briefly, one after the other.
 */
HTW_API int htw_scheduler_get_stats(struct htw_scheduler *scheduler,
                                    struct htw_scheduler_stats *stats);

/**
 * Writes the statistics in the text format of Prometheus, the distributions as histograms in
 * seconds. All names start with "htw_".
 *
 * @return 0: success;
 *         -EIO: writing to the stream failed;
 *         -ENOMEM.
 */
HTW_API int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream);

/** The number of buckets in the histograms below. */
#define HTW_SCHEDULER_HISTOGRAM_BUCKETS 24

/**
 * The distributions of the statistics as histograms: [0] counts what took less than 1 us; [i] what
 * took 2^(i-1) us or more, but less than 2^i us; the last one 2^22 us (4 seconds) or more. The bounds
 * are at most 1/64 off.
 */
struct htw_scheduler_histograms {
    /** sizeof(struct htw_scheduler_histograms); HTW_SCHEDULER_HISTOGRAMS_INIT sets it. */
    size_t struct_size;
    uint64_t lateness[HTW_SCHEDULER_HISTOGRAM_BUCKETS];
    uint64_t callback[HTW_SCHEDULER_HISTOGRAM_BUCKETS];
};

#define HTW_SCHEDULER_HISTOGRAMS_INIT HTW__INIT(htw_scheduler_histograms)

/**
 * Copies the statistics and, beside them, the histograms.
 *
 * @param stats      as htw_scheduler_get_stats().
 * @param histograms its `struct_size` must be set, as HTW_SCHEDULER_HISTOGRAMS_INIT does.
 * @return as htw_scheduler_get_stats(). Cost: as that.
 */
HTW_API int htw_scheduler_get_histograms(struct htw_scheduler *scheduler,
                                         struct htw_scheduler_stats *stats,
                                         struct htw_scheduler_histograms *histograms);

/**
 * Writes which timers are pending: by site, with the earliest deadline of each, and the next wake-ups; with
 * HTW_OBSERVE_SITES also what was counted of each site; and the groups with most timers. For
 * people; the form may change. docs/debugging.md has an example.
 *
 * @return 0: success;
 *         -EIO: writing to the stream failed;
 *         -ENOMEM.
 *
 * Cost: as htw_scheduler_visit() of sites and groups.
 */
HTW_API int htw_scheduler_dump(struct htw_scheduler *scheduler, FILE *stream);

/* ------------------------------------------------------------------ observing */

/**
 * Sets what is observed, as the option `observe` does at creation: switches on the bits that are set, and
 * off the others.
 *
 * What was counted or recorded stays: after switching on again it goes on. Calls and callbacks that have
 * begun when the set changes may be observed by the old set.
 *
 * @param observe a set of HTW_OBSERVE_...; 0: nothing.
 * @return 0: success;
 *         -EINVAL also if another bit is set;
 *         -ENOTSUP: HTW_OBSERVE_STACKS, with neither glibc nor Windows, or in a portable build;
 *         -ENOMEM: nothing has changed.
 *
 * Threads: any. Off, it costs nothing. HTW_OBSERVE_SITES costs some nanoseconds for each timer that is
 * armed, cancelled or run, and 4 KiB for each shard, expirer and thread that runs callbacks (up to 350 KiB
 * where there are more than 48 sites), with 7 KiB more for each expirer. HTW_OBSERVE_EVENTS costs a reading
 * of the clock for each timer that is armed, cancelled or moved, and 48 bytes for each of `event_count`,
 * rounded up to a power of two for each part. The memory is freed with the scheduler. If there is none for
 * a further site, it counts among those that found no room: no call fails for that.
 * HTW_OBSERVE_STACKS is for finding errors: it takes a microsecond or two for each timer that is armed, and 9 MiB
 * for the stacks of 65536 timers, 1024 of a shard at least. While these are alive, the stacks of further ones
 * are dropped. htw_scheduler_dump() then lists the stacks of what is pending; htw_scheduler_stop() without
 * a visitor, and htw_scheduler_destroy(), write those of what is left to standard error (htw_set_log()).
 */
HTW_API HTW_WARN_UNUSED int htw_scheduler_observe(struct htw_scheduler *scheduler,
                                                  uint32_t observe);

/** Returns the set of what is observed; 0 for NULL. Threads: any. Cost: O(1). */
HTW_API uint32_t htw_scheduler_observed(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ visiting */

/** What htw_scheduler_visit() visits, and in which order. */
enum htw_visit {
    HTW_VISIT_SITES = 1,   /**< the site with most timers first */
    HTW_VISIT_GROUPS = 2,  /**< in no order. A purgatory has one, with its name */
    HTW_VISIT_WAKEUPS = 3, /**< the next ones, the first one first */
    HTW_VISIT_HERDS = 4,   /**< the greatest one first */
    HTW_VISIT_EVENTS = 5,  /**< by time; of more than `most`, the last ones */
    HTW_VISIT_SHARDS = 6,  /**< all of them, at least one */
    HTW_VISIT_LEVELS = 7   /**< those that exist, at least one, the lowest one first */
};

/** Who armed a timer: the site of the call, or else the callback. */
struct htw_origin {
    /** The site: a copy, with up to 63 bytes of the name, 127 of the function and 255 of the file. NULL: its timers were armed with none. If
        the memory of a site, or one of its texts, is there no more, they are NULL: a library whose timers have
        ended may be unloaded at any time. */
    const struct htw_site *site;
    const void *address;    /**< the site itself, as a name for it; NULL without one */
    htw_callback *callback; /**< NULL: those of all that found no room (HTW_SITES_MAX) */
};

/** The timers of a site. Sites that have counts and no timer are visited, too. */
struct htw_site_stats {
    struct htw_origin origin;
    uint64_t pending; /**< timers that wait, are due or are paused */
    int64_t next_ns;  /**< time to the earliest deadline, by each timer's clock; at least 0;
                                 HTW_NEVER_NS: none of them has one */
    /* Counted while HTW_OBSERVE_SITES is on, and kept when it is off. */
    uint64_t armed;       /**< schedule calls that returned 0 */
    uint64_t cancelled;   /**< timers cancelled without a run */
    uint64_t expired;     /**< callbacks started */
    uint64_t late;        /**< of these, later than `late_threshold_ns` */
    uint64_t callback_ns; /**< time in callbacks that have returned */
    uint64_t wakeups; /**< times an expirer woke up, and a timer of this site was the first due */
};

/** How many sites, and callbacks without one, are told apart. */
#define HTW_SITES_MAX 4096

/** A group. */
struct htw_group_stats {
    const char *name;    /**< a copy; "": it has none */
    const void *address; /**< the group itself, as a name for it */
    uint64_t count;      /**< as htw_group_count() */
    bool paused;
};

/** An instant at which an expirer will wake up: a tick at which timers are due. */
struct htw_wakeup {
    int64_t
        left_ns; /**< from now; at least 0. Rounded up to a tick, and without `timer_slack_ns` */
    uint64_t timers;          /**< that are due at this tick */
    struct htw_origin origin; /**< of the first of them */
    htw_handle handle;
};

/** How many are visited. */
#define HTW_WAKEUPS_MAX 10

/** Timers of the last minute that were due at one instant. They are counted while HTW_OBSERVE_SITES is on. With
    several expirers the parts of a herd are added up as far as each is among the 16 greatest within 4 seconds of
    its expirer. */
struct htw_herd {
    int64_t ago_ns;           /**< from the instant to now */
    uint64_t timers;          /**< that were due at this tick, whenever they ran */
    struct htw_origin origin; /**< of the first of them */
};

/** How many are visited. */
#define HTW_HERDS_MAX 16

/** An event of the flight recorder, recorded while HTW_OBSERVE_EVENTS is on. A busy shard or thread loses its events
    before a calm one does: what is older than the first event of the busiest is not complete. */
struct htw_event {
    uint64_t number; /**< how many events were recorded before it, those that are lost included */
    enum htw_event_kind kind;
    /** STARTED, ENDED: the thread that runs the callback; WOKEN: the expirer; otherwise the shard.
        Numbers from 0. */
    uint32_t runner;
    /** By the monotonic clock; in a scheduler with HTW_CLOCK_MANUAL by its own. */
    int64_t time_ns;
    /** Of the timer, by the same clock, as it was at `time_ns`; HTW_NEVER_NS: none. After a run: that of
        this run. CANCELLED: HTW_NEVER_NS. A timer is late by the difference. */
    int64_t deadline_ns;
    int64_t duration_ns; /**< ENDED: of the callback; otherwise 0 */
    htw_handle handle;   /**< 0: none */
    struct htw_origin origin;
};

/** A shard: the wheels, and the lock, that the threads of a processor use. */
struct htw_scheduler_shard {
    uint64_t scheduled;    /**< schedule calls that returned 0 */
    uint64_t cancelled;    /**< timers that threads of this shard have cancelled */
    uint64_t moved;        /**< calls of htw_reschedule() that returned HTW_MOVED */
    uint64_t demoted;      /**< number of demotions in its wheels */
    uint64_t in_wheels;    /**< timers in its wheels now; those cancelled by threads of other shards
                                are among them for a short time */
    uint64_t groups;       /**< groups that exist, with one for each purgatory of the scheduler */
    uint64_t memory_bytes; /**< memory of its wheels, timers and attributes */
};

/** The most parts into which a level is divided. */
#define HTW_LEVEL_PARTS 64

/** How full a level of the wheels of all shards is, by the clock of the scheduler. Timers with another clock are in
    wheels of their own and are not counted. */
struct htw_scheduler_level {
    int64_t bucket_ns;   /**< the width of a bucket; HTW_NEVER_NS where that is more */
    uint32_t buckets;    /**< in this level of each wheel */
    uint32_t parts;      /**< how many members of `timers` count: a part is some buckets in a row */
    uint32_t clock_part; /**< the part in which the present time is; what follows it, to the end and
                              on from the beginning, is the future */
    /** The timers in each part. The counting stops at 64 for each bucket of a shard. */
    uint32_t timers[HTW_LEVEL_PARTS];
};

/** What is visited, in the member that `what` of htw_scheduler_visit() names. */
union htw_visited {
    struct htw_site_stats site;
    struct htw_group_stats group;
    struct htw_wakeup wakeup;
    struct htw_herd herd;
    struct htw_event event;
    struct htw_scheduler_shard shard;
    struct htw_scheduler_level level;
};

/** Receives what is visited. `visited` is valid until it returns. */
typedef void htw_visitor(void *context, const union htw_visited *visited);

/**
 * Calls a visitor for each site, group, wake-up, herd, event, shard or level of a scheduler.
 *
 * @param most    visit up to so many; 0: all.
 * @param visitor not NULL. No lock is held.
 * @param context is passed to `visitor`.
 * @return 0: success;
 *         -ENOMEM.
 *
 * No thread waits meanwhile. What begins or ends during the call may be left out.
 * Cost: SITES, WAKEUPS: O(records), some 10 ns each, and 0.8 MiB for the time of the call. EVENTS: O(event_count *
 * log event_count), and 72 bytes for each. LEVELS: O(shards * buckets). Others: O(what is visited). Each shard is
 * locked for 64 records at a time. The call takes two file descriptors; with none left, sites are as if unloaded.
 */
HTW_API int htw_scheduler_visit(struct htw_scheduler *scheduler, enum htw_visit what, uint64_t most,
                                htw_visitor *visitor, void *context);

#ifdef __cplusplus
}
#endif

#endif /* HTW_OBSERVE_H */
