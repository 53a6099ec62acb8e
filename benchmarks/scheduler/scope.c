/* SPDX-License-Identifier: MIT */
/*
 * scope.c - one thread enters and exits scopes in a scope of half an hour: some are tighter than it, and arm a timer, others
 * are not. The medians of many laps. Of htw alone; the peer of Go has the same for contexts.
 */
#include "../common/clock.h"
#include "../common/report.h"
#include "options.h"

#include <htw/scope.h>

#define LAP 10000 /* scopes in one measurement, so that reading the clock costs little */

/* The median time of a scope, in nanoseconds. */
static double measure(struct htw_scheduler *scheduler, struct htw_scope *parent, int64_t delay_ns,
                      double seconds) {
    struct histogram laps = { 0 };
    int64_t before_ns = clock_now_ns(), end_ns = before_ns + clock_ns(seconds);
    while (before_ns < end_ns) {
        for (int i = 0; i < LAP; i++) {
            struct htw_scope scope;
            if (htw_scope_enter(&scope, scheduler, parent, delay_ns, NULL) != HTW_SCOPE_OPEN ||
                htw_scope_exit(&scope) != HTW_SCOPE_OPEN)
                report_failure("a scope was not entered, or has ended");
        }
        int64_t after_ns = clock_now_ns();
        histogram_record(&laps, after_ns - before_ns);
        before_ns = after_ns;
    }
    return (double)histogram_quantile_ns(&laps, 0.5) / LAP;
}

static void run(const struct options *options) {
    struct htw_scheduler *scheduler;
    struct htw_scope parent;
    (void)options;
    if (htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_scope_enter(&parent, scheduler, NULL, HTW_HOUR / 2, NULL) != HTW_SCOPE_OPEN)
        report_failure("no scheduler");
    measure(scheduler, &parent, 5 * HTW_SECOND, given.warmup);
    report_number("ns_tighter_p50", measure(scheduler, &parent, 5 * HTW_SECOND, given.seconds / 2));
    report_number("ns_not_tighter_p50", measure(scheduler, &parent, HTW_HOUR, given.seconds / 2));
    report_count("bytes", sizeof(struct htw_scope));
    htw_scope_exit(&parent);
    htw_scheduler_destroy(scheduler);
}

const struct workload workload_scope = {
    .name = "scope",
    .about = "one thread enters and exits scopes, with and without a timer of their own",
    .seconds = 4,
    .run = run,
};
