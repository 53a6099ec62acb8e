/* SPDX-License-Identifier: MIT */
/* report.c - prints the numbers of a run, for --stats. */
#include "report.h"

#include "../duration.h"

#include <sys/resource.h>

#define ROWS 10u
#define BAR_COLUMNS 40u
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

void htw__report_released(struct htw__report *report, size_t message_bytes, struct htw__time due,
                          struct htw__time before, struct htw__time after) {
    report->message_bytes -= message_bytes;
    report->released++;
    if (htw__time_is_before(before, due))
        report->early++;
    int64_t lateness_ns = htw__time_to_ns(htw__time_subtract(after, due));
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

/* How the lateness is divided into rows; what lies beyond the last belongs to it as well. */
struct scale {
    uint64_t first_ns;
    uint64_t step_ns;
    size_t rows;
    bool has_rest; /* the last row holds all that lies beyond the others */
    uint64_t counts[ROWS];
};

/*
 * Round steps (1, 2, 5, 10, ...) that spread all but the latest hundredth over the rows,
 * and one more row for those: a few late messages must not push the others into one row.
 */
static void choose_scale(const struct htw__histogram *lateness, struct scale *scale) {
    static const uint64_t mantissas[] = { 1, 2, 5 };
    uint64_t min_ns = htw__histogram_min(lateness);
    uint64_t most_ns = htw__histogram_percentile(lateness, 99.0);
    uint64_t power = 1;
    for (size_t i = 0;; i = (i + 1) % 3) {
        scale->step_ns = mantissas[i] * power;
        scale->first_ns = min_ns / scale->step_ns * scale->step_ns;
        scale->rows = (size_t)((most_ns - scale->first_ns) / scale->step_ns) + 1;
        /* Steps too fine for the three digits of the labels would repeat them. */
        if (scale->rows < ROWS && scale->step_ns * 100 >= scale->first_ns)
            break;
        power = i == 2 ? power * 10 : power;
    }
    scale->has_rest =
        htw__histogram_max(lateness) >= scale->first_ns + scale->rows * scale->step_ns;
    scale->rows += scale->has_rest;
}

static void fill_rows(const struct htw__histogram *lateness, struct scale *scale) {
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    while (htw__histogram_next(lateness, &cursor, &bucket)) {
        uint64_t low = bucket.low > scale->first_ns ? bucket.low : scale->first_ns;
        uint64_t row = (low - scale->first_ns) / scale->step_ns;
        scale->counts[row < scale->rows ? row : scale->rows - 1] += bucket.count;
    }
}

static void print_row(FILE *stream, const struct scale *scale, size_t row, uint64_t most) {
    static const char bar[BAR_COLUMNS + 1] = "########################################";
    char from[HTW__DURATION_FORMAT_SIZE];
    char count[COUNT_SIZE];
    uint64_t from_ns = scale->first_ns + row * scale->step_ns;
    htw__duration_format(from_ns, from);
    uint64_t columns = (scale->counts[row] * BAR_COLUMNS + most - 1) / most;
    bool is_rest = scale->has_rest && row + 1 == scale->rows;
    fprintf(stream, "  %s %9s %14s%s%.*s\n", is_rest ? "over" : "from", from,
            format_count(scale->counts[row], count), columns > 0 ? "  " : "", (int)columns, bar);
}

static void print_histogram(const struct htw__histogram *lateness, FILE *stream) {
    struct scale scale = { 0 };
    choose_scale(lateness, &scale);
    fill_rows(lateness, &scale);
    uint64_t most = 1;
    for (size_t row = 0; row < scale.rows; row++)
        if (scale.counts[row] > most)
            most = scale.counts[row];
    for (size_t row = 0; row < scale.rows; row++)
        print_row(stream, &scale, row, most);
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
    print_histogram(lateness, stream);
}

void htw__report_print_messages(const struct htw__report *report, FILE *stream) {
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
    htw__report_print_messages(report, stream);
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
