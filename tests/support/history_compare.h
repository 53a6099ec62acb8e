/* SPDX-License-Identifier: MIT */
/* history_compare.h - whether wheel and oracle agree; for history.c and searches only. */
#ifndef TESTS_HISTORY_COMPARE_H
#define TESTS_HISTORY_COMPARE_H

#include "history.h"

/** Notes in `message` what differed; always false. */
bool history_differ(struct history *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The counters of the wheel. */
struct htw_wheel_stats history_read_stats(const struct history *self);

/** Compares one timer. */
bool history_compare_timer(struct history *self, uint32_t id);

/** Compares after an operation: always the cheap things, now and then all. */
bool history_compare(struct history *self, const struct history_op *op);

/** Compares all timers, and checks the wheel. */
bool history_compare_all(struct history *self);

#endif /* TESTS_HISTORY_COMPARE_H */
