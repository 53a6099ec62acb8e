/* SPDX-License-Identifier: MIT */
/* test_zone.c - loading time zones: names, errors, memory, threads. */
#include "../../support/failing_new.h"
#include "../../support/process.h"
#include "../../support/test_folder.h"
#include "../unit.h"

#include <htw/calendar.h>

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* cctz forgets some objects of 40 bytes where it finds no memory for what belongs to them. */
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

/* holds: calendar-6 */
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
                                         "Europe//Berlin",
                                         "Europe/Berlin/",
                                         "./UTC",
                                         "posix/posix/posix/Europe/Berlin",
                                         "CET-1CEST,M3.5.0,M10.5.0/3",
                                         "Europe/B\xc3\xa9rlin" };
    struct htw_zone *zone = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (htw_zone_create(&zone, names[i]) != -EINVAL)
            fail_msg("'%s' is accepted", names[i]);
    assert_int_equal(htw_zone_create(NULL, "UTC"), -EINVAL);
    assert_null(zone);
}

/* holds: calendar-6 */
UNIT_TEST(zone_that_does_not_exist_is_refused) {
    static const char *const names[] = { "Nowhere/Else", "Europe", "Europe/Berlin/Mitte", "UTCC" };
    struct htw_zone *zone = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (htw_zone_create(&zone, names[i]) != -ENOENT)
            fail_msg("'%s' is not refused", names[i]);
    assert_null(zone);
}

/* holds: calendar-6 */
UNIT_TEST(zone_that_meets_a_limit_of_files_can_be_loaded_later) {
    struct htw_zone *zone = NULL;
    rlim_t most = limit_descriptors(0);
    int error = htw_zone_create(&zone, "Africa/Nairobi");
    limit_descriptors(most);
    assert_int_equal(error, -EMFILE);
    assert_null(zone);
    assert_int_equal(htw_zone_create(&zone, "Africa/Nairobi"), 0);
    htw_zone_destroy(zone);
}

/* holds: calendar-6 */
UNIT_TEST(zone_with_a_damaged_file_is_refused) {
    char folder[TEST_FOLDER_SIZE], path[64];
    struct htw_zone *zone = NULL;
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/Damaged", folder);
    assert_true(test_file_write(path, "TZif, but no more"));
    setenv("TZDIR", folder, 1);
    int error = htw_zone_create(&zone, "Damaged");
    int missing = htw_zone_create(&zone, "Europe/Zurich");
    chmod(path, 0);
    int unreadable = geteuid() == 0 ? -EIO : htw_zone_create(&zone, "Damaged");
    unsetenv("TZDIR");
    assert_true(test_folder_remove(folder));
    assert_int_equal(error, -EIO);
    assert_int_equal(missing, -ENOENT);
    assert_int_equal(unreadable, -EIO);
    assert_int_equal(htw_zone_create(&zone, "Europe/Zurich"), 0);
    htw_zone_destroy(zone);
}

/* The upper and lower case of letters, slashes between them and at the end. */
static void spell(char *text, unsigned number) {
    for (const char *letter = "Europe/Berlin"; *letter != '\0'; letter++)
        if (*letter != '/') {
            *text++ = (char)(*letter ^ (number & 1 ? 'a' ^ 'A' : 0));
            number >>= 1;
        } else {
            *text++ = '/';
        }
    for (; number > 0; number--)
        *text++ = '/';
    *text = '\0';
}

static int lowest_free_descriptor(void) {
    int fd = dup(STDERR_FILENO);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* cctz keeps what it has read for each name. Users may choose the name. */
/* holds: calendar-6 */
UNIT_TEST(zone_has_one_name_and_its_other_spellings_take_no_memory) {
    struct htw_zone *zone;
    char name[64];
    assert_int_equal(htw_zone_create(&zone, "Europe/Berlin"), 0);
    htw_zone_destroy(zone);
    long blocks = failing_new_blocks();
    int descriptor = lowest_free_descriptor();
    for (unsigned i = 1; i < 40000; i++) {
        spell(name, i);
        int error = htw_zone_create(&zone, name);
        if (error != (name[13] == '/' ? -EINVAL : -ENOENT))
            fail_msg("'%s': %d", name, error);
        snprintf(name, sizeof(name), "Europe%.*s%s", (int)(i % 40) + 2,
                 "/////////////////////////////////////////", i % 2 == 0 ? "Berlin" : "Rome");
        assert_int_equal(htw_zone_create(&zone, name), -EINVAL);
    }
    assert_int_equal(htw_zone_create(&zone, "Europe/Berlin"), 0); /* and again, for nothing */
    htw_zone_destroy(zone);
    assert_int_equal(failing_new_blocks(), blocks);
    assert_int_equal(lowest_free_descriptor(), descriptor);
}

/* ---- the local time zone */

/* Where /etc/localtime is not what it is here: its link, "": there is none; NULL: as it is. */
static const char *localtime_link;

#ifdef __GLIBC__
#define WRAPPED_OPEN __wrap_open64
#define REAL_OPEN __real_open64
#else
#define WRAPPED_OPEN __wrap_open
#define REAL_OPEN __real_open
#endif

static bool is_replaced(const char *path) {
    return localtime_link != NULL && strcmp(path, "/etc/localtime") == 0;
}

int REAL_OPEN(const char *path, int flags, ...);
int WRAPPED_OPEN(const char *path, int flags, ...) {
    if (!is_replaced(path))
        return REAL_OPEN(path, flags);
    errno = ENOENT;
    return -1;
}

ssize_t __real_readlink(const char *path, char *buffer, size_t size);
ssize_t __wrap_readlink(const char *path, char *buffer, size_t size) {
    if (!is_replaced(path))
        return __real_readlink(path, buffer, size);
    size_t length = strlen(localtime_link);
    if (length == 0) {
        errno = ENOENT;
        return -1;
    }
    length = length < size ? length : size;
    memcpy(buffer, localtime_link, length);
    return (ssize_t)length;
}

/* The error, or else the offset in January 1970. */
static int local_offset(void) {
    struct htw_zone *zone = NULL;
    int error = htw_zone_create(&zone, NULL);
    if (error != 0) {
        assert_null(zone);
        return error;
    }
    int offset_s = htw_zone_offset(zone, 0);
    htw_zone_destroy(zone);
    return offset_s;
}

/* holds: calendar-6 */
UNIT_TEST(zone_that_is_local_is_that_of_the_variable_or_refused) {
    static const struct {
        const char *value;
        int offset_s; /* or error */
    } cases[] = {
        { "Asia/Kolkata", 19800 },
        { ":Asia/Kolkata", 19800 },
        { "/usr/share/zoneinfo/Asia/Tokyo", 32400 },
        { ":/usr/share/zoneinfo/Asia/Tokyo", 32400 },
        { "EST5EDT", -18000 }, /* a file has this name */
        { "UTC", 0 },
        { "Etc/UTC", 0 },
        { "", 0 },
        { ":", 0 },
        { "UTC0", -ENOENT },
        { "EST5", -ENOENT },
        { "No/Such", -ENOENT },
        { ":No/Such", -ENOENT },
        { "/no/such", -ENOENT },
        { "/", -ENOENT },
        { "/dev/null", -ENOENT },
        { "/etc/passwd", -EIO },
        { "CET-1CEST,M3.5.0,M10.5.0/3", -EINVAL },
        { "<-03>3", -EINVAL },
        { "::Asia/Kolkata", -EINVAL },
        { "../../etc/passwd", -EINVAL },
        { "Asia//Kolkata", -EINVAL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("TZ", cases[i].value, 1);
        int found = local_offset();
        if (found != cases[i].offset_s)
            fail_msg("'%s': %d", cases[i].value, found);
    }
    unsetenv("TZ");
}

/* localtime(5): where the file is missing, it is UTC. A link to a zone that is not installed is not. */
/* holds: calendar-6 */
UNIT_TEST(zone_of_the_machine_is_utc_without_a_file_and_refused_without_that_of_its_zone) {
    static const struct {
        const char *link;
        int offset_s; /* or error */
    } cases[] = {
        { "", 0 },
        { "/usr/share/zoneinfo/Etc/UTC", 0 },
        { "../usr/share/zoneinfo/UTC", 0 },
        { "/UTC", 0 },
        { "/usr/share/zoneinfo/Asia/Kolkata", -ENOENT },
        { "/usr/share/zoneinfo/NUTC", -ENOENT },
        { "UTC", -ENOENT },
    };
    char long_link[2 * PATH_MAX + 1];
    memset(long_link, 'x', sizeof(long_link) - 1);
    memcpy(long_link + sizeof(long_link) - 5, "/UTC", 5);
    unsetenv("TZ");
    assert_in_range(local_offset() + 86400, 0, 2 * 86400); /* what this machine has */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        localtime_link = cases[i].link;
        int found = local_offset();
        localtime_link = NULL;
        if (found != cases[i].offset_s)
            fail_msg("'%s': %d", cases[i].link, found);
    }
    localtime_link = long_link;
    int found = local_offset();
    localtime_link = NULL;
    assert_int_equal(found, -ENOENT);
    htw_zone_destroy(NULL);
}

/* As a container without tzdata. */
UNIT_TEST(zone_without_files_is_utc_or_refused) {
    struct htw_zone *zone;
    setenv("TZDIR", "/no/such/folder", 1);
    int utc = htw_zone_create(&zone, "Etc/UTC");
    if (utc == 0)
        htw_zone_destroy(zone);
    int other = htw_zone_create(&zone, "Africa/Lagos");
    setenv("TZ", "Africa/Lagos", 1);
    int local = local_offset();
    unsetenv("TZ");
    unsetenv("TZDIR");
    assert_int_equal(utc, 0);
    assert_int_equal(other, -ENOENT);
    assert_int_equal(local, -ENOENT);
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

/* holds: calendar-7 */
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
