/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <inttypes.h>

void fixture_open(struct fixture *self, uint32_t size, uint64_t start, bool strict, size_t count) {
    *self = (struct fixture) { .count = count };
    failing_allocator_init(&self->memory);
    self->timers = calloc(count + 1, sizeof *self->timers);
    assert_non_null(self->timers);
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = size;
    options.start = start;
    options.strict_fifo = strict;
    options.allocator = &self->memory.allocator;
    assert_int_equal(htw_wheel_create(&self->wheel, &options), 0);
}

void fixture_close(struct fixture *self) {
    assert_sound(self);
    htw_wheel_destroy(self->wheel);
    assert_all_released(&self->memory);
    free(self->timers);
}

size_t fixture_number(const struct fixture *self, const struct htw_timer *timer) {
    size_t number = (size_t)(timer - self->timers);
    assert_in_range(number, 0, self->count);
    return number;
}

struct htw_wheel_stats fixture_stats(const struct fixture *self) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(self->wheel, &stats), 0);
    return stats;
}

void fixture_assert_round(struct fixture *self, uint64_t now, const size_t *numbers, size_t count,
                          const char *file, int line) {
    size_t got = 0;
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(self->wheel, now)) != NULL) {
        size_t number = fixture_number(self, timer);
        if (got == count || number != numbers[got]) {
            if (got < count)
                print_error("timer %zu was expected\n", numbers[got]);
            unit_fail(file, line, "round to %" PRIu64 ": timer %zu came as number %zu", now, number,
                      got);
        }
        got++;
    }
    if (got < count)
        unit_fail(file, line, "round to %" PRIu64 ": timer %zu did not come", now, numbers[got]);
    int broken = htw_wheel_check(self->wheel);
    if (broken != 0)
        unit_fail(file, line, "round to %" PRIu64 ": htw_wheel_check gives %d", now, broken);
}

void fixture_assert_comes_alone(struct fixture *self, size_t number, uint64_t deadline,
                                const char *file, int line) {
    uint64_t next = htw_wheel_next(self->wheel);
    if (next != deadline)
        unit_fail(file, line, "next is %" PRIu64 ", not %" PRIu64, next, deadline);
    fixture_assert_round(self, deadline - 1, NULL, 0, file, line);
    fixture_assert_round(self, deadline, &number, 1, file, line);
}
