/* SPDX-License-Identifier: MIT */
/* scheduler_scenes.c - what the scheduler promises to threads that use it at the same time. */
#include "scenes.h"

#include <htw/group.h>
#include <htw/timer.h>

/* ---- an earlier timer, while the expirer plans to sleep until a later one */

static void arm_late(void) {
    scene_arm(1, 100 * MS, scene_count);
}

static void arm_early(void) {
    scene_arm(2, 5 * MS, scene_count);
    explore_expect(&scene.timers[2].ran, explore_now_ns() + 6 * MS);
}

static void play_sleep(void) {
    scene_open(1, 0, NULL);
    scene_start(0, arm_late);
    scene_arm(0, 10 * MS, scene_count);
    explore_expect(&scene.timers[0].ran, explore_now_ns() + 11 * MS);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1);
}

/* Two threads set the alarm at the same time, and each may be stopped before it is set or after. */
static void play_sleep_of_two(void) {
    scene_open(2, 0, NULL);
    scene_arm(1, 100 * MS, scene_count);
    explore_sleep_ns(MS);
    scene_start(1, arm_early);
    scene_arm(0, 10 * MS, scene_count);
    explore_expect(&scene.timers[0].ran, explore_now_ns() + 11 * MS);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1 && scene.timers[2].runs == 1);
}

/* ---- cancels */

static void cancel_first(void) {
    scene.timers[0].result = htw_cancel(scene.scheduler, scene.timers[0].handle);
}

static void require_result(const struct scene_timer *timer) {
    REQUIRE(timer->result == HTW_CANCELLED || timer->result == HTW_GONE ||
            timer->result == HTW_RUNNING);
    REQUIRE(timer->runs == (timer->result == HTW_CANCELLED ? 0 : 1));
}

static void play_cancel(void) {
    scene_open(1, 0, NULL);
    scene_arm(0, 0, scene_count);
    scene_start(1, cancel_first);
    scene_join();
    scene_settle();
    require_result(&scene.timers[0]);
}

/* From another CPU a cancel claims the timer without the lock of its shard. */
static void play_cancel_foreign(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 2 * MS, scene_count);
    scene_start(1, cancel_first);
    explore_sleep_ns(2 * MS);
    scene_join();
    scene_settle();
    require_result(&scene.timers[0]);
}

/* The claim of a timer with a site takes a second step. */
static void play_cancel_site(void) {
    scene_open(2, 0, NULL);
    REQUIRE(htw_schedule_here(scene.scheduler, 2 * MS, HTW_HERE(scene_count, "site"),
                              &scene.timers[0], &scene.timers[0].handle) == 0);
    scene_start(1, cancel_first);
    explore_sleep_ns(2 * MS);
    scene_arm(1, 0, scene_count);
    scene_join();
    scene_settle();
    require_result(&scene.timers[0]);
    REQUIRE(scene.timers[1].runs == 1);
}

static void cancel_and_wait(void) {
    scene.timers[0].result = htw_cancel_wait(scene.scheduler, scene.timers[0].handle);
    REQUIRE(!scene.timers[0].is_inside);
    scene.timers[0].is_inside = true; /* nobody else touches it any more */
}

static void play_cancel_wait(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 0, scene_stay);
    scene_start(1, cancel_and_wait);
    scene_join();
    scene_settle();
    require_result(&scene.timers[0]);
}

static void play_cancel_repeating(void) {
    scene_open(2, 0, NULL);
    REQUIRE(htw_schedule_every(scene.scheduler, 0, MS, HTW_REPEAT_SKIP, scene_stay,
                               &scene.timers[0], &scene.timers[0].handle) == 0);
    scene_start(1, cancel_and_wait);
    scene_join();
    REQUIRE(scene.timers[0].result == HTW_CANCELLED || scene.timers[0].result == HTW_RUNNING);
    unsigned runs = scene.timers[0].runs;
    scene_settle();
    REQUIRE(scene.timers[0].runs == runs);
}

static void stay_long(void *arg, const struct htw_expiration *expiration) {
    scene_count(arg, expiration);
    explore_sleep_ns(5 * MS);
}

static void await_the_run(unsigned waiter) {
    struct scene_timer *waits = &scene.timers[waiter];
    waits->result = htw_cancel_wait(scene.scheduler, scene.timers[0].handle);
    waits->ran = true;
}

static void await_first(void) {
    await_the_run(1);
}

static void await_second(void) {
    await_the_run(2);
}

/* Two threads wait for one run. */
static void play_cancel_waits(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 0, stay_long);
    explore_sleep_ns(MS);
    for (unsigned i = 0; i < 2; i++) {
        scene_start((int)i, i == 0 ? await_first : await_second);
        explore_expect(&scene.timers[1 + i].ran, explore_now_ns() + 10 * MS);
    }
    scene_join();
    REQUIRE(scene.timers[1].result == HTW_RUNNING && scene.timers[2].result == HTW_RUNNING);
}

static void set_period(void) {
    scene.timers[0].result = htw_set_period(scene.scheduler, scene.timers[0].handle, 500 * MS);
}

/* The next run may be planned already. */
static void play_period(void) {
    scene_open(2, 0, NULL);
    REQUIRE(htw_schedule_every(scene.scheduler, 0, MS, HTW_REPEAT_SKIP, scene_count,
                               &scene.timers[0], &scene.timers[0].handle) == 0);
    scene_start(1, set_period);
    scene_join();
    REQUIRE(scene.timers[0].result == HTW_MOVED);
    scene_settle();
    REQUIRE(scene.timers[0].runs >= 2 && scene.timers[0].runs <= 10);
}

/* A record that is used again is not the timer of an old handle. */
static void cancel_and_arm(void) {
    scene.timers[0].result = htw_cancel(scene.scheduler, scene.timers[0].handle);
    scene_arm(1, 0, scene_count);
}

static void play_reuse(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 0, scene_count);
    scene_start(0, cancel_and_arm);
    explore_set_cpu(1);
    int result = htw_cancel(scene.scheduler, scene.timers[0].handle);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs ==
            (result != HTW_CANCELLED && scene.timers[0].result != HTW_CANCELLED));
    REQUIRE(scene.timers[1].runs == 1);
}

/* ---- moves */

static void move_first(void) {
    scene.timers[0].result = htw_reschedule(scene.scheduler, scene.timers[0].handle, 20 * MS);
}

static void play_move(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 0, scene_count);
    scene_start(1, move_first);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1);
}

static void move_earlier(void) {
    scene.timers[0].result = htw_reschedule(scene.scheduler, scene.timers[0].handle, 2 * MS);
    if (scene.timers[0].result == HTW_MOVED)
        explore_expect(&scene.timers[0].ran, explore_now_ns() + 3 * MS);
}

static void play_move_and_cancel(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 50 * MS, scene_count);
    scene_start(0, move_earlier);
    explore_set_cpu(1);
    int result = htw_cancel(scene.scheduler, scene.timers[0].handle);
    if (result == HTW_CANCELLED)
        scene.timers[0].ran = true; /* the other thread need not expect it any more */
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == (result == HTW_CANCELLED ? 0 : 1));
}

/* ---- workers */

/* Callbacks that return when two of them have begun. */
static pthread_mutex_t together = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned begun;

static void meet(void *arg, const struct htw_expiration *expiration) {
    scene_count(arg, expiration);
    pthread_mutex_lock(&together);
    begun++;
    pthread_cond_broadcast(&changed);
    while (begun < 2)
        pthread_cond_wait(&changed, &together);
    pthread_mutex_unlock(&together);
}

static void play_batch(void) {
    scene_open(1, 2, NULL);
    begun = 0;
    scene_arm(0, 2 * MS, meet);
    scene_arm(1, 2 * MS, meet);
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1);
}

/* The second becomes due while the expirer is in the callback of the first. */
static void play_deputy(void) {
    scene_open(1, 2, NULL);
    begun = 0;
    scene_arm(0, 0, meet);
    scene_arm(1, 5 * MS, meet);
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1);
}

static void use_fine_ticks(struct htw_scheduler_options *options) {
    options->tick_ns = 100 * HTW_MICROSECOND;
}

/* After a short callback the deputy is put off, and must come for the next one. */
static void play_deputy_again(void) {
    scene_open(1, 2, use_fine_ticks);
    begun = 0;
    scene_arm(2, 100 * HTW_MICROSECOND, scene_count);
    scene_arm(0, 800 * HTW_MICROSECOND, meet);
    scene_arm(1, 2 * MS, meet);
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1 && scene.timers[2].runs == 1);
}

static void use_two_expirers(struct htw_scheduler_options *options) {
    use_fine_ticks(options);
    options->expirers = 2;
}

/* The deputy of two expirers, of which one puts it off while the other one wants it. */
static void play_deputy_of_two(void) {
    scene_open(2, 3, use_two_expirers);
    begun = 0;
    scene_arm(2, 100 * HTW_MICROSECOND, scene_count);
    scene_arm(3, 800 * HTW_MICROSECOND, scene_count);
    explore_set_cpu(1);
    scene_arm(0, 800 * HTW_MICROSECOND, meet);
    scene_arm(1, 3 * MS, meet);
    scene_settle();
    for (unsigned i = 0; i < 4; i++)
        REQUIRE(scene.timers[i].runs == 1);
}

/* ---- stop */

static void arm_two(void) {
    for (unsigned i = 0; i < 2; i++)
        scene.timers[i].result =
            htw_schedule(scene.scheduler, 0, scene_count, &scene.timers[i], NULL);
}

static void take_back(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    ((struct scene_timer *)unexpired->arg)->releases++;
}

static void play_stop_with(unsigned workers) {
    scene_open(1, workers, NULL);
    scene_start(0, arm_two);
    REQUIRE(htw_scheduler_stop(scene.scheduler, take_back, NULL) == 0);
    scene_join();
    for (unsigned i = 0; i < 2; i++) {
        const struct scene_timer *timer = &scene.timers[i];
        REQUIRE(timer->result == 0 || timer->result == -ESHUTDOWN);
        REQUIRE(timer->runs + timer->releases == (timer->result == 0));
    }
}

static void play_stop(void) {
    play_stop_with(0);
}

static void play_stop_workers(void) {
    play_stop_with(2);
}

/* The threads of the scheduler run already, so that the usual copy of arming meets the stop. */
static void play_stop_started(void) {
    scene_open(1, 0, NULL);
    scene_arm(2, HTW_NEVER_NS, scene_count);
    scene_start(0, arm_two);
    REQUIRE(htw_scheduler_stop(scene.scheduler, take_back, NULL) == 0);
    scene_join();
    for (unsigned i = 0; i < 2; i++) {
        const struct scene_timer *timer = &scene.timers[i];
        REQUIRE(timer->runs + timer->releases == (timer->result == 0));
    }
    REQUIRE(scene.timers[2].releases == 1);
}

/* ---- groups and keys */

static struct htw_spec spec_of(unsigned number, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = scene_count;
    spec.arg = &scene.timers[number];
    spec.when_ns = delay_ns;
    spec.group = scene.group;
    return spec;
}

static void pause_group(void) {
    REQUIRE(htw_group_pause(scene.group) == 0);
}

static void play_pause(void) {
    scene_open(2, 0, NULL);
    REQUIRE(htw_group_create(scene.scheduler, &scene.group) == 0);
    struct htw_spec spec = spec_of(0, 0);
    REQUIRE(htw_schedule_spec(scene.scheduler, &spec, &scene.timers[0].handle, NULL) == 0);
    scene_start(1, pause_group);
    scene_join();
    explore_sleep_ns(50 * MS);
    unsigned runs = scene.timers[0].runs;
    explore_sleep_ns(50 * MS);
    REQUIRE(scene.timers[0].runs == runs);
    REQUIRE(htw_group_resume(scene.group) == 0);
    explore_expect(&scene.timers[0].ran, explore_now_ns() + MS);
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1);
    htw_group_destroy(scene.group);
}

static void arm_key(unsigned i) {
    struct htw_spec spec = spec_of(i, (int64_t)i * MS);
    struct htw_unexpired replaced = { 0 };
    spec.key = "k";
    spec.key_size = 1;
    REQUIRE(htw_schedule_spec(scene.scheduler, &spec, NULL, &replaced) == 0);
    if (replaced.arg != NULL)
        ((struct scene_timer *)replaced.arg)->releases++;
}

static void arm_key_1(void) {
    arm_key(1);
}

static void play_key(void) {
    scene_open(2, 0, NULL);
    scene_start(1, arm_key_1);
    arm_key(0);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs + scene.timers[0].releases == 1);
    REQUIRE(scene.timers[1].runs + scene.timers[1].releases == 1);
}

/* ---- a clock that is set */

#define WALL_BEGIN_NS (INT64_C(1600000000) * HTW_SECOND)

static void set_clock(void) {
    explore_set_wall_ns(WALL_BEGIN_NS + 3600 * HTW_SECOND);
}

static void play_clock(void) {
    scene_open(1, 0, NULL);
    scene_arm(1, 100 * MS, scene_count);
    scene_start(0, set_clock);
    struct htw_spec spec = spec_of(0, WALL_BEGIN_NS + 1800 * HTW_SECOND);
    spec.absolute = true;
    spec.clock = HTW_CLOCK_REALTIME;
    REQUIRE(htw_schedule_spec(scene.scheduler, &spec, &scene.timers[0].handle, NULL) == 0);
    scene_join();
    explore_expect(&scene.timers[0].ran, explore_now_ns() + 2 * MS);
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1);
}

const struct scene scheduler_scenes[] = {
    { "sleep", "an earlier timer wakes the expirer that sleeps for a later one", play_sleep, 2, 2,
      0 },
    { "sleep-of-two", "two threads that set one alarm lose neither wake-up", play_sleep_of_two, 2,
      3, 0 },
    { "cancel", "a timer runs unless a cancel says that it does not", play_cancel, 2, 3, 0 },
    { "cancel-foreign", "the same from another CPU", play_cancel_foreign, 2, 3, 0 },
    { "cancel-site", "the same for a timer with a site", play_cancel_site, 2, 3, 0 },
    { "cancel-wait", "after cancel_wait no callback runs, and what it did is seen",
      play_cancel_wait, 2, 3, 0 },
    { "cancel-waits", "the end of a run wakes all that wait for it", play_cancel_waits, 1, 2, 0 },
    { "cancel-repeating", "a cancelled run is the last", play_cancel_repeating, 2, 3, 0 },
    { "period", "a new period holds from the next run on", play_period, 2, 3, 0 },
    { "reuse", "an old handle does not reach the new timer of its record", play_reuse, 2, 3, 0 },
    { "move", "a timer that is moved runs once", play_move, 2, 3, 0 },
    { "move-and-cancel", "a move and a cancel agree", play_move_and_cancel, 2, 3, 0 },
    { "batch", "a callback that stays does not hold up those behind it", play_batch, 1, 2, 0 },
    { "deputy", "a timer that falls due while the expirer is in a callback runs", play_deputy, 1, 2,
      0 },
    { "deputy-again", "the same after a short callback", play_deputy_again, 1, 2, 0 },
    { "deputy-of-two", "the same for two expirers", play_deputy_of_two, 1, 2, 0 },
    { "stop", "each timer runs, is handed back or is refused", play_stop, 3, 4, 0 },
    { "stop-workers", "the same with workers", play_stop_workers, 2, 3, 0 },
    { "stop-started", "the same where the threads run already", play_stop_started, 2, 4, 0 },
    { "pause", "a paused group starts nothing, and a resumed one loses nothing", play_pause, 2, 3,
      0 },
    { "key", "of two timers with one key each runs or is replaced", play_key, 1, 2, 0 },
    { "clock", "a wall clock that is set lets a timer run that is due by it", play_clock, 1, 2, 0 },
    { .name = NULL },
};
