/* SPDX-License-Identifier: MIT */
/* service.h - the scheduler and the purgatory under test, as a program would have them. */
#ifndef BENCH_PURGATORY_SERVICE_H
#define BENCH_PURGATORY_SERVICE_H

#include "options.h"

#include <htw/purgatory.h>

struct service {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
};

/* What the hooks do; as in struct htw_purgatory_options. */
struct hooks {
    bool (*try_complete)(void *context, struct htw_request *request);
    void (*on_complete)(void *context, struct htw_request *request, enum htw_reason reason);
    void (*release)(void *context, struct htw_request *request);
};

/* Starts both. `allocator` may be NULL. Ends the process when that does not work. */
void service_start(struct service *service, const struct options *options,
                   const struct hooks *hooks, const struct htw_allocator *allocator);

struct htw_purgatory_stats service_stats(struct service *service);

uint64_t service_scheduler_bytes(struct service *service);

/* Ends the process unless nobody waits any more, and all that were submitted have completed but
   for as many as have expired. */
void service_check(struct service *service, uint64_t submitted, uint64_t expired);

#endif
