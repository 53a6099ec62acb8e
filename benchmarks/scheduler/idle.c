/* SPDX-License-Identifier: MIT */
/* idle.c - one timer that is an hour away: what waiting for it costs. */
#include "../common/clock.h"
#include "../common/process.h"
#include "../common/report.h"
#include "expirations.h"
#include "options.h"

static void run(const struct options *options) {
    options->peer->start(options->workers);
    peer_schedule(options->peer, clock_now_ns(), 3600 * HTW_SECOND, stray_expired, NULL, NULL);
    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    struct thread_counts main_before, timer_before, main_after, timer_after;
    process_threads(&main_before, &timer_before);
    clock_sleep_until(clock_now_ns() + clock_ns(given.seconds));
    process_threads(&main_after, &timer_after);

    uint64_t wakeups = timer_after.switches - timer_before.switches;
    int64_t cpu_ns = timer_after.cpu_ns - timer_before.cpu_ns;
    report_number("measured_s", given.seconds);
    report_count("wakeups_timer_thread", wakeups);
    report_count("wakeups_process", wakeups + main_after.switches - main_before.switches);
    report_number("cpu_ms_timer_thread", (double)cpu_ns / 1e6);
    report_number("cpu_ms_process",
                  (double)(cpu_ns + main_after.cpu_ns - main_before.cpu_ns) / 1e6);
    if (options->peer->pending() != 1)
        report_failure("the timer is not pending any more");
}

const struct workload workload_idle = {
    .name = "idle",
    .about = "one timer that is an hour away",
    .seconds = 20,
    .run = run,
};
