/* SPDX-License-Identifier: MIT */
/* timers.c - timers of the scheduler: each one runs once and not early, or was cancelled. */
#include "program.h"

#include "../explore/machine.h"
#include "threads.h"
#include "world.h"

#include <errno.h>
#include <string.h>

enum { TIMERS = 96, REPEATING_MAX = 3, GROUPS = 2 };

struct timer {
    bool is_armed; /* it has not run, and was not cancelled */
    bool is_busy;  /* a client is in a call about it */
    bool repeats, is_inside;
    struct due due;    /* not before this */
    struct due latest; /* late after this; never: not known */
    int64_t read_ns;   /* what the library has read last for the next run; 0: nothing yet */
    int64_t first_ns;  /* of one that repeats: the delay of its first run */
    int64_t run_ns;    /* of one that repeats: the deadline of its last run; 0: none */
    int64_t period_ns;
    enum htw_repeat repeat;
    struct group *group;   /* NULL: none */
    int64_t armed_from_ns; /* when its call began */
    struct due kept;       /* its `latest` from before a pause */
    htw_handle handle;
};

struct group {
    struct htw_group *group;
    bool is_busy;   /* a client pauses or resumes it */
    bool is_paused; /* from when a pause has returned until a resume is called */
    int64_t pause_from_ns, pause_to_ns;
};

static struct timer timers[TIMERS];
static struct group groups[GROUPS];

static uint64_t index_of(const struct timer *timer) {
    return (uint64_t)(timer - timers);
}

static struct due never(void) {
    return (struct due) { .deadline_ns = HTW_NEVER_NS, .at_ns = MACHINE_NEVER };
}

/* ---- what the library reads

   A thread may be stopped for seconds between a call, or the end of a run, and the moment at which the library reads the
   clock for it. So what is due is judged from that reading. */

static void begin_reading(struct timer *timer) {
    timer->read_ns = 0;
    machine_self->read_to = &timer->read_ns;
}

/* After a call, which may have failed before it has read anything. */
static void end_reading(void) {
    machine_self->read_to = NULL;
}

/* The deadline that the next run of a repeating timer must have. */
static int64_t next_ns(const struct timer *timer) {
    int64_t period_ns = timer->period_ns, ns = timer->run_ns + period_ns;
    bool is_overdue = ns <= timer->read_ns;
    if (timer->run_ns == 0)
        return timer->read_ns + timer->first_ns;
    if (timer->repeat == HTW_REPEAT_AFTER || (timer->repeat == HTW_REPEAT_DELAY && is_overdue))
        return timer->read_ns + period_ns;
    if (timer->repeat == HTW_REPEAT_SKIP && is_overdue)
        return ns + ((timer->read_ns - ns) / period_ns + 1) * period_ns;
    return ns;
}

/* Of one that repeats: once its thread has read when the run has ended. */
static void follow_reading(struct timer *timer) {
    if (!timer->repeats || timer->read_ns == 0)
        return;
    int64_t ns = next_ns(timer);
    timer->latest.at_ns = ns > timer->read_ns ? ns : timer->read_ns;
}

static void require_in_time(struct timer *timer) {
    follow_reading(timer);
    bool is_known = timer->latest.at_ns != MACHINE_NEVER;
    int64_t late_ns = is_known ? due_late_ns(&timer->latest, false) : 0;
    if (late_ns > world->counts.late_timer_ns)
        world->counts.late_timer_ns = late_ns;
    if (late_ns > LATE_TIMER_NS)
        machine_fail("timer %u, due at %.9f s, %s", (unsigned)(timer - timers),
                     (double)timer->latest.at_ns / 1e9,
                     timer->is_armed ? "is late, or lost" : "was late");
}

/* ---- runs */

static void work(void) {
    if (chance_one_in(8))
        threads_sleep_ns((int64_t)chance_below(2 * HTW_MILLISECOND));
    if (chance_one_in(8))
        timers_act();
}

/* One that was about to start when the pause returned starts soon. */
static void require_not_paused(const struct group *group) {
    int64_t from_ns = group->pause_to_ns > stopped_until_ns ? group->pause_to_ns : stopped_until_ns;
    REQUIRE(!group->is_paused || machine_now_ns() - from_ns < LATE_TIMER_NS);
}

static void run_once(void *arg, const struct htw_expiration *expiration) {
    struct timer *timer = arg;
    note("runs", index_of(timer), expiration->late_ns);
    REQUIRE(timer->is_armed);
    REQUIRE(expiration->late_ns >= 0);
    due_require_reached(&timer->due);
    require_in_time(timer);
    if (timer->group != NULL)
        require_not_paused(timer->group);
    timer->is_armed = false; /* from now on another timer may be in this place */
    world->counts.ran++;
    work();
}

static void run_again(void *arg, const struct htw_expiration *expiration) {
    struct timer *timer = arg;
    note("runs again", index_of(timer), expiration->late_ns);
    REQUIRE(timer->is_armed && !timer->is_inside);
    REQUIRE(expiration->deadline_ns == next_ns(timer));
    REQUIRE(machine_now_ns() >= expiration->deadline_ns);
    require_in_time(timer);
    timer->is_inside = true;
    world->counts.ran++;
    work();
    timer->is_inside = false;
    timer->latest = due_at(machine_now_ns() + timer->period_ns, false);
    timer->run_ns = expiration->deadline_ns;
    begin_reading(timer);
}

/* ---- calls */

/* NULL: none was found. */
static struct timer *find(bool is_armed) {
    uint64_t from = chance_below(TIMERS);
    for (uint64_t i = 0; i < TIMERS; i++) {
        struct timer *timer = &timers[(from + i) % TIMERS];
        if (timer->is_armed == is_armed && !timer->is_busy && !timer->is_inside)
            return timer;
    }
    return NULL;
}

static unsigned count_repeating(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < TIMERS; i++)
        count += timers[i].is_armed && timers[i].repeats;
    return count;
}

static int64_t random_delay_ns(void) {
    static const int64_t means_ns[] = { HTW_MILLISECOND, 100 * HTW_MILLISECOND, HTW_SECOND,
                                        10 * HTW_SECOND };
    return chance_one_in(16) ? 0 : chance_ns(means_ns[chance_below(4)]);
}

static int arm_in_group(struct timer *timer, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    timer->group = &groups[chance_below(GROUPS)];
    spec.callback = run_once;
    spec.arg = timer;
    spec.when_ns = delay_ns;
    spec.group = timer->group->group;
    return htw_schedule_spec(scheduler, &spec, &timer->handle, NULL);
}

static int arm_by_wall(struct timer *timer, int64_t deadline_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run_once;
    spec.arg = timer;
    spec.absolute = true;
    spec.when_ns = deadline_ns;
    spec.clock = HTW_CLOCK_REALTIME;
    return htw_schedule_spec(scheduler, &spec, &timer->handle, NULL);
}

static int arm_repeating(struct timer *timer, int64_t first_ns) {
    timer->repeats = true;
    timer->first_ns = first_ns;
    timer->period_ns = 10 * HTW_MILLISECOND + chance_ns(100 * HTW_MILLISECOND);
    timer->repeat = (enum htw_repeat)chance_below(4);
    return htw_schedule_every(scheduler, first_ns, timer->period_ns, timer->repeat, run_again,
                              timer, &timer->handle);
}

static void arm(void) {
    struct timer *timer = find(false);
    if (timer == NULL)
        return;
    int64_t delay_ns = random_delay_ns(), slack_ns = 0;
    bool is_wall = chance_one_in(4);
    int64_t wall_ns = machine_wall_ns() + delay_ns;
    int result;
    *timer = (struct timer) { .is_armed = true,
                              .is_busy = true,
                              .latest = never(),
                              .kept = never(),
                              .armed_from_ns = machine_now_ns() };
    timer->due = is_wall ? due_at(wall_ns, true) : due_at(machine_now_ns() + delay_ns, false);
    begin_reading(timer);
    if (is_wall) {
        result = arm_by_wall(timer, wall_ns);
    } else if (chance_one_in(4)) {
        result = arm_in_group(timer, delay_ns);
    } else if (chance_one_in(4)) {
        slack_ns = chance_ns(HTW_SECOND);
        result = htw_schedule_within(scheduler, delay_ns, delay_ns + slack_ns, run_once, timer,
                                     &timer->handle);
    } else if (chance_one_in(8) && count_repeating() < REPEATING_MAX) {
        result = arm_repeating(timer, delay_ns);
    } else {
        result = htw_schedule(scheduler, delay_ns, run_once, timer, &timer->handle);
    }
    end_reading();
    note("arms", index_of(timer), result);
    if (!is_wall && !timer->repeats)
        timer->due = due_at(timer->read_ns + delay_ns, false);
    if (result != 0) {
        REQUIRE(program_may_fail(result) && timer->is_armed);
        timer->is_armed = false;
    } else if (timer->group != NULL && (timer->group->is_paused || timer->group->is_busy)) {
        timer->kept = due_at(machine_now_ns() + delay_ns, false);
    } else if (timer->latest.at_ns == MACHINE_NEVER) {
        timer->latest =
            is_wall ? due_at(wall_ns, true) : due_at(machine_now_ns() + delay_ns + slack_ns, false);
    }
    world->counts.armed += result == 0;
    timer->is_busy = false;
}

/* A repeating timer may only be known to have ended when its run has. */
static void cancel(void) {
    struct timer *timer = find(true);
    if (timer == NULL)
        return;
    bool waits = timer->repeats;
    timer->is_busy = true;
    int outcome =
        waits ? htw_cancel_wait(scheduler, timer->handle) : htw_cancel(scheduler, timer->handle);
    note("cancels", index_of(timer), outcome);
    REQUIRE(outcome == HTW_GONE || outcome == HTW_CANCELLED || outcome == HTW_RUNNING);
    REQUIRE(outcome != HTW_GONE || !timer->is_armed);
    REQUIRE(outcome != HTW_CANCELLED || timer->is_armed);
    REQUIRE(!waits || !timer->is_inside);
    if (outcome == HTW_CANCELLED || waits)
        timer->is_armed = false;
    world->counts.cancelled += outcome == HTW_CANCELLED;
    timer->is_busy = false;
}

/* While this call is under way, the timer may run by its old or its new deadline. */
static void move(void) {
    struct timer *timer = find(true);
    if (timer == NULL || timer->repeats || timer->due.is_wall || timer->group != NULL)
        return;
    int64_t delay_ns = random_delay_ns();
    struct due before = timer->due, latest = timer->latest;
    timer->is_busy = true;
    timer->due = due_at(machine_now_ns() + delay_ns, false);
    if (before.at_ns < timer->due.at_ns)
        timer->due = before;
    timer->latest = never();
    begin_reading(timer);
    int outcome = htw_reschedule(scheduler, timer->handle, delay_ns);
    end_reading();
    note("moves", index_of(timer), outcome);
    REQUIRE(outcome == HTW_MOVED || outcome == HTW_GONE || outcome == HTW_RUNNING ||
            program_may_fail(outcome));
    REQUIRE(outcome != HTW_GONE || !timer->is_armed);
    bool is_moved = outcome == HTW_MOVED;
    timer->due = is_moved ? due_at(timer->read_ns + delay_ns, false) : before;
    timer->latest = is_moved ? timer->due : latest;
    world->counts.moved += outcome == HTW_MOVED;
    timer->is_busy = false;
}

/* ---- groups */

static void pause(struct group *group) {
    group->pause_from_ns = machine_now_ns();
    for (unsigned i = 0; i < TIMERS; i++)
        if (timers[i].group == group && timers[i].latest.at_ns != MACHINE_NEVER) {
            timers[i].kept = timers[i].latest;
            timers[i].latest = never();
        }
    int error = htw_group_pause(group->group);
    note("pauses", (uint64_t)(group - groups), error);
    REQUIRE(error == 0);
    group->pause_to_ns = machine_now_ns();
    group->is_paused = true;
}

/* Each timer has the rest of its delay from now on. What is not before: the deadline of before; a pause only makes it
   later. */
static void resume(struct group *group) {
    group->is_paused = false;
    int error = htw_group_resume(group->group);
    note("resumes", (uint64_t)(group - groups), error);
    REQUIRE(error == 0);
    for (unsigned i = 0; i < TIMERS; i++) {
        struct timer *timer = &timers[i];
        if (timer->group != group || timer->kept.at_ns == MACHINE_NEVER)
            continue;
        int64_t from_ns = timer->armed_from_ns > group->pause_from_ns ? timer->armed_from_ns
                                                                      : group->pause_from_ns;
        int64_t rest_ns = timer->kept.at_ns > from_ns ? timer->kept.at_ns - from_ns : 0;
        timer->latest = due_at(machine_now_ns() + rest_ns, false);
        timer->kept = never();
    }
}

static void pause_or_resume(void) {
    struct group *group = &groups[chance_below(GROUPS)];
    if (group->is_busy)
        return;
    group->is_busy = true;
    if (group->is_paused)
        resume(group);
    else
        pause(group);
    group->is_busy = false;
}

void timers_open(void) {
    for (unsigned i = 0; i < GROUPS; i++) {
        int error;
        while ((error = htw_group_create(scheduler, &groups[i].group)) != 0) {
            REQUIRE(program_may_fail(error));
            threads_sleep_ns(10 * HTW_MILLISECOND);
        }
    }
}

void timers_act(void) {
    uint64_t kind = chance_below(8);
    if (chance_one_in(32))
        pause_or_resume();
    if (kind < 4)
        arm();
    else if (kind < 6)
        cancel();
    else
        move();
}

/* ---- what should have happened */

void timers_follow(int64_t ahead_before_ns) {
    for (unsigned i = 0; i < TIMERS; i++) {
        due_follow(&timers[i].due, ahead_before_ns);
        due_follow(&timers[i].latest, ahead_before_ns);
    }
}

void timers_judge(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (timers[i].is_armed && !timers[i].is_busy && !timers[i].is_inside)
            require_in_time(&timers[i]);
}

void timers_take_back(void *context, const struct htw_unexpired *unexpired) {
    struct timer *timer = unexpired->arg;
    (void)context;
    REQUIRE(timer >= timers && timer < timers + TIMERS && timer->is_armed);
    timer->is_armed = false;
}

void timers_close(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        REQUIRE(!timers[i].is_armed);
    for (unsigned i = 0; i < GROUPS; i++)
        htw_group_destroy(groups[i].group);
}
