/* SPDX-License-Identifier: MIT */
/* Delays from a tick to a day of milliseconds, equally many of each order of magnitude; the
 * clock jumps to where the implementation wants to be woken. */
#include "expiry.h"
#include "workload.h"

static void measure(struct run *run) {
    run_open(run, run->n);
    expiry_draw_log(run);
    run_report_ns(run, "add", "timer", expiry_arm(run), run->n);
    run_check_count(run, run->n);
    if (run_can_expire(run) && run->implementation->next != NULL)
        expiry_drain(run, "drain");
    run_close(run);
}

const struct workload workload_long = {
    .name = "long",
    .about = "arm timers for 1 tick to a day of ms (log-uniform), and jump from one to the next",
    .sizes = { 1000000 },
    .measure = measure,
};
