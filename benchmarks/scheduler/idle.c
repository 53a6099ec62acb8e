/* SPDX-License-Identifier: MIT */
/* idle.c - one timer that is an hour away: what waiting for it costs. */
#include "../common/process.h"
#include "expirations.h"
#include "options.h"

static void run(const struct options *options) {
    options->peer->start(options->workers);
    peer_schedule(options->peer, clock_now_ns(), 3600 * HTW_SECOND, stray_expired, NULL, NULL);
    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    struct thread_counts before = process_other_threads();
    clock_sleep_until(clock_now_ns() + clock_ns(given.seconds));
    struct thread_counts after = process_other_threads();
    report_count("wakeups_timer_thread", after.switches - before.switches);
    report_number("cpu_ms_timer_thread", (double)(after.cpu_ns - before.cpu_ns) / 1e6);
    if (options->peer->pending() != 1)
        report_failure("the timer is not pending any more");
}

const struct workload workload_idle = {
    .name = "idle",
    .about = "one timer that is an hour away",
    .seconds = 20,
    .run = run,
};
