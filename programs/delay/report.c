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

static void print_lateness(const struct htw__report *report, FILE *stream) {
    const struct htw__histogram *lateness = &report->lateness_ns;
    char least[HTW__FIGURE_SIZE], middle[HTW__FIGURE_SIZE], high[HTW__FIGURE_SIZE];
    char most[HTW__FIGURE_SIZE];
    fprintf(stream, ", lateness min %s, p50 %s, p99 %s, max %s",
            htw__figure_duration(htw__histogram_min(lateness), least),
            htw__figure_duration(htw__histogram_percentile(lateness, 50.0), middle),
            htw__figure_duration(htw__histogram_percentile(lateness, 99.0), high),
            htw__figure_duration(htw__histogram_max(lateness), most));
}

void htw__report_print(const struct htw__report *report, const struct htw_wheel *wheel,
                       FILE *stream) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    struct rusage usage = { 0 };
    char wheel_bytes[HTW__FIGURE_SIZE], message_bytes[HTW__FIGURE_SIZE];
    char resident_bytes[HTW__FIGURE_SIZE];
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
    fprintf(stream, "memory: wheel %s, messages %s, resident %s\n",
            htw__figure_bytes(stats.memory_bytes, wheel_bytes),
            htw__figure_bytes(report->peak_message_bytes, message_bytes),
            htw__figure_bytes((uint64_t)usage.ru_maxrss * 1024, resident_bytes));
}
