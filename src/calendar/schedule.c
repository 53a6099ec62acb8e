/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - timers that repeat by a calendar, made of the public calls of the scheduler.
 *
 * Such a timer is a repeating timer of the scheduler, whose callback here first gives it the deadline
 * of its next instant, and then calls the user's callback. So the user's callback may move or cancel its
 * timer like any other, may throw, and may end its thread. Only the callback changes a job, and its
 * runs never overlap. The period is never used: each run replaces the deadline that it would give.
 */
#include "fields.h"
#include "zone.h"

#include "../base/random.h"
#include "../base/refusal.h"

#include <htw/loop.h>
#include <htw/timer.h>

#include <errno.h>
#include <stdlib.h>

/* As in Vixie cron: when the clock was set back by less, what has run does not run again. */
#define SET_BACK_NS (3 * HTW_HOUR)

/* What malloc() has for any type. */
enum { JOB_ALIGNMENT = 16 };

/* A timer that repeats by a calendar. */
struct job {
    struct htw_calendar calendar;
    struct htw_zone *zone;
    int64_t next_ns;  /* the instant to run next, without the jitter */
    int64_t delay_ns; /* the part of the jitter that the key has selected */
    int64_t grace_ns;
    uint64_t missed; /* since the last run */
    uint32_t catch_up;
    htw_callback *callback;
    void *arg;
    htw_release_hook *release;
    struct htw_allocator allocator;
};

/* ---- memory */

static void *allocate_by_malloc(void *context, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    return malloc(size);
}

static void release_by_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)size, (void)alignment;
    free(memory);
}

static void destroy_job(struct job *job) {
    struct htw_allocator allocator = job->allocator;
    htw_zone_destroy(job->zone);
    allocator.release(allocator.context, job, sizeof(*job), JOB_ALIGNMENT);
}

/* The release hook of the timer. */
static void release_job(void *arg) {
    struct job *job = arg;
    htw_release_hook *release = job->release;
    void *users = job->arg;
    destroy_job(job);
    if (release != NULL)
        release(users);
}

/* ---- instants */

static int64_t instant_after(const struct job *job, int64_t after_ns) {
    return htw_calendar_next(&job->calendar, job->zone, after_ns);
}

/* When the timer is to run for an instant. */
static int64_t deadline_of(const struct job *job, int64_t instant_ns) {
    return instant_ns > HTW_NEVER_NS - job->delay_ns ? HTW_NEVER_NS : instant_ns + job->delay_ns;
}

/* The number of instants from `first_ns` to before `end_ns`, up to `most`. */
static uint64_t count_instants(const struct job *job, int64_t first_ns, int64_t end_ns,
                               uint64_t most) {
    uint64_t count = 0;
    for (int64_t instant_ns = first_ns; instant_ns < end_ns && count < most; count++)
        instant_ns = instant_after(job, instant_ns);
    return count;
}

/*
 * Decides for which instant the timer runs now: `next_ns` or a later one, all before it being missed.
 * `now_ns` is without the jitter. INT64_MIN: for none.
 */
static int64_t choose_instant(struct job *job, int64_t now_ns) {
    int64_t last_ns = job->next_ns;
    if (instant_after(job, last_ns) <= now_ns) /* rare */
        last_ns = htw_calendar_previous(&job->calendar, job->zone, now_ns + 1);
    bool on_time = now_ns - last_ns <= job->grace_ns;
    uint32_t runs = on_time && job->catch_up == 0 ? 1 : job->catch_up;
    if (runs == 0)
        return INT64_MIN;
    if (count_instants(job, job->next_ns, last_ns + 1, (uint64_t)runs + 1) <= runs)
        return job->next_ns;
    for (; runs > 1; runs--)
        last_ns = htw_calendar_previous(&job->calendar, job->zone, last_ns);
    return last_ns;
}

/* Counts instants from `first_ns` to before `end_ns` for which nothing runs. */
static void count_missed(struct job *job, int64_t first_ns, int64_t end_ns) {
    job->missed += count_instants(job, first_ns, end_ns, HTW_CALENDAR_MISSED_MAX - job->missed);
}

/* Gives the timer the deadline of its next instant. */
static void move_on(struct job *job, const struct htw_expiration *expiration, int64_t after_ns) {
    job->next_ns = instant_after(job, after_ns);
    /* A thread may have moved the timer since the run began: that counts. */
    if (htw_is_pending(expiration->scheduler, expiration->handle))
        return;
    /* Fails only where the scheduler is stopped: then it does not run again. If the timer was
       cancelled meanwhile, this changes nothing. */
    (void)htw_reschedule_at(expiration->scheduler, expiration->handle,
                            deadline_of(job, job->next_ns));
}

/* The user gave the timer another deadline than move_on(): it runs for that alone. */
static void run_moved(struct job *job, const struct htw_expiration *expiration) {
    /* Not by `late_ns`, which has a bound that a deadline long ago exceeds. */
    int64_t now_ns =
        htw_scheduler_now_by(expiration->scheduler, HTW_CLOCK_REALTIME) - job->delay_ns;
    int64_t due_ns;
    if (__builtin_sub_overflow(expiration->deadline_ns, job->delay_ns, &due_ns))
        due_ns = INT64_MIN;
    int64_t after_ns = instant_after(job, due_ns);
    count_missed(job, job->next_ns, due_ns);
    count_missed(job, after_ns > job->next_ns ? after_ns : job->next_ns, now_ns + 1);
    move_on(job, expiration, now_ns);
}

/* Returns the instant that the timer runs for; INT64_MIN: for none. */
static int64_t run_instant(struct job *job, const struct htw_expiration *expiration,
                           int64_t now_ns) {
    int64_t chosen_ns = choose_instant(job, now_ns);
    bool none = chosen_ns == INT64_MIN;
    count_missed(job, job->next_ns, none ? now_ns + 1 : chosen_ns);
    move_on(job, expiration, none ? now_ns : chosen_ns);
    return chosen_ns;
}

static void run_job(void *arg, const struct htw_expiration *expiration) {
    struct job *job = arg;
    struct htw_expiration told = *expiration;
    if (expiration->deadline_ns != deadline_of(job, job->next_ns)) {
        run_moved(job, expiration);
    } else {
        int64_t now_ns = expiration->deadline_ns + expiration->late_ns - job->delay_ns;
        told.deadline_ns = run_instant(job, expiration, now_ns);
        if (told.deadline_ns == INT64_MIN)
            return;
        told.late_ns = now_ns - told.deadline_ns;
    }
    told.missed = job->missed;
    job->missed = 0;
    job->callback(job->arg, &told);
}

/* ---- scheduling */

static const char *invalid_member(const struct htw_calendar_spec *spec) {
    if (spec->struct_size != sizeof(*spec))
        return "struct_size";
    if (spec->site != NULL && spec->site->callback == NULL)
        return "site";
    if (spec->callback == NULL && spec->site == NULL)
        return "callback";
    if (spec->jitter_ns < 0 || spec->jitter_ns > HTW_CALENDAR_JITTER_NS_MAX)
        return "jitter_ns";
    if (spec->jitter_ns != 0 && spec->jitter_key == NULL)
        return "jitter_key";
    if (spec->grace_ns < 0)
        return "grace_ns";
    if (spec->after_ns == HTW_NEVER_NS)
        return "after_ns";
    if (spec->catch_up > HTW_CALENDAR_CATCH_UP_MAX && spec->catch_up != HTW_CALENDAR_NO_CATCH_UP)
        return "catch_up";
    return spec->allocator == NULL ||
                   (spec->allocator->allocate != NULL && spec->allocator->release != NULL)
               ? NULL
               : "allocator";
}

/* A number from 0 to `jitter_ns`: FNV-1a, mixed, so that it is the same everywhere and for ever. */
static int64_t select_delay(const struct htw_calendar_spec *spec) {
    const unsigned char *bytes = spec->jitter_key;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (spec->jitter_ns == 0)
        return 0;
    for (size_t i = 0; i < spec->jitter_key_size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (int64_t)(htw__random_mix(hash) % ((uint64_t)spec->jitter_ns + 1));
}

static struct job *create_job(const struct htw_calendar_spec *spec) {
    static const struct htw_allocator by_malloc = { allocate_by_malloc, release_by_free, NULL };
    const struct htw_allocator *allocator = spec->allocator != NULL ? spec->allocator : &by_malloc;
    struct job *job = allocator->allocate(allocator->context, sizeof(*job), JOB_ALIGNMENT);
    if (job == NULL)
        return NULL;
    *job = (struct job) {
        .calendar = spec->calendar,
        .zone = htw__zone_retain(spec->zone),
        .delay_ns = select_delay(spec),
        .grace_ns = spec->grace_ns == 0 ? HTW_MINUTE : spec->grace_ns,
        .catch_up = spec->catch_up == 0                          ? 1
                    : spec->catch_up == HTW_CALENDAR_NO_CATCH_UP ? 0
                                                                 : spec->catch_up,
        .callback = spec->callback != NULL ? spec->callback : spec->site->callback,
        .arg = spec->arg,
        .release = spec->release,
        .allocator = *allocator,
    };
    return job;
}

/* After which instant a timer begins. */
static int64_t first_after(const struct htw_scheduler *scheduler, const struct job *job,
                           int64_t after_ns) {
    int64_t now_ns = htw_scheduler_now_by(scheduler, HTW_CLOCK_REALTIME);
    bool was_set_back = now_ns < HTW_NEVER_NS - SET_BACK_NS && after_ns > now_ns + SET_BACK_NS;
    return after_ns == 0 || was_set_back ? now_ns - job->delay_ns : after_ns;
}

int htw_schedule_calendar(struct htw_scheduler *scheduler, const struct htw_calendar_spec *spec,
                          htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    const char *member = spec == NULL ? NULL : invalid_member(spec);
    if (scheduler == NULL || spec == NULL || member != NULL)
        return htw__refuse(member);
    struct job *job = create_job(spec);
    if (job == NULL)
        return -ENOMEM;
    job->next_ns = instant_after(job, first_after(scheduler, job, spec->after_ns));
    if (job->next_ns == HTW_NEVER_NS) {
        destroy_job(job);
        return htw__refuse("calendar");
    }
    struct htw_spec timer = HTW_SPEC_INIT;
    timer.callback = run_job;
    timer.arg = job;
    timer.when_ns = deadline_of(job, job->next_ns);
    timer.absolute = true;
    timer.clock = HTW_CLOCK_REALTIME;
    timer.period_ns = HTW_DAY;
    timer.key = spec->key;
    timer.key_size = spec->key_size;
    timer.keep_existing = spec->keep_existing;
    timer.group = spec->group;
    timer.release = release_job;
    timer.site = spec->site;
    int error = htw_schedule_spec(scheduler, &timer, ret_handle, ret_replaced);
    if (error != 0)
        destroy_job(job);
    return error;
}

void *htw_calendar_arg(const struct htw_unexpired *unexpired) {
    if (unexpired == NULL ||
        unexpired->arg == NULL) /* a timer that was replaced has none any more */
        return NULL;
    return unexpired->callback == run_job ? ((struct job *)unexpired->arg)->arg : unexpired->arg;
}
