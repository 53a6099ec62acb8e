/* SPDX-License-Identifier: MIT */
/* report.c - prints the numbers of a run, for --stats. */
#include "report.h"

#include "../../src/observe/distribution.h"
#include "../kit/figures.h"

#include <htw/wheel_inspect.h>

#include <inttypes.h>
#include <sys/resource.h>

void htw__report_init(struct htw__report *report) {
    *report = (struct htw__report) { 0 };
    htw__histogram_init(&report->lateness_ns);
}

void htw__report_accepted(struct htw__report *report, size_t message_bytes, size_t pending) {
    report->message_bytes += message_bytes;
    if (report->message_bytes > report->peak_message_bytes)
        report->peak_message_bytes = report->message_bytes;
    if (pending > report->peak_pending)
        report->peak_pending = pending;
}

void htw__report_released(struct htw__report *report, size_t message_bytes, int64_t due_ns,
                          int64_t before_ns, int64_t after_ns) {
    report->message_bytes -= message_bytes;
    report->released++;
    if (before_ns < due_ns)
        report->early++;
    int64_t lateness_ns = after_ns - due_ns;
    htw__histogram_record(&report->lateness_ns, lateness_ns > 0 ? (uint64_t)lateness_ns : 0);
}

static void print_time(FILE *stream, const char *name, uint64_t ns) {
    char text[HTW__FIGURE_SIZE];
    fprintf(stream, "%s %s", name, htw__figure_duration(ns, text));
}

static void print_memory(FILE *stream, const char *name, uint64_t bytes) {
    char text[HTW__FIGURE_SIZE];
    fprintf(stream, "%s %s", name, htw__figure_bytes(bytes, text));
}

static void print_lateness(const struct htw__report *report, FILE *stream) {
    const struct htw__histogram *lateness = &report->lateness_ns;
    print_time(stream, ", lateness min", htw__histogram_min(lateness));
    print_time(stream, ", p50", htw__histogram_percentile(lateness, 50.0));
    print_time(stream, ", p99", htw__histogram_percentile(lateness, 99.0));
    print_time(stream, ", max", htw__histogram_max(lateness));
}

void htw__report_print(const struct htw__report *report, const struct htw_wheel *wheel,
                       FILE *stream) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    struct rusage usage = { 0 };
    htw_wheel_get_stats(wheel, &stats);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stream,
            "read %" PRIu64 ", bad %" PRIu64 ", released %" PRIu64 ", unreleased %" PRIu64
            "\nearly %" PRIu64,
            report->read, report->bad, report->released, report->unreleased, report->early);
    if (report->released > 0)
        print_lateness(report, stream);
    fprintf(stream, "\nclock advances %" PRIu64 ", demotions %" PRIu64 "\npeak pending %zu\n",
            stats.advances, stats.demoted, report->peak_pending);
    print_memory(stream, "memory: wheel", stats.memory_bytes);
    print_memory(stream, ", messages", report->peak_message_bytes);
    print_memory(stream, ", resident", (uint64_t)usage.ru_maxrss * 1024);
    fputs("\n", stream);
}
