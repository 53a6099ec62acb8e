/* SPDX-License-Identifier: MIT */
/* alarm_scenes.c - what an alarm promises its owner, which sleeps on it, and threads that arm beside the owner. */
/* holds: scheduler-19 */
#include "scenes.h"

#include "../../src/base/clock.h"
#include "../../src/port/alarm.h"

#include <time.h>

#define PLACES 8u

static struct {
    struct htw__alarm alarm;
    _Atomic int64_t due_ns[PLACES]; /* what is armed; relaxed, as the wake-up ticks of shards */
    bool has_woken[PLACES];
    unsigned used; /* places */
    unsigned wakes;
    struct htw__mutex mutex;
} at;

static void open_alarm(unsigned places) {
    memset(&at, 0, sizeof(at));
    at.used = places;
    for (unsigned i = 0; i < PLACES; i++)
        atomic_store(&at.due_ns[i], INT64_MAX);
    htw__mutex_init(&at.mutex, HTW__RANK_SCHEDULER_WORK_QUEUE);
    REQUIRE(htw__alarm_init(&at.alarm, CLOCK_MONOTONIC, true) == 0);
}

static void close_alarm(void) {
    htw__alarm_fini(&at.alarm);
    htw__mutex_fini(&at.mutex);
}

static int64_t earliest_ns(void) {
    int64_t least_ns = INT64_MAX;
    for (unsigned i = 0; i < at.used; i++) {
        int64_t due_ns = atomic_load_explicit(&at.due_ns[i], memory_order_relaxed);
        if (!at.has_woken[i] && due_ns < least_ns)
            least_ns = due_ns;
    }
    return least_ns;
}

static unsigned note_due(void) {
    unsigned left = 0;
    for (unsigned i = 0; i < at.used; i++) {
        at.has_woken[i] |=
            atomic_load_explicit(&at.due_ns[i], memory_order_relaxed) <= explore_now_ns();
        left += !at.has_woken[i];
    }
    return left;
}

/* The owner, as an expirer: until all places have been due. */
static void sleep_through(void) {
    for (;;) {
        htw__alarm_reset(&at.alarm);
        if (note_due() == 0)
            return;
        htw__alarm_plan(&at.alarm, earliest_ns(), earliest_ns());
        htw__alarm_wait(&at.alarm);
        at.wakes++;
    }
}

static void arm(unsigned place, int64_t delay_ns) {
    int64_t due_ns = explore_now_ns() + delay_ns;
    atomic_store_explicit(&at.due_ns[place], due_ns, memory_order_relaxed);
    htw__alarm_set(&at.alarm, due_ns);
    explore_expect(&at.has_woken[place], due_ns);
}

/* ---- one setter, and two */

static void arm_first(void) {
    arm(0, 10 * MS);
}

static void arm_second(void) {
    arm(1, 5 * MS);
}

static void arm_earlier_again(void) {
    arm(0, 10 * MS);
    arm(1, 5 * MS);
}

static void play_alarm(void) {
    open_alarm(1);
    scene_start(0, arm_first);
    sleep_through();
    scene_join();
    close_alarm();
}

static void play_alarm_again(void) {
    open_alarm(2);
    scene_start(0, arm_earlier_again);
    sleep_through();
    scene_join();
    close_alarm();
}

static void play_alarm_of_two(void) {
    open_alarm(2);
    scene_start(0, arm_first);
    scene_start(0, arm_second);
    sleep_through();
    scene_join();
    close_alarm();
}

/* The owner plans what it has armed itself, while another thread may be setting the shared timer. */
static void play_alarm_own(void) {
    open_alarm(2);
    scene_start(0, arm_first);
    int64_t due_ns = explore_now_ns() + 8 * MS;
    atomic_store_explicit(&at.due_ns[1], due_ns, memory_order_relaxed);
    explore_expect(&at.has_woken[1], due_ns);
    sleep_through();
    scene_join();
    close_alarm();
}

/* Another thread has claimed the shared timer for long, so the owner uses its own one, twice: what that was set to before the
   last reset counts no more. */
static void claim_for_long(void) {
    arm(0, 30 * MS);
    if (!htw__alarm_claim(&at.alarm, INT64_MAX))
        return; /* the owner has reset it already */
    scene_sleep_alone(20 * MS);
    htw__alarm_put_off(&at.alarm, atomic_load_explicit(&at.due_ns[0], memory_order_relaxed));
}

static void arm_third(void) {
    scene_sleep_alone(6 * MS);
    arm(1, 6 * MS);
}

static void play_alarm_own_again(void) {
    open_alarm(3);
    scene_start(0, claim_for_long);
    scene_start(0, arm_third);
    scene_sleep_alone(MS);
    atomic_store_explicit(&at.due_ns[2], explore_now_ns() + 2 * MS, memory_order_relaxed);
    sleep_through();
    scene_join();
    close_alarm();
}

/* The owner wakes up at regular times, so a timer is set for the next time but one, while two threads arm for
   a time in between. Each of these may wake it up in vain once. */
static void arm_in_between(unsigned place) {
    scene_sleep_alone(13 * MS);
    arm(place, 2 * MS);
}

static void arm_in_between_first(void) {
    arm_in_between(0);
}

static void arm_in_between_second(void) {
    arm_in_between(1);
}

static void play_alarm_ahead(void) {
    open_alarm(PLACES);
    for (unsigned i = 2; i < PLACES; i++) {
        int64_t due_ns = explore_now_ns() + 4 * i * MS;
        atomic_store_explicit(&at.due_ns[i], due_ns, memory_order_relaxed);
        explore_expect(&at.has_woken[i], due_ns);
    }
    scene_start(0, arm_in_between_first);
    scene_start(0, arm_in_between_second);
    sleep_through();
    scene_join();
    REQUIRE(at.wakes <= PLACES + 2);
    close_alarm();
}

/* ---- put off, as by an expirer whose callbacks were short: places change under a mutex */

static void put_off(void) {
    htw__mutex_lock(&at.mutex);
    atomic_store_explicit(&at.due_ns[0], explore_now_ns() + 20 * MS, memory_order_relaxed);
    htw__mutex_unlock(&at.mutex);
    if (!htw__alarm_claim(&at.alarm, explore_now_ns() + 20 * MS))
        return;
    htw__mutex_lock(&at.mutex);
    int64_t due_ns = earliest_ns();
    htw__mutex_unlock(&at.mutex);
    htw__alarm_put_off(&at.alarm, due_ns);
}

/* When it is due. */
static int64_t arm_with_mutex(unsigned place, int64_t delay_ns) {
    htw__mutex_lock(&at.mutex);
    int64_t due_ns = explore_now_ns() + delay_ns;
    atomic_store_explicit(&at.due_ns[place], due_ns, memory_order_relaxed);
    htw__mutex_unlock(&at.mutex);
    htw__alarm_set(&at.alarm, due_ns);
    return due_ns;
}

static void arm_what_is_put_off(void) {
    arm_with_mutex(0, 6 * MS);
    arm_with_mutex(0, 5 * MS);
}

static void arm_between(void) {
    explore_expect(&at.has_woken[1], arm_with_mutex(1, 8 * MS));
}

static void sleep_with_mutex(void) {
    htw__mutex_lock(&at.mutex);
    while (note_due() > 0) {
        int64_t due_ns = earliest_ns();
        htw__alarm_reset(&at.alarm);
        htw__mutex_unlock(&at.mutex);
        htw__alarm_plan(&at.alarm, due_ns, due_ns);
        htw__alarm_wait(&at.alarm);
        htw__mutex_lock(&at.mutex);
    }
    htw__mutex_unlock(&at.mutex);
}

static void play_put_off(void) {
    open_alarm(2);
    scene_start(0, arm_what_is_put_off);
    scene_start(0, put_off);
    scene_start(0, arm_between);
    sleep_with_mutex();
    scene_join();
    close_alarm();
}

/* ---- the wall clock */

static void watch_wall_clock(void) {
    REQUIRE(htw__alarm_watch_wall_clock(&at.alarm) == 0);
}

/* Two threads ask for it; the owner wakes up when the clock is set. */
static void play_watch_wall_clock(void) {
    open_alarm(1);
    scene_start(0, watch_wall_clock);
    watch_wall_clock();
    explore_set_wall_ns(0);
    htw__alarm_wait(&at.alarm);
    scene_join();
    close_alarm();
}

/* What an alarm is set to has passed before, by a clock that was set back since. */
static void play_alarm_set_back(void) {
    REQUIRE(htw__alarm_init(&at.alarm, CLOCK_REALTIME, true) == 0);
    for (unsigned times = 0; times < 3; times++) {
        explore_set_wall_ns(100 * MS);
        while (htw__clock_realtime_ns() < 200 * MS) {
            htw__alarm_reset(&at.alarm);
            htw__alarm_plan(&at.alarm, 200 * MS, 200 * MS);
            htw__alarm_wait(&at.alarm);
        }
    }
    htw__alarm_fini(&at.alarm);
}

const struct scene alarm_scenes[] = {
    { "alarm", "an owner wakes up for what another thread arms", play_alarm, 3, 4, 0 },
    { "alarm-again", "the same if it arms an earlier time later", play_alarm_again, 2, 3, 0 },
    { "alarm-of-two", "the same for two threads", play_alarm_of_two, 2, 3, 0 },
    { "alarm-own", "the same beside what the owner has armed itself", play_alarm_own, 3, 4, 0 },
    { "alarm-own-again", "the same after the owner has slept so before", play_alarm_own_again, 2, 3,
      0 },
    { "alarm-ahead", "the same beside regular times, for which a timer is set ahead",
      play_alarm_ahead, 2, 3, 0 },
    { "alarm-put-off", "a thread that puts an alarm off lets no other one down", play_put_off, 2, 3,
      0 },
    { "alarm-wall-clock", "two threads let an alarm watch the wall clock", play_watch_wall_clock, 4,
      5, 0 },
    { "alarm-set-back", "an alarm is set to the time of the last one, which is to come again",
      play_alarm_set_back, 1, 1, 0 },
    { .name = NULL },
};
