/* SPDX-License-Identifier: MIT */
/*
 * eva.c - short histories of a wheel, compared with the oracle of the tests. Eva runs all of them at once, and shows that no
 * step is undefined, no assertion of the sources fails, and each `check` holds. proof.py has the runs, each with its options.
 *
 * Eva knows an interval of each number, and no relation of two numbers. So a poll beyond the clock needs exact deadlines: it
 * compares them with keys, which are copies of them. A run with ANY_DEADLINE has no such poll, and a deadline is an interval
 * there: all ticks that belong to one bucket. The buckets of all levels together take each deadline of 64 bits.
 */
#include "../../src/wheel/state.h"
#include "../support/oracle.h"

#include <__fc_builtin.h>
#include <errno.h>
#include <stdlib.h>

enum { TIMERS = 2, POLLS_MAX = 16 /* of one step each; more than two timers can need */ };

static struct htw_wheel *wheel;
static struct htw_timer timers[TIMERS];
static struct oracle oracle;
static uint64_t clock = START;
static bool in_round;
static size_t blocks; /* of memory */

_Noreturn void htw__fatal(const char *format, ...) {
    //@ check no_assertion_fails: \false;
    exit(1);
}

int htw__refuse(const char *member) {
    return -EINVAL;
}

/* One of 0 .. count - 1: Eva goes on with each. */
static unsigned choose(unsigned count) {
    unsigned chosen = 0;
    while (chosen + 1 < count && Frama_C_nondet(0, 1))
        chosen++;
    return chosen;
}

static void *allocate(void *context, size_t size, size_t alignment) {
    void *memory = REFUSES && choose(2) ? NULL : malloc(size);
    blocks += memory != NULL;
    return memory;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    blocks--;
    free(memory);
}

const struct htw_allocator htw__default_allocator = { allocate, release, NULL };

/* The last tick of a bucket of a level, whose slots are counted from tick 0 on. */
static uint64_t end_of(uint64_t slot, unsigned shift) {
    return slot < UINT64_MAX >> shift ? ((slot + 1) << shift) - 1 : UINT64_MAX - 1;
}

/* The first is the tick before the clock. */
static uint64_t choose_tick(void) {
    static const uint64_t delays[] = { UINT64_MAX, 1, SIZE, SIZE + 1, SIZE * SIZE };
    if (!ANY_DEADLINE)
        return clock + delays[choose(sizeof(delays) / sizeof(delays[0]))];
    const struct htw__level *level = &wheel->levels[choose(wheel->level_max)];
    uint64_t slot = (clock >> level->shift) + choose(SIZE - 1);
    uint64_t before = end_of(slot, level->shift), end = end_of(slot + 1, level->shift);
    uint64_t window =
        level == wheel->levels ? 0 : end_of((clock >> level[-1].shift) + SIZE - 1, level[-1].shift);
    before = before < window ? window : before;
    return end <= before ? HTW_NEVER_TICK : Frama_C_unsigned_long_interval(before + 1, end);
}

static void arm(unsigned i) {
    uint64_t deadline = choose_tick();
    int result = htw_wheel_schedule(wheel, &timers[i], deadline);
    //@ check armed: result == 0 || (REFUSES && result == -ENOMEM && deadline > clock);
    if (result == 0)
        oracle_arm(&oracle, i, deadline, clock, in_round);
}

static void cancel(unsigned i) {
    bool cancelled = htw_wheel_cancel(wheel, &timers[i]), removed = oracle_remove(&oracle, i);
    //@ check cancelled: cancelled == removed;
}

static void poll(uint64_t now, size_t max, size_t budget) {
    struct htw_timer *batch[TIMERS];
    size_t count;
    int progress = htw_wheel_poll_batch(wheel, now, batch, max, budget, &count);
    uint64_t reached = htw_wheel_now(wheel);
    uint64_t limit = now < clock ? clock : now < HTW_NEVER_TICK ? now : HTW_NEVER_TICK - 1;
    //@ check bounded: count <= max && (budget == 0 || count <= budget) && (progress == HTW_DONE || count == max || budget != 0);
    for (size_t i = 0; i < count; i++) {
        const char *wrong = oracle_take(&oracle, (uint32_t)(batch[i] - timers), reached);
        //@ check due_and_in_order: wrong == \null;
    }
    const char *wrong = progress == HTW_DONE ? oracle_end_round(&oracle, limit) : NULL;
    //@ check none_left: wrong == \null && clock <= reached <= limit && (progress == HTW_DONE ==> reached == limit);
    clock = reached;
    in_round = progress != HTW_DONE;
}

static void drain(void) {
    struct htw_timer *timer = htw_wheel_drain(wheel);
    bool removed = oracle.count > 0;
    if (timer != NULL)
        removed = oracle_remove(&oracle, (uint32_t)(timer - timers));
    //@ check drained: removed == (timer != \null);
}

static void next(void) {
    uint64_t tick = htw_wheel_next(wheel), earliest = oracle_earliest(&oracle);
    bool is_due = oracle_due(&oracle) > 0;
    //@ check next: is_due ? tick == clock : clock <= tick && (ANY_DEADLINE || tick <= earliest);
    //@ check next_is_never: (tick == HTW_NEVER_TICK) == (!is_due && earliest == HTW_NEVER_TICK);
}

static void step(void) {
    unsigned i = ANY_DEADLINE ? 0 : choose(TIMERS);
    switch (ANY_DEADLINE ? 1 + choose(4) : choose(5)) {
    case 0:
        arm(i);
        break;
    case 1:
        cancel(i);
        break;
    case 2:
        poll(ANY_DEADLINE ? clock : choose_tick(), 1 + i, i);
        break;
    case 3:
        next();
        break;
    default:
        drain();
    }
}

static bool count_one(struct htw_timer *timer, void *arg) {
    const struct oracle_entry *entry = oracle_find(&oracle, (uint32_t)(timer - timers));
    //@ check visited: entry != \null;
    ++*(size_t *)arg;
    return true;
}

static void inspect(void) {
    size_t visited = 0;
    htw_wheel_for_each(wheel, count_one, &visited);
    int broken = htw_wheel_check(wheel);
    //@ check sound: visited == oracle.count && broken == 0;
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    struct htw_wheel_bucket buckets[TIMERS];
    broken = htw_wheel_get_stats(wheel, &stats);
    //@ check stats: broken == 0 && stats.pending == oracle.count == stats.scheduled - stats.cancelled - stats.expired - stats.drained;
    size_t found = htw_wheel_first_buckets(wheel, buckets, TIMERS);
    size_t counted = htw_wheel_count_in(wheel, 0, 0, SIZE, TIMERS);
    //@ check counted: found <= stats.queued_buckets && counted <= oracle.count;
    htw_wheel_dump(wheel, stdout);
    struct htw_timer *timer = htw_wheel_poll(wheel, HTW_NEVER_TICK);
    int result = htw_wheel_schedule_within(wheel, &timers[1], clock + 1, clock + SIZE);
    //@ check expired: (timer == \null) == (oracle.count == 0) && (result == 0 || result == -ENOMEM);
    htw_wheel_destroy(wheel);
    //@ check destroyed: blocks == 0 && timers[0]._location == 0 && timers[1]._location == 0;
}

static void poll_to_the_end(void) {
    for (unsigned i = 0; (in_round || oracle.count > 0) && i < POLLS_MAX; i++)
        poll(HTW_NEVER_TICK, FIFO ? TIMERS : 1, FIFO ? 0 : 1);
    //@ check all_expired: !in_round && oracle.count == 0;
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = SIZE;
    options.strict_fifo = FIFO;
    options.start = START;
    int result = htw_wheel_create(&wheel, &options);
    //@ check created: result == 0 || (REFUSES && result == -ENOMEM && blocks == 0);
    if (result != 0)
        return 0;
    /* Eva does not know the address from which the mark is made. Any other number would do. */
    wheel->mark = (uint64_t)1 << 32;
    wheel->levels[0].first_location = wheel->mark;
    uint64_t horizon = ANY_DEADLINE ? HTW_NEVER_TICK : REFUSES ? 0 : SIZE * SIZE * SIZE;
    result = htw_wheel_reserve(wheel, horizon);
    //@ check reserved: result == 0;
    oracle_init(&oracle, TIMERS, FIFO);
    arm(0);
    for (unsigned i = 0; i < STEPS; i++)
        step();
    size_t count = htw_wheel_count(wheel);
    //@ check count: count == oracle.count;
    if (REFUSES)
        inspect();
    else if (!ANY_DEADLINE)
        poll_to_the_end();
    return 0;
}
