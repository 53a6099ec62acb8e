/* SPDX-License-Identifier: MIT */
/* test_memory - what the wheel allocates, and what happens when it cannot. */
/* holds: wheel-11 */
#include "../../support/fixture.h"

#include "../../support/random.h"

#include <errno.h>

static const uint64_t day = 86400000;

WHEEL_TEST(wheel_stats_agree_with_the_allocator, 256, 0, false, 1) {
    for (unsigned bit = 0; bit < 64; bit++) {
        arm(f, 0, UINT64_C(1) << bit);
        assert_int_equal(fixture_stats(f).memory_bytes, f->memory.live_bytes);
    }
    assert_int_equal(fixture_stats(f).levels, 8);
}

/* holds: wheel-14 */
WHEEL_TEST_BOTH_ORDERS(wheel_with_a_horizon_of_a_day_holds_at_most_160_kib, 0, 1767225600000, 1) {
    assert_int_equal(htw_wheel_reserve(f->wheel, day), 0);
    arm(f, 0, htw_wheel_now(f->wheel) + day);
    assert_in_range(f->memory.live_bytes, 1, 160 * 1024);
    assert_int_equal(fixture_stats(f).memory_bytes, f->memory.live_bytes);
}

UNIT_TEST(wheel_reserved_horizon_needs_no_memory_whatever_the_clock) {
    static const uint32_t sizes[] = { 2, 4, 8, 64, 256 };
    static const uint64_t extra[] = { 0, 1, 2 };
    struct random_source source = { 4 };
    for (unsigned bit = 0; bit < 64; bit++) {
        for (size_t i = 0; i < 15; i++) {
            struct fixture f;
            uint64_t horizon = (UINT64_C(1) << bit) + extra[i % 3] - 1;
            fixture_open(&f, sizes[i / 3], 0, i % 2 == 0, 1);
            assert_int_equal(htw_wheel_reserve(f.wheel, horizon), 0);
            failing_allocator_fail(&f.memory, 1, true);
            size_t calls = f.memory.calls;
            /* A clock at the end of a bucket of each level needs the highest level. */
            for (unsigned ones = 0; ones < 64; ones += 3) {
                uint64_t now = (UINT64_C(1) << ones) - 1;
                if (random_one_in(&source, 3))
                    now += random_below(&source, now + 1);
                assert_quiet_round(&f, now);
                now = htw_wheel_now(f.wheel);
                if (horizon < HTW_NEVER_TICK - 1 - now)
                    arm(&f, 0, now + horizon);
                else
                    arm(&f, 0, HTW_NEVER_TICK - 1);
                assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
            }
            assert_int_equal(f.memory.calls, calls);
            fixture_close(&f);
        }
    }
}

UNIT_TEST(wheel_reserved_for_never_has_every_level) {
    for (uint32_t size = 2; size <= HTW_WHEEL_SIZE_MAX; size *= 2) {
        struct fixture f;
        fixture_open(&f, size, 0, false, 1);
        assert_int_equal(htw_wheel_reserve(f.wheel, HTW_NEVER_TICK), 0);
        failing_allocator_fail(&f.memory, 1, true);
        arm(&f, 0, HTW_NEVER_TICK - 1);
        assert_comes_alone(&f, 0, HTW_NEVER_TICK - 1);
        fixture_close(&f);
    }
}

/* ---- failures */

UNIT_TEST(wheel_create_that_lacks_memory_leaves_nothing) {
    size_t refused = 0;
    for (size_t nth = 1;; nth++) {
        struct failing_allocator memory;
        failing_allocator_init(&memory);
        failing_allocator_fail(&memory, nth, false);
        struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
        options.allocator = &memory.allocator;
        struct htw_wheel *untouched = (struct htw_wheel *)(void *)&memory;
        struct htw_wheel *wheel = untouched;
        int rc = htw_wheel_create(&wheel, &options);
        if (rc == 0) {
            assert_int_equal(memory.refusals, 0);
            htw_wheel_destroy(wheel);
        } else {
            assert_int_equal(rc, -ENOMEM);
            assert_ptr_equal(wheel, untouched);
            refused++;
        }
        assert_int_equal(memory.live_blocks, 0);
        assert_null(memory.error);
        failing_allocator_fini(&memory);
        if (rc == 0)
            break;
    }
    assert_in_range(refused, 2, 10); /* the wheel and its level, at least */
}

struct snapshot {
    struct htw_wheel_stats stats;
    uint64_t deadline;
    bool pending;
    uint64_t next;
};

static struct snapshot take_snapshot(const struct fixture *f) {
    return (struct snapshot) { fixture_stats(f), htw_timer_deadline(&f->timers[0]),
                               htw_timer_is_pending(&f->timers[0]), htw_wheel_next(f->wheel) };
}

/* The failed call has changed nothing, except that it may have created levels. */
static void assert_as_before(const struct fixture *f, const struct snapshot *before) {
    struct snapshot after = take_snapshot(f);
    assert_sound(f);
    assert_int_equal(after.pending, before->pending);
    assert_int_equal(after.deadline, before->deadline);
    assert_int_equal(after.next, before->next);
    assert_int_equal(after.stats.scheduled, before->stats.scheduled);
    assert_int_equal(after.stats.moved, before->stats.moved);
    assert_int_equal(after.stats.pending, before->stats.pending);
    assert_int_equal(after.stats.queued_buckets, before->stats.queued_buckets);
    assert_int_equal(after.stats.memory_bytes, f->memory.live_bytes);
}

/* Arms timer 0, which is pending for `from` or not, for `to`; memory ends with the
   first allocation, the second, and so on, until all are granted. */
static void check_every_failure(bool strict, bool pending, uint64_t from, uint64_t to,
                                bool within) {
    size_t refused = 0;
    for (size_t nth = 1;; nth++) {
        struct fixture f;
        fixture_open(&f, 8, 100, strict, 2);
        arm(&f, 1, 105);
        if (pending)
            arm(&f, 0, from);
        struct snapshot before = take_snapshot(&f);
        failing_allocator_fail(&f.memory, nth, true);
        int rc = within ? htw_wheel_schedule_within(f.wheel, &f.timers[0], to, to)
                        : htw_wheel_schedule(f.wheel, &f.timers[0], to);
        bool was_refused = f.memory.refusals > 0;
        assert_int_equal(rc, was_refused ? -ENOMEM : 0);
        if (was_refused) {
            assert_as_before(&f, &before);
            refused++;
            /* With memory again it works. */
            failing_allocator_relent(&f.memory);
            arm(&f, 0, to);
        }
        assert_int_equal(htw_timer_deadline(&f.timers[0]), to);
        assert_round(&f, to - 1, 1);
        assert_round(&f, to, 0);
        fixture_close(&f);
        if (!was_refused)
            break;
    }
    assert_in_range(refused, 2, 100);
}

UNIT_TEST(wheel_schedule_that_lacks_memory_changes_nothing) {
    for (int strict = 0; strict < 2; strict++) {
        check_every_failure(strict != 0, false, 0, 100000, false);
        check_every_failure(strict != 0, false, 0, HTW_NEVER_TICK - 1, false);
        check_every_failure(strict != 0, false, 0, 100000, true);
    }
}

UNIT_TEST(wheel_move_that_lacks_memory_leaves_the_timer_pending_as_it_was) {
    static const uint64_t from[] = { 50, 101, 105, 140, HTW_NEVER_TICK };
    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            check_every_failure(strict != 0, true, from[i], 100000, false);
            check_every_failure(strict != 0, true, from[i], UINT64_C(1) << 60, true);
        }
    }
}

UNIT_TEST(wheel_reserve_that_lacks_memory_can_be_tried_again) {
    size_t refused = 0;
    for (size_t nth = 1;; nth++) {
        struct fixture f;
        fixture_open(&f, 8, 100, false, 2);
        arm(&f, 0, 105);
        struct snapshot before = take_snapshot(&f);
        failing_allocator_fail(&f.memory, nth, false);
        int rc = htw_wheel_reserve(f.wheel, 1000000);
        bool failed = rc != 0;
        if (failed) {
            assert_int_equal(rc, -ENOMEM);
            assert_as_before(&f, &before);
            refused++;
            assert_int_equal(htw_wheel_reserve(f.wheel, 1000000), 0);
        }
        failing_allocator_fail(&f.memory, 1, true);
        arm(&f, 1, 1000100);
        assert_round(&f, 1000100, 0, 1);
        fixture_close(&f);
        if (!failed)
            break;
    }
    assert_in_range(refused, 2, 100);
}
