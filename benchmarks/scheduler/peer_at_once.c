/* SPDX-License-Identifier: MIT */
/*
 * peer_at_once.c - no timers: callbacks run inside schedule(), all of them early. Its figures in
 * lateness are the cost of the workload and of the callbacks.
 */
#include "peer.h"

static void start(int workers) {
    (void)workers;
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns, (void)delay_ns;
    callback(arg, NULL);
    if (ret_handle != NULL)
        *ret_handle = 0;
    return 0;
}

static bool cancel(uint64_t handle) {
    (void)handle;
    return false;
}

static uint64_t pending(void) {
    return 0;
}

const struct peer peer_at_once = {
    .name = "at-once",
    .about = "no timers: callbacks run when they are scheduled",
    .start = start,
    .schedule = schedule,
    .cancel = cancel,
    .pending = pending,
};
