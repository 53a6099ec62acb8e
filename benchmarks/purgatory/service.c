/* SPDX-License-Identifier: MIT */
/* service.c - starts and checks the scheduler and the purgatory under test. */
#include "service.h"

#include <stdatomic.h>

#define PATIENCE_NS 5000000000

static _Atomic uint64_t released;

void service_start(struct service *service, const struct options *options,
                   const struct hooks *hooks) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    scheduler_options.workers = options->workers > 0 ? (uint32_t)options->workers : HTW_NO_WORKERS;
    scheduler_options.start_threads = true;
    int error = htw_scheduler_create(&service->scheduler, &scheduler_options);
    if (error != 0)
        report_failure("htw_scheduler_create: %s", strerror(-error));
    struct htw_purgatory_options purgatory_options = HTW_PURGATORY_OPTIONS_INIT;
    purgatory_options.try_complete = hooks->try_complete;
    purgatory_options.on_complete = hooks->on_complete;
    purgatory_options.release = hooks->release;
    error = htw_purgatory_create(&service->purgatory, service->scheduler, &purgatory_options);
    if (error != 0)
        report_failure("htw_purgatory_create: %s", strerror(-error));
}

void service_count_release(void *context, struct htw_request *request) {
    (void)context, (void)request;
    atomic_fetch_add(&released, 1);
}

void service_await_releases(uint64_t count) {
    int64_t patience_ns = clock_now_ns() + PATIENCE_NS;
    while (atomic_load(&released) != count) {
        if (clock_now_ns() > patience_ns)
            report_failure("%llu of %llu requests have not ended",
                           (unsigned long long)(count - atomic_load(&released)),
                           (unsigned long long)count);
        clock_sleep_until(clock_now_ns() + HTW_MILLISECOND);
    }
}

struct htw_purgatory_stats service_stats(struct service *service) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    int error = htw_purgatory_get_stats(service->purgatory, &stats);
    if (error != 0)
        report_failure("htw_purgatory_stats: %s", strerror(-error));
    return stats;
}

void service_check(struct service *service, uint64_t submitted, uint64_t expired) {
    struct htw_purgatory_stats stats = service_stats(service);
    if (stats.submitted != submitted || stats.expired != expired ||
        stats.completed + stats.expired != submitted || stats.pending != 0 || stats.delayed != 0 ||
        stats.watched != 0 || stats.keys != 0)
        report_failure("of %llu requests %llu completed, %llu expired (not %llu), %llu are "
                       "pending on %llu keys, %llu with a timeout",
                       (unsigned long long)submitted, (unsigned long long)stats.completed,
                       (unsigned long long)stats.expired, (unsigned long long)expired,
                       (unsigned long long)stats.pending, (unsigned long long)stats.keys,
                       (unsigned long long)stats.delayed);
}
