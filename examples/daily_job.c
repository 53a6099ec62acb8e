/* SPDX-License-Identifier: MIT */
/*
 * daily_job.c - a job every day at 03:00 in Berlin, by the wall clock, and a heartbeat every minute, by the
 * clock of the scheduler, which is never set. Both clocks are manual ones that go through a week in March
 * in an instant: on the Sunday of that week Berlin's clocks are put forward at 02:00. On Wednesday the
 * machine is asleep until noon: only the wall clock goes on.
 */
#include <htw/calendar.h>
#include <htw/loop.h>

#include <stdio.h>

/* 2024-03-27 00:00 UTC, a Wednesday. */
#define START_NS (INT64_C(1711497600) * HTW_SECOND)

struct job {
    struct htw_zone *zone;
    unsigned runs, late_runs;
    int wrong; /* must not be */
};

/* The local time of an instant, as seconds of its day. */
static int64_t second_of_day(const struct job *job, int64_t instant_ns) {
    return (instant_ns / HTW_SECOND + htw_zone_offset(job->zone, instant_ns)) % 86400;
}

static void back_up(void *arg, const struct htw_expiration *expiration) {
    struct job *job = arg;
    int64_t second = second_of_day(job, expiration->deadline_ns);
    job->runs++;
    job->late_runs += expiration->late_ns > HTW_HOUR;
    job->wrong |= second != INT64_C(3) * 3600;
    printf("backup of %02d:%02d, UTC%+d, %d min late\n", (int)(second / 3600),
           (int)(second / 60 % 60),
           (int)(htw_zone_offset(job->zone, expiration->deadline_ns) / 3600),
           (int)(expiration->late_ns / HTW_MINUTE));
}

static void beat(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

int main(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
    struct htw_scheduler *scheduler;
    struct job job = { 0 };
    unsigned beats = 0;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = START_NS;
    if (htw_zone_create(&job.zone, "Europe/Berlin") != 0 ||
        htw_scheduler_create(&scheduler, &options) != 0)
        return 1;
    spec.zone = job.zone;
    spec.callback = back_up;
    spec.arg = &job;
    if (htw_calendar_daily(&spec.calendar, 3, 0, 0) != 0 ||
        htw_schedule_calendar(scheduler, &spec, NULL, NULL) != 0 ||
        htw_schedule_every(scheduler, HTW_MINUTE, HTW_MINUTE, HTW_REPEAT_SKIP, beat, &beats,
                           NULL) != 0)
        return 1;
    /* The machine wakes up at noon: one backup runs late, and no heartbeat is missed. */
    htw_scheduler_set_clock(scheduler, HTW_CLOCK_REALTIME, START_NS + 12 * HTW_HOUR);
    htw_scheduler_advance(scheduler, 7 * HTW_DAY - 12 * HTW_HOUR);
    printf("%u backups, %u of them late; %u heartbeats\n", job.runs, job.late_runs, beats);
    htw_scheduler_destroy(scheduler);
    htw_zone_destroy(job.zone);
    return job.runs == 7 && job.late_runs == 1 && !job.wrong && beats == (7 * 24 - 12) * 60 ? 0 : 1;
}
