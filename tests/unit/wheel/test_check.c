/* SPDX-License-Identifier: MIT */
/*
 * test_check - htw_wheel_check() answers with the number of the invariant that is broken.
 *
 * Each test changes one field of a sound wheel, expects the number, and puts the field back.
 * The numbers are those of the list in src/wheel/wheel.c.
 */
/* holds: wheel-15 */
#include "../../../src/wheel/state.h"
#include "../../support/fixture.h"

/* Changes `field`, expects that the check finds `number`, and restores the field. */
#define assert_breaks(f, number, field, value)                 \
    do {                                                       \
        __typeof__(field) intact_ = (field);                   \
        (field) = (value);                                     \
        assert_int_equal(htw_wheel_check((f)->wheel), number); \
        (field) = intact_;                                     \
        assert_sound(f);                                       \
    } while (0)

/* One timer in each kind of place. The clock is at 100, a level has 8 buckets. */
enum { DUE, NEAR, FAR, FARTHER, NEVER, NEAR_TOO, TIMERS };

static const uint64_t deadlines[TIMERS] = {
    [DUE] = 50,       [NEAR] = 101, [FAR] = 120, [FARTHER] = 5000, [NEVER] = HTW_NEVER_TICK,
    [NEAR_TOO] = 103,
};

static void arm_all_places(struct fixture *f) {
    for (size_t i = 0; i < TIMERS; i++)
        arm(f, i, deadlines[i]);
    assert_sound(f);
}

static uint32_t bucket_of(const struct fixture *f, size_t number) {
    return htw__timer_id(&f->timers[number]);
}

UNIT_TEST(wheel_check_without_a_wheel_is_refused) {
    assert_int_equal(htw_wheel_check(NULL), -EINVAL);
}

WHEEL_TEST_BOTH_ORDERS(wheel_check_finds_a_broken_link, 8, 100, TIMERS) {
    arm_all_places(f);
    for (size_t i = 0; i < TIMERS; i++) {
        assert_breaks(f, 1, f->timers[i]._link._back, NULL);
        assert_breaks(f, 1, f->timers[i]._link._next, NULL);
    }
    assert_breaks(f, 1, f->wheel->never._back, &f->wheel->never._next);
}

WHEEL_TEST(wheel_check_finds_a_timer_of_another_wheel_or_bucket, 8, 100, false, TIMERS) {
    arm_all_places(f);
    for (size_t i = 0; i < TIMERS; i++) {
        assert_breaks(f, 2, f->timers[i]._location, f->timers[i]._location ^ (uint64_t)1 << 40);
        assert_breaks(f, 2, f->timers[i]._location, f->timers[i]._location ^ 1);
    }
}

WHEEL_TEST(wheel_check_finds_a_delay_queue_that_disagrees_with_itself, 8, 100, false, TIMERS) {
    arm_all_places(f);
    struct htw__delay_queue *queue = &f->wheel->queue;
    assert_breaks(f, 3, queue->top.key, deadlines[NEAR_TOO]);
    assert_breaks(f, 3, queue->top.id, bucket_of(f, NEAR_TOO));
    struct htw__delay_queue_level *level = queue->level;
    struct htw__delay_queue_entry of_level_1 = { level[1].key, bucket_of(f, FAR) };
    assert_breaks(f, 3, queue->top, of_level_1);
    assert_breaks(f, 3, level[0].key, deadlines[NEAR_TOO]);
    assert_breaks(f, 3, level[1].key, deadlines[FARTHER]);
    assert_breaks(f, 3, level[1].key, HTW__DELAY_QUEUE_ABSENT);
    assert_breaks(f, 3, level[1].slot, level[1].slot + 1);
    for (uint64_t levels = 0; levels < 64; levels++) /* that have buckets, and one more */
        if (levels != queue->levels)
            assert_breaks(f, 3, queue->levels, levels);
    assert_breaks(f, 3, queue->keys[bucket_of(f, FAR)], HTW__DELAY_QUEUE_ABSENT);
    assert_breaks(f, 3, queue->keys[bucket_of(f, NEAR)], HTW__DELAY_QUEUE_ABSENT);
    assert_breaks(f, 3, queue->keys[bucket_of(f, NEAR)], deadlines[NEAR] - 1);
    assert_breaks(f, 3, queue->keys[bucket_of(f, NEAR_TOO)], HTW__DELAY_QUEUE_ABSENT);
    assert_breaks(f, 3, queue->keys[bucket_of(f, NEAR_TOO)], deadlines[NEAR]);
    struct htw__bitmap *near = &level[0].later;
    assert_breaks(f, 3, near->words[0], 0);
    assert_breaks(f, 3, near->summary, 0);
    assert_breaks(f, 3, near->summary, near->summary | UINT64_C(1) << 40);
    assert_breaks(f, 3, near->words[0], near->words[0] | UINT64_C(1) << bucket_of(f, NEAR));
    assert_breaks(f, 3, near->words[0], near->words[0] | 0x100); /* bucket 8 of 8 */
    assert_breaks(f, 3, level[2].later.words[63], 1);
}

WHEEL_TEST(wheel_check_finds_an_empty_delay_queue_with_a_key, 8, 100, false, 0) {
    assert_breaks(f, 3, f->wheel->queue.top.key, 3);
}

WHEEL_TEST(wheel_check_finds_timers_in_a_bucket_that_is_not_queued, 8, 100, false, TIMERS) {
    arm_all_places(f);
    struct htw__delay_queue *queue = &f->wheel->queue;
    htw__delay_queue_pop(queue);
    assert_int_equal(htw_wheel_check(f->wheel), 4);
    htw__delay_queue_offer(queue, bucket_of(f, NEAR), deadlines[NEAR], 0);
    assert_sound(f);
}

WHEEL_TEST(wheel_check_finds_timers_in_a_chain_not_used_since_the_bucket_was_queued, 8, 100, false,
           9) {
    for (size_t i = 0; i < 9; i++) /* the last timer is in another chain */
        arm(f, i, 101);
    assert_sound(f);
    assert_breaks(f, 4, f->wheel->queue.since[bucket_of(f, 0)], 8);
    assert_breaks(f, 4, f->wheel->inserted, 8);
}

WHEEL_TEST_BOTH_ORDERS(wheel_check_finds_a_deadline_before_the_key_or_after_the_range, 8, 100,
                       TIMERS) {
    arm_all_places(f);
    static const size_t in_buckets[] = { NEAR, FAR, FARTHER };
    for (size_t i = 0; i < 3; i++) {
        size_t number = in_buckets[i];
        assert_breaks(f, 5, f->timers[number]._deadline, deadlines[number] - 1);
        assert_breaks(f, 5, f->timers[number]._deadline, HTW_NEVER_TICK);
    }
    /* After its range: wrong only where a move is a new arming. */
    if (strict)
        assert_breaks(f, 5, f->timers[NEAR]._deadline, deadlines[NEAR] + 1);
}

/* Gives the bucket of a near timer another key, consistently in all of the delay queue. */
static void assert_key_breaks(struct fixture *f, size_t number, uint64_t key) {
    struct htw__delay_queue *queue = &f->wheel->queue;
    struct htw__delay_queue_level *level = &queue->level[0], level_before = *level;
    struct htw__delay_queue_entry top = queue->top;
    uint64_t *of_number = &queue->keys[bucket_of(f, number)];
    *of_number = key;
    uint64_t *slots = &level->later.words[0];
    *slots |= UINT64_C(1) << level->slot;
    level->key = HTW__DELAY_QUEUE_ABSENT;
    for (uint32_t slot = 0; slot < 8; slot++)
        if (queue->keys[slot] < level->key)
            level->key = queue->keys[slot], level->slot = slot;
    *slots &= ~(UINT64_C(1) << level->slot);
    queue->top = (struct htw__delay_queue_entry) { level->key, level->slot };
    assert_int_equal(htw_wheel_check(f->wheel), 6);
    *of_number = deadlines[number];
    queue->top = top, *level = level_before;
    assert_sound(f);
}

WHEEL_TEST(wheel_check_finds_a_key_outside_its_bucket_or_window, 8, 100, false, TIMERS) {
    arm_all_places(f);
    assert_key_breaks(f, NEAR, deadlines[NEAR] - 8);         /* the turn before: before the clock */
    assert_key_breaks(f, NEAR_TOO, deadlines[NEAR_TOO] + 1); /* of the next bucket */
    assert_key_breaks(f, NEAR, deadlines[NEAR] + 8);         /* the turn after: beyond the window */
    assert_breaks(f, 6, f->wheel->clock, deadlines[NEAR]);   /* reached outside a round */
}

WHEEL_TEST(wheel_check_finds_a_deadline_that_its_ring_must_not_hold, 8, 100, false, TIMERS) {
    arm_all_places(f);
    assert_breaks(f, 7, f->timers[DUE]._deadline, 101);
    assert_breaks(f, 7, f->timers[NEVER]._deadline, 101);
}

WHEEL_TEST(wheel_check_finds_late_timers_outside_a_round, 8, 100, false, 2) {
    arm(f, 0, 100);
    assert_non_null(htw_wheel_poll(f->wheel, 100));
    arm(f, 1, 100); /* inside the round: in `next_round` */
    assert_sound(f);
    assert_breaks(f, 7, f->wheel->in_round, false);
    assert_breaks(f, 7, f->timers[1]._deadline, 101);
}

WHEEL_TEST(wheel_check_finds_levels_that_do_not_fit_the_clock, 8, 100, false, TIMERS) {
    arm_all_places(f);
    struct htw_wheel *wheel = f->wheel;
    assert_breaks(f, 8, wheel->level_count, 0);
    assert_breaks(f, 8, wheel->level_count, (uint8_t)(wheel->level_max + 1));
    assert_breaks(f, 8, wheel->level_max, (uint8_t)(wheel->level_count - 1));
    assert_breaks(f, 8, wheel->clock, HTW_NEVER_TICK);
    /* A pending timer that needs a level which does not exist. */
    assert_breaks(f, 8, f->timers[FARTHER]._deadline, HTW_NEVER_TICK - 1);
}

WHEEL_TEST(wheel_check_finds_a_wrong_count_of_timers, 8, 100, false, TIMERS) {
    arm_all_places(f);
    assert_breaks(f, 9, f->wheel->inserted, f->wheel->inserted + 1);
    assert_breaks(f, 9, f->wheel->cancelled, f->wheel->cancelled + 1);
    assert_breaks(f, 9, f->wheel->expired, f->wheel->expired + TIMERS);
}

/* has_shape() of state.h, from which the level of a deadline is proved: docs/proof.md. These are all sizes. */
UNIT_TEST(wheel_of_any_size_has_the_shape_that_the_proof_assumes) {
    for (uint32_t size = HTW_WHEEL_SIZE_MIN; size <= HTW_WHEEL_SIZE_MAX; size *= 2) {
        struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
        options.size = size;
        struct htw_wheel *wheel;
        assert_int_equal(htw_wheel_create(&wheel, &options), 0);
        const struct htw__level *levels = wheel->levels, *last = &levels[wheel->level_max - 1];
        assert_true(wheel->mask == size - 1 && levels[0].shift == 0);
        assert_true(last->reach == UINT64_MAX && UINT64_MAX >> last->shift <= wheel->mask);
        for (unsigned i = 0; i < wheel->level_max; i++) {
            assert_true(levels[i].shift < 64 && levels[i].width == UINT64_C(1) << levels[i].shift);
            if (&levels[i] == last)
                continue;
            uint64_t reach = (uint64_t)wheel->mask << levels[i].shift;
            assert_true(levels[i].reach == reach && reach >> levels[i].shift == wheel->mask);
            assert_true(levels[i + 1].width == reach + levels[i].width);
        }
        htw_wheel_destroy(wheel);
    }
}
