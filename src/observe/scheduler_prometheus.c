/* SPDX-License-Identifier: MIT */
/* prometheus.c - the statistics in the text format of Prometheus, version 0.0.4. */
#include "metrics.h"
#include "prometheus.h"
#include "stats.h"

#include <errno.h>

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) { name, help, offsetof(struct htw_scheduler_stats, member) },
    HTW__SCHEDULER_METRICS(METRIC)
#undef METRIC
};

int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stream == NULL)
        return -EINVAL;
    struct htw__histogram *histograms =
        htw__allocate(&scheduler->allocator, 2 * sizeof(*histograms));
    if (histograms == NULL)
        return -ENOMEM;
    struct htw_scheduler_stats stats;
    htw__stats_gather(scheduler, &stats, &histograms[0], &histograms[1]);
    htw__prometheus_values(stream, metrics, sizeof(metrics) / sizeof(metrics[0]), &stats);
    htw__prometheus_histogram(stream, "htw_lateness_seconds",
                              "From the deadline to the callback's start.", &histograms[0]);
    htw__prometheus_histogram(stream, "htw_callback_seconds", "How long callbacks took.",
                              &histograms[1]);
    htw__release(&scheduler->allocator, histograms, 2 * sizeof(*histograms));
    return ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
}
