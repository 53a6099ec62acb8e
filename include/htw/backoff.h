/* SPDX-License-Identifier: MIT */
/*
 * htw/backoff.h - calculates how long to wait before the next attempt at something that fails. The
 * delays grow exponentially up to a limit, and a part of each is random, so that clients that
 * failed together do not all retry at the same time.
 *
 * These functions only calculate. They do not wait, read a clock, allocate, block or call user
 * code.
 *
 *     struct htw_backoff backoff;
 *     struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
 *     options.seed = my_client_id;
 *     if (htw_backoff_init(&backoff, &options) != 0) ...
 *
 *     after a failure: start_timer(htw_backoff_next(&backoff));
 *     after a success: htw_backoff_reset(&backoff);
 *
 * With a deadline that no attempt may begin after, the timer is a scope: htw/scope.h.
 *
 * Threads: one thread at a time may use a backoff. Two backoffs are independent.
 */
#ifndef HTW_BACKOFF_H
#define HTW_BACKOFF_H

#include <htw/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The state of one client. Embed it in the struct that makes the attempts; the members are private.
 * It may be moved and copied (the copy returns the same delays), and needs no destruction.
 */
struct htw_backoff {
    double _initial_ns; /* 0: it was not initialised */
    int64_t _cap_ns;
    double _multiplier;
    double _jitter;
    double _delay_ns; /* of the next attempt, before jitter */
    uint64_t _random;
    unsigned _attempts;
};

/** For `jitter`: nothing is random. */
#define HTW_NO_JITTER (-1.0)

/** The options of a backoff. Start from HTW_BACKOFF_OPTIONS_INIT. */
struct htw_backoff_options {
    /** sizeof(struct htw_backoff_options); HTW_BACKOFF_OPTIONS_INIT sets it. */
    size_t struct_size;
    /** The first delay, before jitter, in nanoseconds; at least 0; 0 means 100 ms. */
    int64_t initial_ns;
    /** The longest delay, in nanoseconds; at least the first one; 0 means 30 s, or the first one if that is
        longer. */
    int64_t cap_ns;
    /** Each delay is this many times the delay before it, before jitter; at least 1; 0 means 2. */
    double multiplier;
    /**
     * The part of each delay that is random, from 0 to 1: the result is uniformly distributed from
     * D * (1 - jitter) to D, where D is the delay before jitter. 0 means a half; HTW_NO_JITTER: nothing is
     * random.
     */
    double jitter;
    /**
     * The seed of the random numbers. The same seed gives the same delays, so give each client
     * another one; otherwise clients retry at the same time in spite of the jitter.
     */
    uint64_t seed;
};

/** 100 ms, doubled each time up to 30 s, half of it random. */
#define HTW_BACKOFF_OPTIONS_INIT HTW__INIT(htw_backoff_options)

/**
 * Initialises a backoff.
 *
 * @param backoff is overwritten.
 * @param options NULL: the defaults. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: `backoff` is NULL, or a member is out of its range.
 *
 * Cost: O(1).
 */
HTW_API HTW_WARN_UNUSED int htw_backoff_init(struct htw_backoff *backoff,
                                             const struct htw_backoff_options *options);

/**
 * Returns the delay before the next attempt, and counts the attempt.
 *
 * @return 1 or more: nanoseconds, at most `cap_ns`;
 *         -EINVAL: `backoff` is NULL or zeroed.
 *
 * The n-th delay since the start is min(initial * multiplier^(n-1), cap), less the jitter. The
 * calculation is in double precision: from 2^53 ns on (104 days) the result is rounded, but never
 * to more than the limit. When the limit is reached, the delay before jitter is exact. Cost: O(1).
 */
HTW_API HTW_WARN_UNUSED int64_t htw_backoff_next(struct htw_backoff *backoff);

/**
 * Starts again from the initial delay, after a success. The random numbers continue, so that a
 * client does not repeat its delays. NULL is ignored. Cost: O(1).
 */
static inline void htw_backoff_reset(struct htw_backoff *backoff) {
    if (backoff == NULL)
        return;
    backoff->_delay_ns = backoff->_initial_ns;
    backoff->_attempts = 0;
}

/** Returns how many delays htw_backoff_next() has returned since the start or the last reset, for clients that
    give up after a number of attempts: 0 to UINT_MAX, where it stays; 0 for NULL. */
static inline unsigned htw_backoff_attempts(const struct htw_backoff *backoff) {
    return backoff == NULL ? 0 : backoff->_attempts;
}

#ifdef __cplusplus
}
#endif

#endif /* HTW_BACKOFF_H */
