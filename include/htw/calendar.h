/* SPDX-License-Identifier: MIT */
/*
 * htw/calendar.h - instants of the calendar: "every day at 03:00", weekdays, the last day of a
 * month, cron expressions, in a time zone; and timers that repeat by them.
 *
 *     struct htw_zone *zone;
 *     if (htw_zone_create(&zone, "Europe/Berlin") != 0) ...
 *     struct htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
 *     if (htw_calendar_cron(&spec.calendar, "0 3 * * mon-fri", NULL) != 0) ...
 *     spec.zone = zone;
 *     spec.callback = back_up;
 *     if (htw_schedule_calendar(scheduler, &spec, &handle, NULL) != 0) ...
 *
 * This is a library of its own, libhtw-calendar (pkg-config: htw-calendar). It uses the time zones of
 * the system through the library cctz; libhtw depends on nothing. No function reads or changes the
 * time zone of the process (TZ, tzset()), except htw_zone_create() for the local time zone, which
 * reads TZ.
 *
 * An instant is int64_t nanoseconds since 1970-01-01 00:00 UTC without leap seconds, as that of
 * HTW_CLOCK_REALTIME. The instants of a calendar are whole seconds. They end in the year 2262;
 * HTW_NEVER_NS means never.
 *
 * Daylight saving. When the clocks of a zone change, a local time may not exist (a gap: the clocks
 * were put forward) or exist twice (a fold: they were put back).
 *  - A calendar with fixed hours ("0 3 * * *", htw_calendar_daily()) comes once for each local time:
 *    in a gap, at the first instant after the gap; in a fold, at the first of the two. Local times
 *    that are the same instant by this rule come once.
 *  - A calendar for which the hour does not matter (the field of the hour begins with `*`, such as
 *    "30 * * * *" or "0,15 * * * *") comes whenever a clock on the wall shows such a time: in a fold
 *    twice, in a gap not at all. So in most zones the time between two instants stays the same.
 * The same holds for every other change of a zone's offset, also where it skips a whole day.
 *
 * Threads: any thread may call any function at any time. A calendar and a zone do not change.
 */
#ifndef HTW_CALENDAR_H
#define HTW_CALENDAR_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ time zones */

/** The rules of a time zone; opaque. */
struct htw_zone;

/**
 * Loads a time zone.
 *
 * The rules are those of the system: files of tzdata in /usr/share/zoneinfo, or in the folder that
 * the environment variable TZDIR names. A zone is read once in a process: a process that runs while
 * tzdata is updated uses the old rules until it ends. The rules are kept until then.
 *
 * @param ret_zone receives the zone. The caller owns it, and destroys it with htw_zone_destroy().
 * @param name     a name of tzdata, such as "Europe/Berlin" or "UTC"; NULL: the local time zone.
 * @return 0: success;
 *         -EINVAL: `name` (or TZ) is no name of a zone. A name has one to four parts with a slash between
 *         each two of them, such as "America/Argentina/Salta"; a part consists of letters, digits and
 *         "_+-". There is no other spelling of it;
 *         -ENOENT: there is no such zone;
 *         -EIO: its file cannot be read;
 *         -EMFILE, -ENFILE: no file descriptor is left to read it;
 *         -ENOMEM.
 *
 * The local time zone is that of the environment variable TZ: a name, or the absolute path of a file,
 * perhaps after a colon; if it is empty, UTC. POSIX rules ("CET-1CEST,M3.5.0,M10.5.0/3", "UTC0") are
 * refused, as every other value that names no zone. If TZ is not set, it is that of the file
 * /etc/localtime; if there is none, UTC. "UTC" and "Etc/UTC" need no files; other names do.
 *
 * Memory: up to 50 KiB for each zone of tzdata that is used, once.
 *
 * Cost: reads a file when the zone is used for the first time (up to a millisecond), later about 5 us. Do not
 * call it first in a child after fork if the parent has several threads.
 */
HTW_API HTW_WARN_UNUSED int htw_zone_create(struct htw_zone **ret_zone, const char *name);

/** Destroys a zone. Timers that were scheduled with it continue. NULL is ignored. */
HTW_API void htw_zone_destroy(struct htw_zone *zone);

/**
 * Returns by how much local time is ahead of UTC at an instant, in seconds; negative west of
 * Greenwich. 0 for NULL, which means UTC.
 */
HTW_API int32_t htw_zone_offset(const struct htw_zone *zone, int64_t instant_ns);

/* ------------------------------------------------------------------ calendars */

/**
 * A set of local times. A value: copy it as you like, use it in any thread, release nothing. Filled
 * with zeros it is empty, and its next instant is HTW_NEVER_NS.
 */
struct htw_calendar {
    uint64_t _seconds, _minutes, _days, _weekdays;
    uint32_t _hours, _months, _flags, _unused;
};

/** The days of the week, for htw_calendar_weekly(). */
enum htw_weekday {
    HTW_SUNDAY = 1 << 0,
    HTW_MONDAY = 1 << 1,
    HTW_TUESDAY = 1 << 2,
    HTW_WEDNESDAY = 1 << 3,
    HTW_THURSDAY = 1 << 4,
    HTW_FRIDAY = 1 << 5,
    HTW_SATURDAY = 1 << 6,
    HTW_WEEKDAYS = 0x3e, /**< Monday to Friday */
    HTW_EVERY_DAY = 0x7f
};

/**
 * Makes the calendar of one local time every day.
 *
 * @param ret_calendar receives the calendar.
 * @param hour         0 to 23.
 * @param minute       0 to 59.
 * @param second       0 to 59.
 * @return 0: success;
 *         -EINVAL.
 */
HTW_API HTW_WARN_UNUSED int htw_calendar_daily(struct htw_calendar *ret_calendar, int hour,
                                               int minute, int second);

/**
 * Makes the calendar of one local time on days of the week. Otherwise as htw_calendar_daily().
 *
 * @param weekdays one or more of enum htw_weekday, combined with `|`.
 */
HTW_API HTW_WARN_UNUSED int htw_calendar_weekly(struct htw_calendar *ret_calendar,
                                                unsigned weekdays, int hour, int minute,
                                                int second);

/**
 * Makes the calendar of one local time on a day of each month. Otherwise as htw_calendar_daily().
 *
 * @param day 1 to 31: that day, in months that have it; -1: the last day of the month.
 */
HTW_API HTW_WARN_UNUSED int htw_calendar_monthly(struct htw_calendar *ret_calendar, int day,
                                                 int hour, int minute, int second);

/**
 * Makes the calendar of a cron expression.
 *
 * Five fields, separated by spaces or tabs: minute (0 to 59), hour (0 to 23), day of the month (1 to
 * 31), month (1 to 12 or jan to dec), day of the week (0 to 7 or sun to sat; 0 and 7 are Sunday).
 * With six fields the first one is the second (0 to 59); with five it is 0. Letters may be large or
 * small. A field is a list of, separated by commas:
 *     `*`      all values        `*` /2    every second value, from the lowest (without the space)
 *     5        one value         5/10     5, 15, 25 and so on to the highest
 *     1-5      a range           1-9/2    1, 3, 5, 7, 9
 * A step is a number from 1 to the number of values of the field. Steps of days of the week go from 0 to
 * 7, as in Vixie cron, and from a single day up to 7: 1/3 is 1, 4 and 7; 5/2 is Friday and Sunday; 7/2 is
 * Sunday. (Vixie cron itself has steps of ranges only.)
 * Day of the month also: L, the last day; LW, the last day from Monday to Friday.
 * Day of the week also: 5L or friL, the last Friday of the month; 5#2 or fri#2, the second.
 *
 * As in Vixie cron: if neither the field of the day of the month nor that of the day of the week
 * begins with `*`, a day that matches one of them matches; otherwise it must match both.
 *
 * Or an at sign and one of these words, in small letters: yearly (= annually), monthly, weekly,
 * daily (= midnight), hourly.
 *
 * @param expression   a string.
 * @param ret_position receives where in the string the error is; only written with -EINVAL. May be
 *                     NULL.
 * @return 0: success, also if the expression never matches, as that of 30 February;
 *         -EINVAL: the text is not a valid expression.
 *
 * Cost: O(length); allocates nothing.
 */
HTW_API HTW_WARN_UNUSED int htw_calendar_cron(struct htw_calendar *ret_calendar,
                                              const char *expression, size_t *ret_position);

/** A buffer of this size holds every text of htw_calendar_format(). */
#define HTW_CALENDAR_TEXT_MAX 1024

/**
 * Writes a calendar as a cron expression, which htw_calendar_cron() reads as the same calendar, and
 * returns its length: of five fields, or six if the second is not always 0.
 *
 * @param text receives the text and a zero byte, cut if `size` is too small. May be NULL if `size` is
 *             0.
 * @param size in bytes.
 * @return 0 or more: the length of the whole text, without the zero byte;
 *         -EINVAL: a pointer is NULL, or the calendar is empty.
 */
HTW_API int htw_calendar_format(const struct htw_calendar *calendar, char *text, size_t size);

/**
 * Returns the first instant of a calendar after a given one.
 *
 * @param zone     NULL: UTC.
 * @param after_ns any instant.
 * @return an instant later than `after_ns`;
 *         HTW_NEVER_NS: there is none until the year 2262; or `calendar` is NULL.
 *
 * Cost: some 100 ns in most cases. If there is none, some 10 us. Allocates nothing.
 */
HTW_API int64_t htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                                  int64_t after_ns);

/**
 * Returns the last instant of a calendar before a given one. Every instant that htw_calendar_next()
 * returns is found.
 *
 * @param zone      NULL: UTC.
 * @param before_ns any instant.
 * @return an instant earlier than `before_ns`;
 *         INT64_MIN: there is none since the year 1677; or `calendar` is NULL.
 *
 * Cost: that of some 40 calls of htw_calendar_next().
 */
HTW_API int64_t htw_calendar_previous(const struct htw_calendar *calendar,
                                      const struct htw_zone *zone, int64_t before_ns);

/* ------------------------------------------------------------------ timers */

/** The most instants that a timer may run late, and the longest jitter. */
#define HTW_CALENDAR_CATCH_UP_MAX 1000u
#define HTW_CALENDAR_NO_CATCH_UP UINT32_MAX
#define HTW_CALENDAR_JITTER_NS_MAX HTW_DAY

/** The most skipped instants that `missed` of a run counts. */
#define HTW_CALENDAR_MISSED_MAX 10000u

/** A timer that repeats by a calendar. Start from HTW_CALENDAR_SPEC_INIT. */
struct htw_calendar_spec {
    /** sizeof(struct htw_calendar_spec); HTW_CALENDAR_SPEC_INIT sets it. */
    size_t struct_size;
    struct htw_calendar calendar; /**< has a next instant */
    const struct htw_zone *zone;  /**< NULL: UTC. May be destroyed after the call. */
    /**
     * NULL: that of `site`. In its expiration, `deadline_ns` is the instant of the calendar, without the jitter;
     * `late_ns` counts from the instant with the jitter; `missed` is the number of instants since the
     * previous run for which nothing ran, at most HTW_CALENDAR_MISSED_MAX.
     */
    htw_callback *callback;
    void *arg; /**< see htw_schedule_calendar() */
    /** Instants after this one count: the last one for which the program knows that it ran, so that
        those that passed while it did not run are treated as missed; 0: now. One that is more than 3
        hours in the future means that the clock was wrong when it was noted, and counts as now. */
    int64_t after_ns;
    /**
     * Each run is later than its instant by the same part of this time, from 0 to
     * HTW_CALENDAR_JITTER_NS_MAX, which `jitter_key` selects: so the machines of a fleet spread. The same
     * key selects the same part on each machine and in each version of the library.
     */
    int64_t jitter_ns;
    const void
        *jitter_key; /**< bytes, such as the names of host and job; not NULL if `jitter_ns` > 0 */
    size_t jitter_key_size;
    /** An instant is missed if the timer runs more than this later, or not before the next instant; at
        least 0; 0 means 1 minute. */
    int64_t grace_ns;
    /** How many missed instants run late, up to HTW_CALENDAR_CATCH_UP_MAX: 0 or 1: one run for all of
        them; N: the last N, the oldest first; HTW_CALENDAR_NO_CATCH_UP: none. An instant that is not
        missed is one of them, and always runs. */
    uint32_t catch_up;
    const void *key;           /**< as in struct htw_spec */
    size_t key_size;           /**< as in struct htw_spec */
    bool keep_existing;        /**< as in struct htw_spec */
    struct htw_group *group;   /**< as in struct htw_spec */
    htw_release_hook *release; /**< as in struct htw_spec */
    /** For the memory of the timer that is not in the scheduler; NULL: malloc(). The struct is copied. */
    const struct htw_allocator *allocator;
    const struct htw_site *site; /**< as in struct htw_spec */
};

/** Missed instants lead to one run. */
#define HTW_CALENDAR_SPEC_INIT HTW__INIT(htw_calendar_spec)

/**
 * Schedules a callback that repeats by a calendar until it is cancelled.
 *
 * The clock of the timer is HTW_CLOCK_REALTIME in every scheduler. Tests set it by
 * htw_scheduler_set_clock().
 *
 * The timer is one of the scheduler, which repeats: its handle, key and group work as those of any
 * timer, its runs never overlap, and one cancel ends it. Differences:
 *  - The library keeps a block of its own for `arg`. With a release hook, `arg` belongs to the library
 *    until it calls the hook, as with any timer. Without one, the caller owns `arg` again when the timer
 *    is cancelled. A visitor receives the block instead: htw_calendar_arg() finds `arg`. If a timer is
 *    replaced or cancelled by its key, the argument is not handed back: use a release hook.
 *  - htw_reschedule() and htw_reschedule_at() make it run once at another time than its next instant,
 *    earlier or later: `deadline_ns` is that time, and instants that it passes over do not run late. They
 *    are part of `missed`. After that it goes on with the first instant after that run.
 *  - htw_set_period() has no effect.
 *
 * When the wall clock is set forward, instants that were passed over are missed (`grace_ns`,
 * `catch_up`). When it is set back, no instant runs twice: the timer waits for the instant that was next.
 * If the clock was very wrong, htw_reschedule() with 0 makes the timer continue from the time that it
 * shows now.
 *
 * @param spec         the library keeps no pointer to it.
 * @param ret_handle   as in htw_schedule_spec().
 * @param ret_replaced as in htw_schedule_spec().
 * @return 0: success;
 *         -EINVAL also if the calendar has no next instant, a value is out of its range, or a key for the
 *         jitter is missing;
 *         the errors of htw_schedule_spec().
 *
 * After a failure nothing has changed, the caller owns `arg`, and the hook is not called. Cost: that of
 * htw_schedule_spec() and htw_calendar_next(). Each run costs one htw_calendar_next() and a move; after
 * missed instants, up to 10 ms more.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_calendar(struct htw_scheduler *scheduler,
                                                  const struct htw_calendar_spec *spec,
                                                  htw_handle *ret_handle,
                                                  struct htw_unexpired *ret_replaced);

/**
 * Returns the argument of a timer that ended without a run, for visitors: the `arg` that was passed to
 * htw_schedule_calendar(), or, for any other timer, `unexpired->arg`. NULL for NULL. Call it in the
 * visitor only.
 */
HTW_API void *htw_calendar_arg(const struct htw_unexpired *unexpired);

#ifdef __cplusplus
}
#endif

#endif /* HTW_CALENDAR_H */
