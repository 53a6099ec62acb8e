/* SPDX-License-Identifier: MIT */
/* digest.h - the digest of a state of a wheel and its oracle. */
#ifndef TESTS_ENUMERATE_DIGEST_H
#define TESTS_ENUMERATE_DIGEST_H

#include "../support/history.h"

/** At most so many a history. */
enum { TIMERS = 3 };

/** States with equal digests have the same futures of `remaining` steps or fewer, and the same ends. False: a timer
    is lost, or in a wrong list. */
bool digest_state(const struct history *history, unsigned remaining, uint64_t *ret_digest);

#endif /* TESTS_ENUMERATE_DIGEST_H */
