/* SPDX-License-Identifier: MIT */
/* test_zone.c - loading time zones: names, errors, memory, threads. */
#include "../../support/failing_new.h"
#include "../unit.h"

#include <htw/calendar.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* cctz forgets some objects of 40 bytes where it finds no memory for what belongs to them. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcctz";
}

static int open_with(const char *name, int successes) {
    struct htw_zone *zone = NULL;
    failing_new_after(successes);
    int error = htw_zone_create(&zone, name);
    failing_new_after(-1);
    assert_true((error == 0) == (zone != NULL));
    htw_zone_destroy(zone);
    return error;
}

UNIT_TEST(zone_that_finds_no_memory_is_refused_and_loads_later) {
    static const char *const names[] = { "Europe/Lisbon", "Asia/Tokyo", "UTC" };
    if (!failing_new_works())
        skip();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        int successes = 0;
        while (open_with(names[i], successes) == -ENOMEM)
            successes++;
        assert_int_equal(open_with(names[i], successes), 0);
        assert_true(successes > 0);
    }
}

/* ---- names and files */

UNIT_TEST(zone_with_a_name_that_is_none_is_refused) {
    static const char *const names[] = { "",
                                         "/usr/share/zoneinfo/UTC",
                                         "../zoneinfo/UTC",
                                         "Europe/../UTC",
                                         "Europe/Berlin ",
                                         ":UTC",
                                         "CET-1CEST,M3.5.0,M10.5.0/3",
                                         "Europe/B\xc3\xa9rlin" };
    struct htw_zone *zone = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (htw_zone_create(&zone, names[i]) != -EINVAL)
            fail_msg("'%s' is accepted", names[i]);
    assert_int_equal(htw_zone_create(NULL, "UTC"), -EINVAL);
    assert_null(zone);
}

UNIT_TEST(zone_that_does_not_exist_is_refused) {
    static const char *const names[] = { "Nowhere/Else", "Europe", "Europe/Berlin/Mitte", "UTCC" };
    struct htw_zone *zone = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (htw_zone_create(&zone, names[i]) != -ENOENT)
            fail_msg("'%s' is not refused", names[i]);
    assert_null(zone);
}

UNIT_TEST(zone_that_meets_a_limit_of_files_can_be_loaded_later) {
    struct htw_zone *zone = NULL;
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int error = htw_zone_create(&zone, "Africa/Nairobi");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(error, -EMFILE);
    assert_null(zone);
    assert_int_equal(htw_zone_create(&zone, "Africa/Nairobi"), 0);
    htw_zone_destroy(zone);
}

UNIT_TEST(zone_with_a_damaged_file_is_refused) {
    char folder[] = "/tmp/htw-zones-XXXXXX", path[64];
    struct htw_zone *zone = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/Damaged", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("TZif, but no more", file);
    fclose(file);
    setenv("TZDIR", folder, 1);
    int error = htw_zone_create(&zone, "Damaged");
    int missing = htw_zone_create(&zone, "Europe/Zurich");
    chmod(path, 0);
    int unreadable = geteuid() == 0 ? -EIO : htw_zone_create(&zone, "Damaged");
    unsetenv("TZDIR");
    unlink(path);
    rmdir(folder);
    assert_int_equal(error, -EIO);
    assert_int_equal(missing, -ENOENT);
    assert_int_equal(unreadable, -EIO);
    assert_int_equal(htw_zone_create(&zone, "Europe/Zurich"), 0);
    htw_zone_destroy(zone);
}

UNIT_TEST(zone_that_is_local_follows_the_variable_of_the_environment) {
    struct htw_zone *zone;
    setenv("TZ", "Asia/Kolkata", 1);
    assert_int_equal(htw_zone_create(&zone, NULL), 0);
    assert_int_equal(htw_zone_offset(zone, 0), 19800);
    htw_zone_destroy(zone);
    unsetenv("TZ");
    assert_int_equal(htw_zone_create(&zone, NULL), 0);
    htw_zone_destroy(zone);
    htw_zone_destroy(NULL);
}

UNIT_TEST(zone_offset_is_that_of_the_instant) {
    struct htw_zone *zone;
    assert_int_equal(htw_zone_create(&zone, "Europe/Berlin"), 0);
    int64_t change_ns = INT64_C(1711846800) * HTW_SECOND; /* 2024-03-31 01:00 UTC */
    assert_int_equal(htw_zone_offset(zone, change_ns - 1), 3600);
    assert_int_equal(htw_zone_offset(zone, change_ns), 7200);
    assert_int_equal(htw_zone_offset(NULL, change_ns), 0);
    htw_zone_destroy(zone);
}

/* ---- threads that load, use and destroy the same zones */

static void *use_zones(void *arg) {
    static const char *const names[] = { "America/Sao_Paulo", "Asia/Seoul", "Europe/Rome",
                                         "Africa/Cairo" };
    const struct htw_calendar *calendar = arg;
    int64_t sum = 0;
    for (unsigned i = 0; i < 400; i++) {
        struct htw_zone *zone;
        if (htw_zone_create(&zone, names[i % COUNT_OF(names)]) != 0)
            return NULL;
        for (int64_t at_ns = 0; at_ns < 3000 * HTW_DAY; at_ns += 97 * HTW_DAY)
            sum += htw_calendar_next(calendar, zone, at_ns) / HTW_SECOND;
        htw_zone_destroy(zone);
    }
    return (void *)(intptr_t)sum;
}

UNIT_TEST(zone_and_calendar_can_be_used_by_threads_at_once) {
    pthread_t threads[4];
    void *sums[COUNT_OF(threads)];
    struct htw_calendar calendar;
    assert_int_equal(htw_calendar_daily(&calendar, 2, 30, 0), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_zones, &calendar), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], &sums[i]);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_non_null(sums[i]);
        assert_ptr_equal(sums[i], sums[0]);
    }
}
