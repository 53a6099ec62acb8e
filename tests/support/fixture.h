/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - the harness of the tests of the wheel: a wheel on a counting allocator, timers with
 * numbers, and a check of the timers that expire in a round.
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "../unit/unit.h"
#include "failing_allocator.h"

#include <htw/wheel.h>
#include <htw/wheel_inspect.h>

#include <stddef.h>
#include <stdint.h>

struct fixture {
    struct failing_allocator memory;
    struct htw_wheel *wheel;
    struct htw_timer *timers; /* zeroed */
    size_t count;
};

/** Creates a wheel and `count` timers. The fixture must not move afterwards. */
void fixture_open(struct fixture *self, uint32_t size, uint64_t start, bool strict, size_t count);

/** Destroys all; the wheel must be sound, and must release all memory. */
void fixture_close(struct fixture *self);

/** The number of a timer of the fixture. */
size_t fixture_number(const struct fixture *self, const struct htw_timer *timer);

/** The counters of the wheel. */
struct htw_wheel_stats fixture_stats(const struct fixture *self);

/** See assert_round. */
void fixture_assert_round(struct fixture *self, uint64_t now, const size_t *numbers, size_t count,
                          const char *file, int line);

/** See assert_comes_alone. */
void fixture_assert_comes_alone(struct fixture *self, size_t number, uint64_t deadline,
                                const char *file, int line);

/**
 * Begins a test on a wheel with `count` timers:
 *
 *     WHEEL_TEST(name, size, start, strict, count) { body }
 *
 * The body gets `f`, the fixture; the wheel is closed after it.
 */
#define WHEEL_TEST(name, size, start, strict_fifo, count)        \
    static void name##_on(struct fixture *f);                    \
    UNIT_TEST(name) {                                            \
        struct fixture fixture;                                  \
        fixture_open(&fixture, size, start, strict_fifo, count); \
        name##_on(&fixture);                                     \
        fixture_close(&fixture);                                 \
    }                                                            \
    static void name##_on(struct fixture *f)

/** The same test on two wheels, the second with strict FIFO (`strict`). */
#define WHEEL_TEST_BOTH_ORDERS(name, size, start, count)             \
    static void name##_on(struct fixture *f, bool strict);           \
    UNIT_TEST(name) {                                                \
        for (int strict = 0; strict < 2; strict++) {                 \
            struct fixture fixture;                                  \
            fixture_open(&fixture, size, start, strict != 0, count); \
            name##_on(&fixture, strict != 0);                        \
            fixture_close(&fixture);                                 \
        }                                                            \
    }                                                                \
    static void name##_on(struct fixture *f, __attribute__((unused)) bool strict)

#define arm(self, number, deadline) \
    assert_int_equal(htw_wheel_schedule((self)->wheel, &(self)->timers[number], deadline), 0)

/** Polls until the round ends: exactly these timers expire, in this order. */
#define assert_round(self, now, ...)                                                          \
    fixture_assert_round(self, now, (const size_t[]) { __VA_ARGS__ },                         \
                         sizeof((const size_t[]) { __VA_ARGS__ }) / sizeof(size_t), __FILE__, \
                         __LINE__)

/** Polls until the round ends: nothing expires. */
#define assert_quiet_round(self, now) fixture_assert_round(self, now, NULL, 0, __FILE__, __LINE__)

/** The only pending timer is `number`: it expires at its tick, not before. */
#define assert_comes_alone(self, number, deadline) \
    fixture_assert_comes_alone(self, number, deadline, __FILE__, __LINE__)

#define assert_sound(self) assert_int_equal(htw_wheel_check((self)->wheel), 0)

#endif /* TESTS_FIXTURE_H */
