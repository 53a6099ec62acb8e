/* SPDX-License-Identifier: MIT */
/* stats.c - prints what the relay counts. */
#include "stats.h"

#include "../../../src/observe/metrics.h"

#include <inttypes.h>
#include <stddef.h>

void htw__relay_work_init(struct htw__relay_work *self) {
    *self = (struct htw__relay_work) { .counts = { 0 } };
    htw__histogram_init(&self->late_us);
}

void htw__relay_work_move(struct htw__relay_work *into, struct htw__relay_work *from) {
    for (size_t i = 0; i < sizeof(into->counts) / sizeof(into->counts[0]); i++)
        into->counts[i] += from->counts[i];
    if (from->delivered > 0)
        htw__histogram_merge(&into->late_us, &from->late_us);
    htw__relay_work_init(from);
}

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) \
    HTW__METRIC(struct htw__relay_stats, "htw_relay_" name, member, help)
    METRIC("received_total", done.received, "Records read from the input topic."),
    METRIC("delivered_total", done.delivered, "Records published to their topics."),
    METRIC("dead_letters_total", done.dead, "Records published to the dead-letter topic."),
    METRIC("dead_letters_short_total", done.dead_short,
           "Dead letters without their values, which were too large."),
    METRIC("dead_letters_refused_total", done.dead_refused,
           "Times that a dead letter was refused, and put back to be tried again."),
    METRIC("postponed_total", done.postponed,
           "Times that a record waited for what is known of its topic."),
    METRIC("cancelled_total", done.cancelled, "Records that were cancelled or replaced."),
    METRIC("cancels_late_total", done.cancels_late, "Cancels that found no record."),
    METRIC("ids_lost_total", done.ids_lost,
           "Records that were delivered by --recover, since their ids were lost."),
    METRIC("catch_ups_cut_total", catch_ups_cut,
           "Stripes that delivered before all of their input was read for cancels."),
    METRIC("passes_total", passes, "Times that a bucket was read again."),
    METRIC("commits_total", commits, "Commits of positions."),
    METRIC("failed_commits_total", failed_commits, "Commits that failed."),
    METRIC("aborted_transactions_total", aborted_transactions, "Transactions that were aborted."),
    METRIC("recoveries_total", recoveries,
           "Times that all stripes were forgotten after a failure, and taken over again."),
    METRIC("input_lag", input_lag,
           "Offsets of the input that were not read, those of open transactions included."),
    METRIC("input_lag_seconds", input_lag_s,
           "How long ago the oldest of these was written, at most."),
    METRIC("since_filing_seconds", since_commit_s[0],
           "Seconds since all that was filed has been committed."),
    METRIC("since_delivery_seconds", since_commit_s[1],
           "Seconds since all that was delivered has been committed."),
    METRIC("input_partitions", input_partitions, "Input partitions, of which each needs a relay."),
    METRIC("stripes", stripes, "Input partitions that this process owns."),
    METRIC("stripes_stopped", stripes_stopped,
           "Input partitions that stand still, since their indexes have lost entries."),
    METRIC("stripes_waiting", stripes_waiting, "New input partitions that have no buckets yet."),
    METRIC("overdue", overdue, "Records in memory whose time has come."),
    METRIC("memory_bytes", bytes_in_memory, "Memory of records that are due soon."),
    METRIC("ids", ids, "Records with an id that wait."),
    METRIC("ids_bytes", ids_bytes, "Memory of the index of these."),
    METRIC("clock_behind_milliseconds", clock_behind_ms, "How far the slowest stripe is behind."),
    HTW__METRICS_END,
#undef METRIC
};

static void print_levels(FILE *stream, const char *name, const char *type, const char *help,
                         const uint64_t *values, uint32_t levels) {
    htw__prometheus_describe(stream, name, help, type);
    for (uint32_t level = 0; level < levels; level++)
        fprintf(stream, "%s{level=\"%u\"} %" PRIu64 "\n", name, level, values[level]);
}

void htw__relay_stats_prometheus(const struct htw__relay_stats *self, uint32_t levels,
                                 FILE *stream) {
    htw__prometheus_values(stream, metrics, self);
    print_levels(stream, "htw_relay_filed_total", "counter", "Records published to buckets.",
                 self->done.filed, levels);
    print_levels(stream, "htw_relay_lag", "gauge",
                 "Offsets in the buckets of a level that are not done.", self->lag, levels);
    htw__prometheus_histogram(stream, "htw_relay_late_seconds",
                              "How late records were published to their topics.",
                              &self->done.late_us, 6);
}
