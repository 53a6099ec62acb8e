/* SPDX-License-Identifier: MIT */
/*
 * htw/executor.h - runs the callbacks of a scheduler in threads of yours: `executor` of struct
 * htw_scheduler_options.
 */
#ifndef HTW_EXECUTOR_H
#define HTW_EXECUTOR_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A callback that is due, for an executor to run; opaque. */
struct htw_task;

/** Runs callbacks in your own threads instead of those of the library. */
struct htw_executor {
    /**
     * Receives tasks. Give each of them exactly once to htw_task_run(), in any thread, inside this
     * call or later. Must return.
     *
     * @param context `context` below.
     * @param tasks   the array is valid during the call.
     * @param count   1 to 64.
     *
     * Threads: called by the expirers, or inside htw_scheduler_process(), _advance() or
     * _set_clock().
     */
    void (*execute)(void *context, struct htw_task *const *tasks, size_t count);
    void *context;
};

/**
 * Runs the callback of a task, unless its timer was cancelled or the scheduler is being stopped. The
 * task must not be used afterwards. NULL is ignored.
 *
 * An executor that ends lets another thread stop the scheduler, and gives the tasks that it has left to
 * this function: none of them runs any more, and each timer is handed back by htw_scheduler_stop().
 */
HTW_API void htw_task_run(struct htw_task *task);

#ifdef __cplusplus
}
#endif

#endif /* HTW_EXECUTOR_H */
