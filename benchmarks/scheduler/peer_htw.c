/* SPDX-License-Identifier: MIT */
/* peer_htw.c - htw's scheduler with its defaults, except for what the names of the variants say. */
#include "peer.h"

#include <string.h>

static struct htw_scheduler *scheduler;

static void start(int workers, int64_t tick_ns, int64_t timer_slack_ns) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.tick_ns = tick_ns;
    options.timer_slack_ns = timer_slack_ns;
    if (workers >= 0)
        options.workers = workers > 0 ? (uint32_t)workers : HTW_NO_WORKERS;
    int error = htw_scheduler_create(&scheduler, &options);
    if (error != 0)
        report_failure("htw_scheduler_create: %s", strerror(-error));
}

static void start_1ms(int workers) {
    start(workers, HTW_MILLISECOND, 0);
}

static void start_100us(int workers) {
    start(workers, 100 * HTW_MICROSECOND, 0);
}

static void start_fine(int workers) {
    start(workers, 5 * HTW_MICROSECOND, 45 * HTW_MICROSECOND);
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns;
    return htw_schedule(scheduler, delay_ns, callback, arg, ret_handle);
}

static int schedule_absolute(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                             uint64_t *ret_handle) {
    return htw_schedule_at(scheduler, now_ns + delay_ns, callback, arg, ret_handle);
}

static bool cancel(uint64_t handle) {
    return htw_cancel(scheduler, handle) == HTW_CANCELLED;
}

static uint64_t pending(void) {
    return htw_pending(scheduler);
}

/* The members that are the same in all of them. */
#define HTW_MEMBERS .has_workers = true, .cancel = cancel, .pending = pending

const struct peer peer_htw = {
    .name = "htw",
    .about = "htw_schedule(), tick 1 ms",
    .start = start_1ms,
    .schedule = schedule,
    HTW_MEMBERS,
};

const struct peer peer_htw_absolute = {
    .name = "htw-absolute",
    .about = "htw_schedule_at(), tick 1 ms",
    .start = start_1ms,
    .schedule = schedule_absolute,
    HTW_MEMBERS,
};

const struct peer peer_htw_100us = {
    .name = "htw-100us",
    .about = "htw_schedule(), tick 100 us",
    .start = start_100us,
    .schedule = schedule,
    HTW_MEMBERS,
};

const struct peer peer_htw_fine = {
    .name = "htw-fine",
    .about = "htw_schedule(), tick 5 us, an alarm up to 45 us later",
    .start = start_fine,
    .schedule = schedule,
    HTW_MEMBERS,
};
