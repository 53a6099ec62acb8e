/* SPDX-License-Identifier: MIT */
/*
 * htw/threshold.h - thresholds: values that rise, such as the high watermark of a partition, and requests of a
 * purgatory that wait until theirs is reached.
 *
 *     if (htw_threshold_await(watermark, &produce->request, offset, 500 * HTW_MILLISECOND) < 0) ...
 *     ...
 *     htw_threshold_advance(watermark, replicated);      // completes all up to there, in order
 *
 * The requests are those of htw/purgatory.h, which describes hooks, threads, locks and errors. Their
 * `try_complete` is not called. They count in the statistics of the purgatory.
 */
#ifndef HTW_THRESHOLD_H
#define HTW_THRESHOLD_H

#include <htw/purgatory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A value that rises, and requests that wait until it has reached theirs; opaque. */
struct htw_threshold;

/**
 * Creates a threshold.
 *
 * Its requests are in a tree ordered by value: an advance costs nothing for requests that it does not
 * reach.
 *
 * @param initial       the first value.
 * @param ret_threshold receives the threshold. The caller owns it, and destroys it before the
 *                      purgatory.
 * @return 0: success;
 *         -ENOMEM;
 *         -ESHUTDOWN: the purgatory is closed.
 *
 * Memory: 128 bytes. Requests that wait need none.
 */
HTW_API HTW_WARN_UNUSED int htw_threshold_create(struct htw_purgatory *purgatory, uint64_t initial,
                                                 struct htw_threshold **ret_threshold);

/**
 * Destroys a threshold. Ends all its requests with HTW_REASON_CLOSED. NULL is ignored.
 *
 * No other thread may be in a call with this threshold.
 *
 * @return 0: success;
 *         -EDEADLK: called in a hook or visitor of its purgatory; nothing has changed.
 *
 * Blocks: waits, as htw_purgatory_destroy(), for hooks of its requests in threads of the scheduler.
 */
HTW_API int htw_threshold_destroy(struct htw_threshold *threshold);

/**
 * Submits a request to a threshold: completes it if the threshold has reached a value, otherwise
 * lets it wait for that with a timeout; reports the outcome.
 *
 * @param value      the request is completed when the value of the threshold is this or more.
 * @param timeout_ns as in htw_purgatory_try_complete_else_watch().
 * @return as htw_purgatory_try_complete_else_watch(). The caller owns the request after a failure.
 *
 * Cost: O(log requests on the threshold).
 */
HTW_API HTW_WARN_UNUSED int htw_threshold_await(struct htw_threshold *threshold,
                                                struct htw_request *request, uint64_t value,
                                                int64_t timeout_ns);

/**
 * Raises the value of a threshold, completes the requests that wait for it or for less, in order of
 * their values, and returns how many.
 *
 * @param value the new value. If it is not greater than the present one, nothing happens: values
 *              may arrive out of order.
 * @return 0 or more: how many this call ends. Requests that another thread is just submitting
 *         count, and end in that thread.
 *
 * Cost: O(log requests on the threshold) for each request that ends.
 */
HTW_API int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value);

/**
 * Lowers the value of a threshold, for example because a log was truncated. Ends no request.
 *
 * Requests continue to wait for the values that they asked for. Requests that an earlier advance
 * has reached are completed, even if that advance has not yet processed them.
 *
 * @param value the new value. If it is not less than the present one, nothing happens.
 * @return 0: success.
 *
 * Allocates nothing. Cost: O(1).
 */
HTW_API int htw_threshold_lower(struct htw_threshold *threshold, uint64_t value);

/**
 * Ends all requests that wait on a threshold, in order of their values, and returns how many. The
 * threshold keeps its value and can be used as before.
 *
 * Requests that are submitted during the call, also by hooks, are not ended.
 *
 * @param reason  HTW_REASON_COMPLETED, HTW_REASON_CANCELLED or HTW_REASON_CLOSED.
 * @param visitor called for each request that this call ends. A request that another thread is just
 *                submitting or ending is marked, and that thread ends it without a visitor. May be
 *                NULL.
 * @param context is passed to `visitor`.
 * @return 0 or more: how many this call ends, marked requests included;
 *         -EINVAL also for another reason.
 *
 * Allocates nothing. Cost: O(log requests on the threshold) for each request.
 */
HTW_API int64_t htw_threshold_end_all(struct htw_threshold *threshold, enum htw_reason reason,
                                      htw_request_visitor *visitor, void *context);

/** Returns the value of a threshold; 0 for NULL. Cost: O(1). */
HTW_API uint64_t htw_threshold_value(struct htw_threshold *threshold);

#ifdef __cplusplus
}
#endif

#endif /* HTW_THRESHOLD_H */
