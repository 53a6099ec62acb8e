/* SPDX-License-Identifier: MIT */
/* report.c - prints the numbers of a run, for --stats. */
#include "report.h"

#include "../kit/times.h"

#include <sys/resource.h>

#define COUNT_SIZE 32

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

/* With commas between the thousands. */
static const char *format_count(uint64_t count, char text[COUNT_SIZE]) {
    char *at = &text[COUNT_SIZE - 1];
    *at = '\0';
    unsigned digits = 0;
    do {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + count % 10);
        count /= 10;
        digits++;
    } while (count > 0);
    return at;
}

static void print_count(FILE *stream, const char *name, uint64_t count) {
    char text[COUNT_SIZE];
    fprintf(stream, "%s %s", name, format_count(count, text));
}

static void print_time(FILE *stream, const char *name, uint64_t ns) {
    char text[HTW__DURATION_FORMAT_SIZE];
    htw__duration_format(ns, text);
    fprintf(stream, "%s %s", name, text);
}

static void print_memory(FILE *stream, const char *name, uint64_t bytes) {
    if (bytes < 1 << 20)
        fprintf(stream, "%s %.1f KiB", name, (double)bytes / 1024);
    else
        fprintf(stream, "%s %.1f MiB", name, (double)bytes / (1 << 20));
}

static void print_lateness(const struct htw__report *report, FILE *stream) {
    const struct htw__histogram *lateness = &report->lateness_ns;
    print_count(stream, "early", report->early);
    if (report->released == 0) {
        fputs("\n", stream);
        return;
    }
    print_time(stream, ", lateness min", htw__histogram_min(lateness));
    print_time(stream, ", p50", htw__histogram_percentile(lateness, 50.0));
    print_time(stream, ", p99", htw__histogram_percentile(lateness, 99.0));
    print_time(stream, ", max", htw__histogram_max(lateness));
    fputs("\n", stream);
}

static void print_messages(const struct htw__report *report, FILE *stream) {
    print_count(stream, "read", report->read);
    print_count(stream, ", bad", report->bad);
    print_count(stream, ", released", report->released);
    print_count(stream, ", unreleased", report->unreleased);
    fputs("\n", stream);
    print_lateness(report, stream);
}

void htw__report_print(const struct htw__report *report, const struct htw_wheel *wheel,
                       FILE *stream) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    struct rusage usage = { 0 };
    htw_wheel_get_stats(wheel, &stats);
    getrusage(RUSAGE_SELF, &usage);
    print_messages(report, stream);
    print_count(stream, "wake-ups", report->sleeps);
    print_count(stream, " (empty", report->idle_wakes);
    print_count(stream, "), clock advances", stats.advances);
    print_count(stream, ", demotions", stats.demoted);
    print_count(stream, "\npeak pending", report->peak_pending);
    print_memory(stream, "\nmemory: wheel", stats.memory_bytes);
    print_memory(stream, ", messages", report->peak_message_bytes);
    print_memory(stream, ", resident", (uint64_t)usage.ru_maxrss * 1024);
    fputs("\n", stream);
}
