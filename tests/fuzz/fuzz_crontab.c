/* SPDX-License-Identifier: MIT */
/*
 * fuzz_crontab.c - the table of `htw cron`: cron expressions, names of time zones, and the instants of the jobs. Then it is
 * loaded, and once more with its second half first.
 */
/* holds: calendar-1, calendar-5 */
#include "fuzz.h"

#include "../../programs/cron/cron.h"

/* Later instants come after earlier ones, and backwards the same ones come. */
static void check_instants(const struct htw__cron_job *job, int64_t at_ns) {
    int64_t last_ns = INT64_MIN;
    for (unsigned i = 0; i < 4; i++) {
        int64_t next_ns = htw_calendar_next(&job->calendar, job->zone, at_ns);
        FUZZ_CHECK(next_ns > at_ns || next_ns == HTW_NEVER_NS);
        if (next_ns == HTW_NEVER_NS)
            break;
        FUZZ_CHECK(htw_calendar_next(&job->calendar, job->zone, next_ns - 1) == next_ns);
        FUZZ_CHECK(last_ns == INT64_MIN ||
                   htw_calendar_previous(&job->calendar, job->zone, next_ns) == last_ns);
        last_ns = at_ns = next_ns;
    }
}

/* What is written is read as the same. */
static void check_text(const struct htw_calendar *calendar) {
    struct htw_calendar again;
    char text[HTW_CALENDAR_TEXT_MAX];
    int length = htw_calendar_format(calendar, text, sizeof(text));
    FUZZ_CHECK(length > 0 && (size_t)length < sizeof(text) && (size_t)length == strlen(text));
    FUZZ_CHECK(htw_calendar_cron(&again, text, NULL) == 0);
    FUZZ_CHECK(memcmp(calendar, &again, sizeof(again)) == 0);
}

static void check_job(const struct htw__cron_job *job, unsigned line, size_t size) {
    FUZZ_CHECK(job->line > line);
    FUZZ_CHECK(job->node.size <= size + 64); /* of the line, and of the zone of an earlier one */
    FUZZ_CHECK(*job->command != '\0' && strpbrk(job->command, "\n") == NULL);
    FUZZ_CHECK(htw_calendar_next(&job->calendar, job->zone, 0) != HTW_NEVER_NS);
}

/* Of one job, from an instant that the input has. */
static void check_calendar(const struct htw__cron_job *job, const uint8_t *data, size_t size) {
    int64_t at_ns = 0;
    check_instants(job, at_ns);
    memcpy(&at_ns, data, size < sizeof(at_ns) ? size : sizeof(at_ns));
    check_instants(job, at_ns);
    check_text(&job->calendar);
}

static size_t count_jobs(const struct htw__cron_job *job) {
    size_t count = 0;
    for (; job != NULL; job = job->next)
        count++;
    return count;
}

/* The second half of the lines, and then the first. */
static void swap_halves(const uint8_t *data, size_t size, uint8_t *swapped) {
    size_t half = size / 2;
    while (half < size && half > 0 && data[half - 1] != '\n')
        half++;
    memcpy(swapped, data + half, size - half);
    memcpy(swapped + size - half, data, half);
}

static void check_reload(const uint8_t *data, size_t size, size_t jobs) {
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    uint8_t *swapped = malloc(size + 1);
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    if (swapped == NULL || htw_scheduler_create(&scheduler, &options) != 0)
        fuzz_fail("no memory");
    struct htw__cron cron = { .scheduler = scheduler };
    cron.path = fuzz_file(data, size);
    FUZZ_CHECK(htw__cron_load(&cron));
    FUZZ_CHECK(count_jobs(cron.jobs) == jobs && htw_pending(scheduler) == jobs);
    swap_halves(data, size, swapped);
    (void)fuzz_file(swapped, size);
    if (htw__cron_load(&cron)) /* a zone may be set after its jobs now */
        jobs = count_jobs(cron.jobs);
    FUZZ_CHECK(count_jobs(cron.jobs) == jobs && htw_pending(scheduler) == jobs);
    htw__cron_fini(&cron);
    FUZZ_CHECK(htw_pending(scheduler) == 0 && htw_scheduler_destroy(scheduler) == 0);
    free(swapped);
}

static void run(const uint8_t *data, size_t size) {
    struct htw__cron_job *jobs;
    unsigned line = 0;
    bool is_right = htw__cron_table_read(fuzz_file(data, size), false, &jobs);
    FUZZ_CHECK(is_right == (jobs != NULL));
    for (struct htw__cron_job *job = jobs; job != NULL; job = job->next) {
        check_job(job, line, size);
        line = job->line;
    }
    if (is_right)
        check_calendar(jobs, data, size);
    size_t count = count_jobs(jobs);
    htw__cron_table_free(jobs);
    if (is_right)
        check_reload(data, size, count);
}

static const struct fuzz_attack attacks[] = {
    { "short jobs", "", "", { "* * * * * a\n" } },
    { "jobs that are all different", "", "", { "* * * * * a %zu\n" } },
    { "a long job", "* * * * * a", "", { "a" } },
    { "a long time", "0 0 * * 1", "", { ",1" } },
    { "jobs of steps", "", "", { "*/1,*/1 */1,*/1 */1,*/1 */1,*/1 */1,*/1 a\n" } },
    { "jobs that never come", "", "", { "0 0 30 2 * a\n" } },
    { "jobs that come once in 28 years", "TZ=Australia/Lord_Howe\n", "", { "0 0 29 2 */7 a\n" } },
    { "jobs of any hour that come rarely", "TZ=Africa/Casablanca\n", "", { "0 * 29 2 */7 a\n" } },
    { "zones", "", "", { "TZ=Europe/Dublin\n" } },
    { "zones that are not there", "", "", { "TZ=%zu\n" } },
    { "zones, one longer than the other", "TZ=Europe", "", { "/" } },
    { "spellings of one zone",
      "",
      "",
      { "TZ=Europe//Dublin\nTZ=Europe///Dublin\n",
        "TZ=/Europe/Dublin\nTZ=Europe/Dublin/\nTZ=Europe/./Dublin\n" } },
    { "offsets", "", "", { "TZ=UTC+%zu\nTZ=Fixed/UTC%zu\n" } },
    { "fields", "", "", { "* " } },
    { "lines that are wrong", "", "", { "*\n" } },
    { "empty lines", "", "", { "\n" } },
    { "comments", "", "", { "#\n" } },
    { "blanks", "", "", { " " } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "crontab",
    .run = run,
    .memory = { 2 << 20, 200 },
    .steps = { 500000, 1200 },
    .kept = 256 << 10, /* cctz keeps a zone that it has read */
    .attacks = attacks,
};
