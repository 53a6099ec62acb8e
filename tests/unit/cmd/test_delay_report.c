/* SPDX-License-Identifier: MIT */
/* test_delay_report.c - what `htw delay --stats` prints. getrusage() is replaced (-Wl,--wrap). */
#include "../../../programs/delay/report.h"

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

/* The report as it is now. */
static char *printed(void) {
    static char text[4096];
    FILE *stream = fmemopen(text, sizeof(text), "w");
    assert_non_null(stream);
    htw__report_print(&report, wheel, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void release(size_t size, int64_t due_ns, int64_t before_ns, int64_t after_ns) {
    htw__report_released(&report, size, due_ns, before_ns, after_ns);
}

/* The report's last line, which depends on the wheel. */
static void assert_report(const char *wanted, const char *messages, const char *resident) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    char memory[128];
    htw_wheel_get_stats(wheel, &stats);
    snprintf(memory, sizeof(memory), "memory: wheel %.1f KiB, messages %s, resident %s\n",
             (double)stats.memory_bytes / 1024, messages, resident);
    char *text = printed();
    char *last = strstr(text, "memory:");
    assert_non_null(last);
    assert_string_equal(last, memory);
    *last = '\0';
    assert_string_equal(text, wanted);
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_report_without_values_has_no_lateness) {
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
             "wake-ups 100,000 (empty 12), clock advances %llu, demotions %llu\n"
             "peak pending 5\n",
             (unsigned long long)stats.advances, (unsigned long long)stats.demoted);
    assert_report(wanted, "1.5 MiB", "1023.0 KiB");
}
