/* SPDX-License-Identifier: MIT */
/*
 * htw/group.h - groups of timers, which are cancelled, paused and resumed together, and timers that are
 * found by a key. A timer gets its group and its key when it is scheduled: `group` and `key` of struct htw_spec.
 *
 * Threads, ownership and errors are as in htw/scheduler.h. No function blocks.
 */
#ifndef HTW_GROUP_H
#define HTW_GROUP_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A set of timers that are cancelled, paused and resumed together; opaque. */
struct htw_group;

/**
 * Creates a group of timers, for example those of a connection or a tenant.
 *
 * @param ret_group receives the group. The caller owns it, and destroys it before the scheduler.
 * @return 0: success;
 *         -EINVAL, -ENOMEM, -ESHUTDOWN.
 */
HTW_API HTW_WARN_UNUSED int htw_group_create(struct htw_scheduler *scheduler,
                                             struct htw_group **ret_group);

/**
 * Gives a group a name, for tools to show: htw_scheduler_visit(), htw_scheduler_dump().
 *
 * @param name up to 31 bytes are copied. NULL: none, as a new group.
 * @return 0: success.
 */
HTW_API int htw_group_set_name(struct htw_group *group, const char *name);

/**
 * Destroys a group; its timers continue without a group. NULL is ignored.
 *
 * Paused timers are resumed. The timers keep their keys until they end, but no call finds them by
 * key any more.
 */
HTW_API void htw_group_destroy(struct htw_group *group);

/**
 * Cancels all timers of a group, and returns how many. Timers that are scheduled during the call
 * may remain.
 *
 * @param visitor called for each timer that was cancelled, in no particular order, before its
 *                release hook. May be NULL.
 * @param context is passed to `visitor`.
 * @return 0 or more: how many were cancelled. Timers that are running do not count, but do not run
 *         again.
 *
 * Cost: O(timers of the group); holds each lock only for a bounded number of timers at a time.
 */
HTW_API int64_t htw_group_cancel(struct htw_group *group, htw_unexpired_visitor *visitor,
                                 void *context);

/**
 * Pauses a group: after this has returned, no callback of the group starts until it is resumed.
 *
 * Each timer keeps the rest of its delay. A callback that has started continues, and counts in
 * `runs` of the statistics. A timer that is due now is due again when the group is resumed; its
 * `late_ns` counts from then. To pause a paused group changes nothing.
 *
 * A timer whose deadline was given as an instant of HTW_CLOCK_REALTIME (`absolute`,
 * htw_reschedule_at()) keeps that instant: if the group is resumed before it, the timer runs on
 * time, otherwise at once, and its `late_ns` counts from the instant.
 *
 * @return 0: success.
 *
 * Cost: as htw_group_cancel().
 */
HTW_API int htw_group_pause(struct htw_group *group);

/** Resumes a group: each timer continues with the rest of its delay, or waits for its instant. As
    htw_group_pause(). */
HTW_API int htw_group_resume(struct htw_group *group);

/** Returns how many timers of a group are pending, paused or running; 0 for NULL. Cost: O(1). */
HTW_API uint64_t htw_group_count(struct htw_group *group);

/* ------------------------------------------------------------------ keys */

/**
 * Cancels the timer that is pending or repeats under a key, and reports the outcome.
 *
 * @param group    the group of the timer; NULL for timers without a group.
 * @param key      `key_size` bytes; not NULL.
 * @param key_size 0 to UINT32_MAX.
 * @param ret_arg  receives the argument with HTW_CANCELLED; NULL if the timer had a release hook,
 *                 which has run inside this call. May be NULL.
 * @return as htw_cancel().
 */
HTW_API int htw_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group,
                           const void *key, size_t key_size, void **ret_arg);

/** Returns the handle of the timer that is pending or repeats under a key; 0 if there is none. */
HTW_API htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                                const void *key, size_t key_size);

#ifdef __cplusplus
}
#endif

#endif /* HTW_GROUP_H */
