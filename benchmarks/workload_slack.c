/* SPDX-License-Identifier: MIT */
/* expire and long once more, where each timer may be late by 1 % of its delay. To be read
 * beside these: the same delays, the same phases, fewer wake-ups. */
#include "expiry.h"
#include "workload.h"

static void measure_even(struct run *run) {
    uint64_t wakeups;
    run_open(run, run->n);
    expiry_draw_even(run);
    run_report_ns(run, "expire-add", "timer", expiry_arm_within(run), run->n);
    run_check_count(run, run->n);
    uint64_t elapsed_ns = expiry_tick(run, EXPIRY_EVEN_MAX + EXPIRY_EVEN_MAX / 100, &wakeups);
    run_report_ns(run, "expire", "timer", elapsed_ns, run->n);
    run_report(run, "expire", "wakeups", "timer", (double)wakeups / (double)run->n);
    run_check_end(run, run->n);
    run_close(run);
}

static void measure_log(struct run *run) {
    run_open(run, run->n);
    expiry_draw_log(run);
    run_report_ns(run, "long-add", "timer", expiry_arm_within(run), run->n);
    run_check_count(run, run->n);
    expiry_drain(run, "long-drain");
    run_close(run);
}

static void measure(struct run *run) {
    struct random random = run->random; /* so that both draw what expire and long draw */
    measure_even(run);
    run->random = random;
    measure_log(run);
}

const struct workload workload_slack = {
    .name = "slack",
    .about = "expire and long, with every timer free to be late by 1 % of its delay",
    .sizes = { 1000000 },
    .needs_expiry = true,
    .needs_next = true,
    .needs_slack = true,
    .measure = measure,
};
