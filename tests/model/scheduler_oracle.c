/* SPDX-License-Identifier: MIT */
/* scheduler_oracle.c - what a scheduler in manual time must do; see scheduler_oracle.h. */
#include "scheduler_oracle.h"

#include <stddef.h>

#define LATE_NS (10 * HTW_MILLISECOND) /* late_threshold_ns, where it is not given */

struct ideal_scheduler ideal;

int64_t sum_ns(int64_t a, int64_t b) {
    return a == HTW_NEVER_NS || b == HTW_NEVER_NS ? HTW_NEVER_NS : a + b;
}

/* A time that is left, as long as it is left. */
static int64_t less(int64_t left_ns, int64_t by_ns) {
    if (left_ns == HTW_NEVER_NS)
        return left_ns;
    return left_ns > by_ns ? left_ns - by_ns : 0;
}

static int64_t round_up(int64_t ns) {
    return ns == HTW_NEVER_NS || ns <= 0 ? ns : (ns + TICK_NS - 1) / TICK_NS * TICK_NS;
}

static bool is_paused(const struct timed *timer) {
    return timer->group >= 0 && ideal.paused[timer->group];
}

/* Whether deadline_ns is the rest of a delay. */
static bool has_rest(const struct timed *timer) {
    return is_paused(timer) && !timer->keeps_instant && timer != ideal.running;
}

/* ---- answers */

bool ideal_is_pending(const struct timed *timer) {
    return timer->lives && (timer != ideal.running || ideal.moved);
}

int64_t ideal_deadline_ns(const struct timed *timer) {
    int64_t from_ns = has_rest(timer) ? ideal.now_ns[timer->clock] : 0;
    return sum_ns(from_ns, timer->deadline_ns);
}

int64_t ideal_rest_ns(const struct timed *timer) {
    return less(timer->deadline_ns, has_rest(timer) ? 0 : ideal.now_ns[timer->clock]);
}

int64_t ideal_left_ns(const struct timed *timer) {
    if (!timer->lives || timer == ideal.running || is_paused(timer))
        return HTW_NEVER_NS;
    return less(timer->tick_ns, ideal.now_ns[timer->clock]);
}

bool ideal_may_run(const struct timed *timer) {
    int64_t left_ns = ideal_left_ns(timer);
    bool may_be_unrounded = timer->was_due || ideal.lacked_memory;
    return left_ns == 0 ||
           (may_be_unrounded && left_ns != HTW_NEVER_NS && ideal_rest_ns(timer) == 0);
}

int64_t ideal_least_left_ns(void) {
    int64_t least_ns = HTW_NEVER_NS;
    for (int i = 0; i < TIMERS; i++) {
        int64_t left_ns = ideal_left_ns(&ideal.timers[i]);
        least_ns = left_ns < least_ns ? left_ns : least_ns;
    }
    return least_ns;
}

struct timed *ideal_holder(int group, int key) {
    for (int i = 0; key >= 0 && i < TIMERS; i++) {
        struct timed *timer = &ideal.timers[i];
        if (timer->lives && timer->key == key && timer->group == group)
            return timer;
    }
    return NULL;
}

/* A timer in its callback counts if it repeats, or was moved. */
bool ideal_is_full(void) {
    uint64_t count = 0;
    for (int i = 0; i < TIMERS; i++) {
        const struct timed *timer = &ideal.timers[i];
        count += ideal_is_pending(timer) || (timer->lives && timer->period_ns > 0);
    }
    return ideal.limit > 0 && count == ideal.limit;
}

/* ---- what happens */

/* What is ahead is rounded up, and what is due at once is not. */
static void aim(struct timed *timer) {
    bool is_due = timer->deadline_ns <= ideal.now_ns[timer->clock];
    timer->tick_ns = is_due ? timer->deadline_ns : round_up(timer->deadline_ns);
}

/* After a step back of a clock: what was due is ahead again. */
static void aim_what_is_ahead(void) {
    for (int i = 0; i < TIMERS; i++) {
        struct timed *timer = &ideal.timers[i];
        if (timer->deadline_ns <= ideal.now_ns[timer->clock])
            continue;
        timer->was_due |= timer->tick_ns != round_up(timer->deadline_ns);
        aim(timer);
    }
}

void ideal_arm(struct timed *timer, int64_t at_ns, bool is_instant) {
    timer->keeps_instant = is_instant && timer->clock == HTW_CLOCK_REALTIME;
    timer->deadline_ns = has_rest(timer) ? less(at_ns, ideal.now_ns[timer->clock]) : at_ns;
    timer->was_due = false;
    aim(timer);
}

void ideal_end(struct timed *timer, uint64_t *counter) {
    timer->lives = false;
    timer->wanted_releases += timer->is_hooked;
    if (timer->site >= 0 && counter == &ideal.counted.cancelled)
        ideal.sites[timer->site].cancelled++;
    ++*counter;
}

int ideal_cancel(struct timed *timer) {
    if (!timer->lives)
        return HTW_GONE;
    if (timer == ideal.running) {
        ideal.ended = true;
        ideal.moved = false;
        timer->key = -1;
        return HTW_RUNNING;
    }
    ideal_end(timer, &ideal.counted.cancelled);
    return HTW_CANCELLED;
}

int64_t ideal_cancel_group(int group) {
    int64_t count = 0;
    for (int i = 0; i < TIMERS; i++)
        if (ideal.timers[i].group == group)
            count += ideal_cancel(&ideal.timers[i]) == HTW_CANCELLED;
    return count;
}

static bool moves_with_pause(const struct timed *timer, int group) {
    return timer->lives && timer->group == group && !timer->keeps_instant && timer != ideal.running;
}

/* The rest of a delay is at least 0, so that of a timer that is due does not say how late it is. */
void ideal_pause(int group) {
    for (int i = 0; i < TIMERS && !ideal.paused[group]; i++) {
        struct timed *timer = &ideal.timers[i];
        if (moves_with_pause(timer, group))
            timer->deadline_ns = less(timer->deadline_ns, ideal.now_ns[timer->clock]);
    }
    ideal.paused[group] = true;
}

void ideal_resume(int group) {
    bool was_paused = ideal.paused[group];
    ideal.paused[group] = false;
    for (int i = 0; i < TIMERS && was_paused; i++) {
        struct timed *timer = &ideal.timers[i];
        if (moves_with_pause(timer, group))
            timer->deadline_ns = sum_ns(ideal.now_ns[timer->clock], timer->deadline_ns);
        if (timer->group == group)
            aim(timer);
    }
}

void ideal_forget_group(int group) {
    ideal_resume(group);
    for (int i = 0; i < TIMERS; i++) {
        struct timed *timer = &ideal.timers[i];
        if (timer->group == group)
            timer->group = timer->key = -1;
    }
}

void ideal_pass_time(int64_t delta_ns) {
    for (int i = 0; i < CLOCKS; i++)
        ideal.now_ns[i] += delta_ns;
}

void ideal_set_clock(enum htw_clock clock, int64_t time_ns) {
    ideal.now_ns[clock] = time_ns;
    aim_what_is_ahead();
}

void ideal_start(struct timed *timer, int64_t late_ns) {
    struct htw_scheduler_stats *counted = &ideal.counted;
    ideal.running = timer;
    ideal.moved = ideal.ended = false;
    timer->missed = 0;
    if (timer->period_ns == 0)
        timer->key = -1;
    counted->runs++;
    counted->late += late_ns > LATE_NS;
    counted->lateness.sum_ns += (uint64_t)late_ns;
    if ((uint64_t)late_ns > counted->lateness.max_ns)
        counted->lateness.max_ns = (uint64_t)late_ns;
    if (timer->site >= 0) {
        ideal.sites[timer->site].expired++;
        ideal.sites[timer->site].late += late_ns > LATE_NS;
    }
}

static void plan_next_run(struct timed *timer) {
    int64_t now_ns = ideal.now_ns[timer->clock];
    timer->deadline_ns = sum_ns(timer->deadline_ns, timer->period_ns);
    bool is_overdue = timer->deadline_ns <= now_ns;
    if (timer->repeat == HTW_REPEAT_AFTER || (timer->repeat == HTW_REPEAT_DELAY && is_overdue))
        timer->deadline_ns = sum_ns(now_ns, timer->period_ns);
    for (; timer->repeat == HTW_REPEAT_SKIP && timer->deadline_ns <= now_ns; timer->missed++)
        timer->deadline_ns += timer->period_ns;
    ideal.counted.missed += timer->missed;
}

void ideal_finish(struct timed *timer) {
    bool again = !ideal.ended && (ideal.moved || timer->period_ns > 0);
    if (!again)
        ideal_end(timer, &ideal.counted.fired);
    else if (!ideal.moved)
        plan_next_run(timer);
    ideal.running = NULL;
    if (again)
        ideal_arm(timer, timer->deadline_ns, timer->keeps_instant);
}
