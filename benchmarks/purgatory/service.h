/* SPDX-License-Identifier: MIT */
/* service.h - the scheduler and the purgatory under test. */
#ifndef BENCH_PURGATORY_SERVICE_H
#define BENCH_PURGATORY_SERVICE_H

#include "options.h"

#include <htw/htw.h>

struct service {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
};

/* Hooks, as in struct htw_purgatory_options. */
struct hooks {
    bool (*try_complete)(void *context, struct htw_request *request);
    void (*on_complete)(void *context, struct htw_request *request, enum htw_reason reason);
    void (*release)(void *context, struct htw_request *request);
};

/* Starts both, or ends the process. */
void service_start(struct service *service, const struct options *options,
                   const struct hooks *hooks);

/* A hook `release` that counts, and a wait until `count` requests are released. */
void service_count_release(void *context, struct htw_request *request);
void service_await_releases(uint64_t count);

struct htw_purgatory_stats service_stats(struct service *service);

/* Ends the process unless `expired` of the submitted requests have expired, all others have
   completed, and nothing is pending. */
void service_check(struct service *service, uint64_t submitted, uint64_t expired);

#endif
