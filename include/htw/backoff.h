/* SPDX-License-Identifier: MIT */
/*
 * htw/backoff.h - how long to wait before the next attempt at something that keeps failing:
 * delays that grow exponentially up to a cap, with a random part, so that many clients that
 * failed together do not come back together.
 *
 * Numbers only: nothing here waits, reads a clock, allocates, blocks or calls user code.
 *
 *     struct htw_backoff backoff;
 *     struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
 *     options.seed = my_client_id;
 *     htw_backoff_init(&backoff, &options);
 *     ...
 *     on failure: arm_a_timer_after(htw_backoff_next(&backoff));
 *     on success: htw_backoff_reset(&backoff);
 *
 * Thread-safety: a backoff belongs to one thread at a time; two have nothing in common.
 */
#ifndef HTW_BACKOFF_H
#define HTW_BACKOFF_H

#include <htw/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The delays of one client, to be embedded in whatever makes the attempts. The members are
 * private. It may be copied (the copy gives the same delays) and moved, and needs no end.
 */
struct htw_backoff {
    int64_t _initial_ns;
    int64_t _cap_ns;
    double _multiplier;
    double _jitter;
    double _delay_ns; /* of the next attempt, before jitter */
    uint64_t _random;
    unsigned _attempts;
};

/** Which delays to give. Start from HTW_BACKOFF_OPTIONS_INIT. */
struct htw_backoff_options {
    /** sizeof(struct htw_backoff_options); set by the initialiser. */
    size_t struct_size;
    /** The first delay, before jitter; at least 1. */
    int64_t initial_ns;
    /** The longest delay; at least `initial_ns`. */
    int64_t cap_ns;
    /** How many times longer each delay is than the one before, before jitter; at least 1. */
    double multiplier;
    /**
     * Which part of each delay is random, from 0 to 1: a delay D is drawn evenly from
     * D * (1 - jitter) to D. 0 gives the same delays always.
     */
    double jitter;
    /**
     * Where the random numbers begin: the same seed gives the same delays. Clients with one
     * seed retry in step in spite of all jitter, so give each its own.
     */
    uint64_t seed;
};

/** The defaults: from 100 ms to 30 s, twice as long each time, half of it random, seed 0. */
#define HTW_BACKOFF_OPTIONS_INIT \
    { sizeof(struct htw_backoff_options), INT64_C(100000000), INT64_C(30000000000), 2.0, 0.5, 0 }

/** Sets `options` to HTW_BACKOFF_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_backoff_options_init(struct htw_backoff_options *options);

/** sizeof(struct htw_backoff) in bytes, for languages that cannot include this header. */
HTW_API size_t htw_backoff_size(void);

/**
 * Makes a backoff, or makes it anew.
 *
 * @param backoff whatever it held is lost.
 * @param options which delays; NULL means all defaults. Not kept.
 * @return 0; -EINVAL when `backoff` is NULL, `struct_size` is not that of a known version,
 *         `initial_ns` is less than 1, `cap_ns` is less than `initial_ns`, `multiplier` is
 *         less than 1, `jitter` is not from 0 to 1, or one of these two is no number; then
 *         `backoff` is left alone.
 *
 * Owns nothing, before and after. Cost: O(1).
 */
HTW_API HTW_WARN_UNUSED int htw_backoff_init(struct htw_backoff *backoff,
                                             const struct htw_backoff_options *options);

/**
 * The delay before the next attempt.
 *
 * @return nanoseconds, from 1 to the cap; -EINVAL when `backoff` is NULL or zeroed.
 *
 * The n-th delay since the start is min(initial * multiplier^(n-1), cap), less jitter. It is
 * calculated in double precision, so that beyond 2^53 ns (104 days) it is rounded, but never
 * to more than the cap; a cap that is reached is exact.
 * Cost: O(1).
 */
HTW_API HTW_WARN_UNUSED int64_t htw_backoff_next(struct htw_backoff *backoff);

/**
 * Starts again from the initial delay, after a success. The random numbers go on, so that a
 * client does not repeat its delays. NULL is ignored. Cost: O(1).
 */
HTW_API void htw_backoff_reset(struct htw_backoff *backoff);

/**
 * How many delays were given since the start or the last reset, up to UINT_MAX; to give up
 * after so many. 0 for NULL. Cost: O(1).
 */
HTW_API unsigned htw_backoff_attempts(const struct htw_backoff *backoff);

#ifdef __cplusplus
}
#endif

#endif /* HTW_BACKOFF_H */
