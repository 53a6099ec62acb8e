/* SPDX-License-Identifier: MIT */
/*
 * wake_scenes.c - an otherwise idle scheduler wakes up for each way in which a timer gets a deadline, and gives memory back
 * whatever way many timers have ended.
 *
 * A wake-up that is missing shows only where nothing else wakes the expirer: each way is a variant with a scheduler of its
 * own, and begins when its threads sleep.
 */
/* holds: scheduler-17, scheduler-21 */
#include "scenes.h"

#include "../../src/scheduler/shard.h"

#include <htw/group.h>

#include <sys/epoll.h>

#define LATER HTW_HOUR
#define SOON (2 * MS)
#define PERIOD (2 * MS)
#define REPEATS 6u

static struct {
    char keys[3];
    bool begun[3];
    unsigned begin_count, runs, workers;
    unsigned blockers; /* so many callbacks stay until the gate is open */
    bool gate_is_open, is_over;
    pthread_mutex_t mutex;
    pthread_cond_t opened;
} at;

/* ---- callbacks: the argument is a timer of the scene */

static unsigned number_of(const struct scene_timer *timer) {
    return (unsigned)(timer - scene.timers);
}

static void run(void *arg, const struct htw_expiration *expiration) {
    scene_count(arg, expiration);
    pthread_mutex_lock(&at.mutex);
    at.begun[number_of(arg)] = true;
    bool blocks = at.begin_count++ < at.blockers;
    while (blocks && !at.gate_is_open)
        pthread_cond_wait(&at.opened, &at.mutex);
    at.runs++;
    pthread_mutex_unlock(&at.mutex);
}

static void run_again(void *arg, const struct htw_expiration *expiration) {
    if (at.begin_count + 1 < REPEATS)
        REQUIRE(htw_reschedule(expiration->scheduler, expiration->handle, SOON) == HTW_MOVED);
    run(arg, expiration);
}

static void ignore(void *arg) {
    (void)arg;
}

static struct htw_spec spec_of(unsigned number, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run;
    spec.arg = &scene.timers[number];
    spec.when_ns = delay_ns;
    spec.group = scene.group;
    spec.key = &at.keys[number];
    spec.key_size = 1;
    return spec;
}

static void schedule_spec(const struct htw_spec *spec) {
    struct scene_timer *timer = spec->arg;
    REQUIRE(htw_schedule_spec(scene.scheduler, spec, &timer->handle, NULL) == 0);
}

static void schedule_in_group(unsigned number, int64_t delay_ns) {
    struct htw_spec spec = spec_of(number, delay_ns);
    schedule_spec(&spec);
}

static void schedule(unsigned number, int64_t delay_ns) {
    scene_arm(number, delay_ns, run);
}

static int64_t soon(void) {
    return htw_scheduler_now(scene.scheduler) + SOON;
}

static void await_idle(void) {
    explore_sleep_ns(5 * MS);
}

static void move(unsigned number) {
    REQUIRE(htw_reschedule(scene.scheduler, scene.timers[number].handle, SOON) == HTW_MOVED);
}

static void pause(void) {
    REQUIRE(htw_group_pause(scene.group) == 0);
}

static void resume(void) {
    REQUIRE(htw_group_resume(scene.group) == 0);
}

/* ---- ways that need no other timer */

static void by_schedule(void) {
    schedule(0, SOON);
}

static void by_schedule_at_once(void) {
    schedule(0, 0);
}

static void by_schedule_at(void) {
    REQUIRE(htw_schedule_at(scene.scheduler, soon(), run, scene.timers, NULL) == 0);
}

static void by_schedule_within(void) {
    REQUIRE(htw_schedule_within(scene.scheduler, 1, SOON, run, scene.timers, NULL) == 0);
}

static void by_spec(void) {
    schedule_in_group(0, SOON);
}

static void by_replacement(void) {
    schedule_in_group(0, LATER);
    await_idle();
    schedule_in_group(0, SOON);
}

static void by_reschedule(void) {
    schedule(0, LATER);
    await_idle();
    move(0);
}

static void by_reschedule_at(void) {
    schedule(0, HTW_NEVER_NS);
    await_idle();
    REQUIRE(htw_reschedule_at(scene.scheduler, scene.timers[0].handle, soon()) == HTW_MOVED);
}

static void by_resume(void) {
    pause();
    schedule_in_group(0, SOON);
    await_idle();
    resume();
}

static void by_resume_of_a_moved_one(void) {
    schedule_in_group(0, LATER);
    pause();
    move(0);
    await_idle();
    resume();
}

static void by_destruction_of_a_paused_group(void) {
    pause();
    schedule_in_group(0, SOON);
    await_idle();
    htw_group_destroy(scene.group);
    scene.group = NULL;
}

/* ---- ways of a timer that has run */

static void repeat(enum htw_repeat kind) {
    REQUIRE(htw_schedule_every(scene.scheduler, SOON, PERIOD, kind, run, scene.timers,
                               &scene.timers[0].handle) == 0);
}

static void by_repeat_skip(void) {
    repeat(HTW_REPEAT_SKIP);
}

static void by_repeat_burst(void) {
    repeat(HTW_REPEAT_BURST);
}

static void by_repeat_delay(void) {
    repeat(HTW_REPEAT_DELAY);
}

static void by_repeat_after(void) {
    repeat(HTW_REPEAT_AFTER);
}

static void by_itself(void) {
    REQUIRE(htw_schedule(scene.scheduler, SOON, run_again, scene.timers, NULL) == 0);
}

static void by_itself_with_a_hook(void) {
    struct htw_spec spec = spec_of(0, SOON);
    spec.callback = run_again;
    spec.release = ignore;
    schedule_spec(&spec);
}

/* ---- ways of a timer that runs: the first callback stays until the gate is open */

static void await_blockers(void) {
    await_idle();
    REQUIRE(at.begin_count == at.blockers);
}

static void open_gate(void) {
    pthread_mutex_lock(&at.mutex);
    at.gate_is_open = true;
    pthread_cond_broadcast(&at.opened);
    pthread_mutex_unlock(&at.mutex);
}

/* Starts one that repeats, so seldom that only what is done meanwhile makes it run again. */
static void start_running(int64_t period_ns) {
    struct htw_spec spec = spec_of(0, SOON);
    at.blockers = 1;
    spec.period_ns = period_ns;
    schedule_spec(&spec);
    await_blockers();
}

static void by_reschedule_of_a_running_one(void) {
    start_running(LATER);
    move(0);
    open_gate();
}

static void by_set_period_of_a_running_one(void) {
    start_running(LATER);
    REQUIRE(htw_set_period(scene.scheduler, scene.timers[0].handle, PERIOD) == HTW_MOVED);
    open_gate();
}

static void by_resume_while_it_runs(void) {
    start_running(PERIOD);
    pause();
    resume();
    open_gate();
}

static void by_resume_after_it_ran(void) {
    start_running(PERIOD);
    pause();
    open_gate();
    await_idle();
    REQUIRE(at.runs == 1);
    resume();
}

/* ---- ways of a timer that is due but has not started, because all threads that run callbacks are busy. Two or three fall
   due together; one waits behind the other ones. */

static unsigned queue(void (*schedule_one)(unsigned number, int64_t delay_ns)) {
    unsigned queued = 0;
    at.blockers = at.workers == 2 ? 2 : 1;
    for (unsigned i = 0; i <= at.blockers; i++)
        schedule_one(i, LATER);
    int64_t deadline_ns = soon();
    for (unsigned i = 0; i <= at.blockers; i++)
        REQUIRE(htw_reschedule_at(scene.scheduler, scene.timers[i].handle, deadline_ns) ==
                HTW_MOVED);
    await_blockers();
    while (at.begun[queued])
        queued++;
    return queued;
}

static void by_reschedule_of_a_queued_one(void) {
    move(queue(schedule));
    open_gate();
}

static void by_reschedule_of_a_queued_one_in_a_group(void) {
    move(queue(schedule_in_group));
    open_gate();
}

static void by_replacement_of_a_queued_one(void) {
    schedule_in_group(queue(schedule_in_group), SOON);
    open_gate();
}

static void by_resume_of_a_queued_one(void) {
    queue(schedule_in_group);
    pause();
    resume();
    open_gate();
}

static void by_resume_of_one_that_was_queued(void) {
    queue(schedule_in_group);
    pause();
    open_gate();
    await_idle();
    REQUIRE(at.runs == at.blockers);
    resume();
}

/* ---- all of them */

/* `runs` 0: one more than there are blockers. */
static const struct {
    void (*arm)(void);
    unsigned runs;
} ways[] = {
    { by_schedule, 1 },
    { by_schedule_at_once, 1 },
    { by_schedule_at, 1 },
    { by_schedule_within, 1 },
    { by_spec, 1 },
    { by_replacement, 1 },
    { by_reschedule, 1 },
    { by_reschedule_at, 1 },
    { by_resume, 1 },
    { by_resume_of_a_moved_one, 1 },
    { by_destruction_of_a_paused_group, 1 },
    { by_repeat_skip, REPEATS },
    { by_repeat_burst, REPEATS },
    { by_repeat_delay, REPEATS },
    { by_repeat_after, REPEATS },
    { by_itself, REPEATS },
    { by_itself_with_a_hook, REPEATS },
    { by_reschedule_of_a_running_one, 2 },
    { by_set_period_of_a_running_one, REPEATS },
    { by_resume_while_it_runs, REPEATS },
    { by_resume_after_it_ran, REPEATS },
    { by_reschedule_of_a_queued_one, 0 },
    { by_reschedule_of_a_queued_one_in_a_group, 0 },
    { by_replacement_of_a_queued_one, 0 },
    { by_resume_of_a_queued_one, 0 },
    { by_resume_of_one_that_was_queued, 0 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))
#define EMBEDDED 3u /* otherwise: so many workers */

static void embed(struct htw_scheduler_options *options) {
    options->embedded = true;
}

static void start_threads(struct htw_scheduler_options *options) {
    options->start_threads = true;
}

/* The event loop of an embedded scheduler. It processes only when the descriptor is readable. */
static void run_event_loop(void) {
    while (!at.is_over) {
        epoll_wait(htw_scheduler_fd(scene.scheduler), NULL, 0, -1);
        REQUIRE(htw_scheduler_process(scene.scheduler, 0, NULL) == HTW_DONE);
    }
}

static void end_event_loop(void) {
    at.is_over = true;
    REQUIRE(htw_schedule(scene.scheduler, 0, scene_count, scene.timers, NULL) == 0);
    scene_join();
}

/* Each way embedded and with up to two workers; and another timer is pending far ahead, or none. */
static void play_ways(void) {
    unsigned way = scene_variant % WAYS, mode = scene_variant / WAYS % 4;
    bool is_embedded = mode == EMBEDDED, is_beside = scene_variant / WAYS / 4 == 1;
    memset(&at, 0, sizeof(at));
    at.workers = is_embedded ? 0 : mode;
    pthread_mutex_init(&at.mutex, NULL);
    pthread_cond_init(&at.opened, NULL);
    for (unsigned i = 0; i < sizeof(at.keys); i++)
        at.keys[i] = (char)i;
    scene_open(1, at.workers, is_embedded ? embed : start_threads);
    REQUIRE(htw_group_create(scene.scheduler, &scene.group) == 0);
    if (is_embedded)
        scene_start(0, run_event_loop);
    if (is_beside)
        scene_arm(3, LATER, scene_count);
    await_idle();
    ways[way].arm();
    explore_sleep_ns(20 * MS);
    REQUIRE(at.runs >= (ways[way].runs > 0 ? ways[way].runs : at.blockers + 1));
    REQUIRE(htw_cancel_wait(scene.scheduler, scene.timers[0].handle) >= 0); /* it may repeat */
    htw_group_destroy(scene.group);
    if (is_embedded)
        end_event_loop();
}

/* ---- memory is given back: one thread, so that little of it is played */

#define CROWD (3 * HTW__SLAB_PAGE_CELLS)

static htw_handle crowd[CROWD];

static void arm_crowd(int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = scene_count;
    spec.arg = scene.timers;
    spec.when_ns = delay_ns;
    spec.group = scene.group;
    for (unsigned i = 0; i < CROWD; i++)
        REQUIRE(htw_schedule_spec(scene.scheduler, &spec, &crowd[i], NULL) == 0);
}

/* All but each `kept`-th. */
static void cancel_except(unsigned kept) {
    for (unsigned i = 0; i < CROWD; i++)
        if (kept == 0 || i % kept != 0)
            REQUIRE(htw_cancel(scene.scheduler, crowd[i]) == HTW_CANCELLED);
}

static void by_expiry(void) {
    arm_crowd(MS);
}

static void by_cancel(void) {
    arm_crowd(HTW_NEVER_NS);
    cancel_except(0);
}

/* So few that they are not worth leaving to the thread that arms next. */
static void by_expiry_of_the_last_of_each_page(void) {
    unsigned kept = 2000;
    arm_crowd(HTW_NEVER_NS);
    cancel_except(kept);
    for (unsigned i = 0; i < CROWD; i += kept)
        REQUIRE(htw_reschedule(scene.scheduler, crowd[i], MS) == HTW_MOVED);
}

static void by_cancel_on_another_cpu(void) {
    arm_crowd(HTW_NEVER_NS);
    explore_set_cpu(1);
    cancel_except(0);
    explore_set_cpu(0);
}

/* The expirer leaves the records to a thread that has armed that many since; it does not come. */
static void by_cancel_on_another_cpu_while_this_one_arms(void) {
    by_cancel_on_another_cpu();
    by_cancel();
    by_cancel_on_another_cpu();
}

static void by_cancel_of_their_group(void) {
    REQUIRE(htw_group_create(scene.scheduler, &scene.group) == 0);
    arm_crowd(HTW_NEVER_NS);
    REQUIRE(htw_group_cancel(scene.group, NULL, NULL) == CROWD);
}

static void (*const ends[])(void) = {
    by_expiry,
    by_cancel,
    by_expiry_of_the_last_of_each_page,
    by_cancel_on_another_cpu,
    by_cancel_on_another_cpu_while_this_one_arms,
    by_cancel_of_their_group,
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

static uint32_t count_pages(void) {
    return scene.scheduler->shards[0].slab.present_count +
           scene.scheduler->shards[1].slab.present_count;
}

/* A scheduler that does not wake up for it waits for ever. */
static void play_give_back(void) {
    scene_open(2, 0, embed);
    ends[scene_variant]();
    REQUIRE(count_pages() >= 3);
    while (count_pages() > 2) {
        epoll_wait(htw_scheduler_fd(scene.scheduler), NULL, 0, -1);
        REQUIRE(htw_scheduler_process(scene.scheduler, 0, NULL) == HTW_DONE);
    }
    htw_group_destroy(scene.group);
}

const struct scene wake_scenes[] = {
    { "wake-up", "a scheduler that sleeps wakes up for a timer, whatever way it is armed",
      play_ways, 0, 0, WAYS * 8 },
    { "give-back", "and to give memory back, whatever way timers have ended", play_give_back, 0, 0,
      ENDS },
    { .name = NULL },
};
