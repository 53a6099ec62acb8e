/* SPDX-License-Identifier: MIT */
/* test_delay_report.c - what `htw delay --stats` prints. getrusage() is replaced (-Wl,--wrap). */
#include "../../../src/cmd/delay/report.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct htw__report report; /* too large for the stack */
static struct htw_wheel *wheel;
static long resident_kib;

int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage) {
    assert_int_equal(who, RUSAGE_SELF);
    *usage = (struct rusage) { .ru_maxrss = resident_kib };
    return 0;
}

static void set_up(void) {
    htw__report_init(&report);
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
}

static void tear_down(void) {
    htw_wheel_destroy(wheel);
}

/* The report as it is now, to be freed. */
static char *printed_now(void) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    htw__report_print(&report, wheel, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void release(size_t size, int64_t due_ns, int64_t before_ns, int64_t after_ns) {
    htw__report_released(&report, size, htw__time_of(0, due_ns), htw__time_of(0, before_ns),
                         htw__time_of(0, after_ns));
}

/* The report on messages that were late by each of these; to be freed. */
static char *printed(const int64_t *late_ns, size_t count) {
    htw__report_init(&report);
    for (size_t i = 0; i < count; i++)
        release(1, 1000, 1000 + late_ns[i], 1000 + late_ns[i]);
    return printed_now();
}

/* The report's last line, which depends on the wheel. */
static void assert_report(const char *wanted, const char *messages, const char *resident) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    char memory[128];
    htw_wheel_get_stats(wheel, &stats);
    snprintf(memory, sizeof(memory), "memory: wheel %.1f KiB, messages %s, resident %s\n",
             (double)stats.memory_bytes / 1024, messages, resident);
    char *text = printed_now();
    char *last = strstr(text, "memory:");
    assert_non_null(last);
    assert_string_equal(last, memory);
    *last = '\0';
    assert_string_equal(text, wanted);
    free(text);
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_without_values_has_no_picture) {
    resident_kib = 1024;
    assert_report("read 0, bad 0, released 0, unreleased 0\n"
                  "early 0\n"
                  "wake-ups 0 (empty 0), clock advances 0, demotions 0\n"
                  "peak pending 0\n",
                  "0.0 KiB", "1.0 MiB");
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_names_each_number) {
    struct htw_timer timer;
    htw_timer_init(&timer);
    assert_int_equal(htw_wheel_schedule(wheel, &timer, 1000), 0);
    assert_ptr_equal(htw_wheel_poll(wheel, 1000), &timer);
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    htw_wheel_get_stats(wheel, &stats);
    assert_true(stats.advances > 0 && stats.advances < 1000 && stats.demoted < 1000);
    assert_int_not_equal(stats.advances, stats.demoted);
    report.read = 1234567;
    report.bad = 999;
    report.unreleased = 1000;
    report.sleeps = 100000;
    report.idle_wakes = 12;
    resident_kib = 1023;
    htw__report_accepted(&report, 1024 * 1024, 3);
    htw__report_accepted(&report, 512 * 1024, 5);
    release(1024 * 1024, 5000, 4999, 4999); /* early */
    release(1024, 5000, 5000, 5002);
    htw__report_accepted(&report, 1024, 4);
    assert_int_equal(report.message_bytes, 512 * 1024);
    char wanted[1024];
    snprintf(wanted, sizeof(wanted),
             "read 1,234,567, bad 999, released 2, unreleased 1,000\n"
             "early 1, lateness min 0 ns, p50 0 ns, p99 2 ns, max 2 ns\n"
             "  from      0 ns              1  ########################################\n"
             "  from      1 ns              0\n"
             "  from      2 ns              1  ########################################\n"
             "wake-ups 100,000 (empty 12), clock advances %llu, demotions %llu\n"
             "peak pending 5\n",
             (unsigned long long)stats.advances, (unsigned long long)stats.demoted);
    assert_report(wanted, "1.5 MiB", "1023.0 KiB");
}

/* The last row takes a few stragglers; a bar is rounded up, so that each that counts is seen. */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_puts_stragglers_into_one_row) {
    static int64_t late_ns[1000];
    for (size_t i = 0; i < 1000; i++)
        late_ns[i] = i < 500 ? 3 : i < 520 ? 4 : i < 995 ? 5 : 1000000 + (int64_t)i;
    char *text = printed(late_ns, 1000);
    assert_non_null(
        strstr(text, "early 0, lateness min 3 ns, p50 3 ns, p99 5 ns, max 1.00 ms\n"
                     "  from      3 ns            500  ########################################\n"
                     "  from      4 ns             20  ##\n"
                     "  from      5 ns            475  ######################################\n"
                     "  over      6 ns              5  #\n"
                     "wake-ups"));
    free(text);
}

/* Up to nine rows, by round steps: ten rows would be one too many with that of the stragglers. */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_takes_the_finest_round_step_of_nine_rows) {
    static const struct {
        int64_t last_ns;
        const char *second;
        const char *last;
    } cases[] = {
        { 8, "  from      1 ns ", "  from      8 ns " },
        { 9, "  from      2 ns ", "  from      8 ns " },
        { 17, "  from      2 ns ", "  from     16 ns " },
        { 18, "  from      5 ns ", "  from     15 ns " },
        { 44, "  from      5 ns ", "  from     40 ns " },
        { 45, "  from     10 ns ", "  from     40 ns " },
        { 89, "  from     10 ns ", "  from     80 ns " },
        { 90, "  from     20 ns ", "  from     80 ns " },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t late_ns[] = { 0, cases[i].last_ns };
        char *text = printed(late_ns, 2);
        assert_non_null(strstr(text, cases[i].second));
        char *last = strstr(text, cases[i].last);
        assert_non_null(last);
        assert_true(strstr(last, "\nwake-ups") == strchr(last, '\n'));
        assert_null(strstr(text, "over"));
        free(text);
    }
}

UNIT_TEST_BETWEEN(set_up, tear_down,
                  delay_report_of_a_lateness_beyond_the_range_takes_the_greatest) {
    const struct htw__time late = { INT64_MAX / 1000000000 * 4, 0 };
    htw__report_init(&report);
    htw__report_released(&report, 1, htw__time_of(0, 0), late, late);
    char *text = printed_now();
    assert_true(htw__histogram_max(&report.lateness_ns) == INT64_MAX);
    free(text);
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_begins_its_picture_at_a_round_step) {
    int64_t late_ns[100];
    for (size_t i = 0; i < 100; i++)
        late_ns[i] = 5340000 + (int64_t)i * 1000;
    char *text = printed(late_ns, 100);
    assert_non_null(strstr(text, "  from   5.30 ms            100  ###"));
    assert_non_null(strstr(text, "released 100, unreleased 0\n"));
    free(text);
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_takes_no_step_too_fine_for_its_labels) {
    const int64_t late_ns = 101;
    char *text = printed(&late_ns, 1);
    assert_non_null(
        strstr(text, "  from    100 ns              1  ###")); /* steps of 2 ns, not of 1 */
    free(text);
}
