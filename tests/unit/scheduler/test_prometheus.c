/* SPDX-License-Identifier: MIT */
/* test_prometheus.c - the text for Prometheus, read by a parser that takes nothing but what the format's
   description allows and what this library promises beyond. */
#include "scheduler_fixture.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_NS (10 * MS)

enum { FAMILIES_MAX = 64 };

/* A metric with all of its samples. */
struct family {
    char name[80], type[16];
    double value;            /* of a counter or gauge; of a histogram: the sum */
    double count;            /* of a histogram */
    double last_le, last_at; /* the bucket before */
    unsigned buckets;
    bool has_value, has_count, has_infinity;
};

static struct family families[FAMILIES_MAX];
static size_t family_count;

static const char *parse_name(const char *at, char name[80]) {
    size_t length = 0;
    assert_true(isalpha((unsigned char)*at) || *at == '_' || *at == ':');
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == ':')
        length++;
    assert_true(length < 80);
    memcpy(name, at, length);
    name[length] = '\0';
    assert_memory_equal(name, "htw_", 4);
    return at + length;
}

static double parse_value(const char *text) {
    char *end;
    assert_true(isdigit((unsigned char)*text) || *text == '-');
    double value = strtod(text, &end);
    assert_true(end != text);
    assert_int_equal(*end, '\0');
    return value;
}

static bool ends_with(const char *name, const char *suffix) {
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

/* "# HELP name text": begins a family. */
static void parse_help(const char *line) {
    struct family *family = &families[family_count++];
    assert_true(family_count <= FAMILIES_MAX);
    *family = (struct family) { .last_le = -1 };
    const char *rest = parse_name(line + strlen("# HELP "), family->name);
    assert_int_equal(*rest, ' ');
    assert_true(strlen(rest) > 2);
    for (size_t i = 0; i + 1 < family_count; i++)
        assert_string_not_equal(families[i].name, family->name);
}

/* "# TYPE name type": directly behind its help. */
static void parse_type(const char *line) {
    struct family *family = &families[family_count - 1];
    char name[80];
    const char *rest = parse_name(line + strlen("# TYPE "), name);
    assert_string_equal(name, family->name);
    assert_int_equal(family->type[0], '\0');
    assert_int_equal(*rest, ' ');
    snprintf(family->type, sizeof(family->type), "%s", rest + 1);
    bool counter = strcmp(family->type, "counter") == 0;
    assert_true(counter || strcmp(family->type, "gauge") == 0 ||
                strcmp(family->type, "histogram") == 0);
    assert_true(counter == ends_with(name, "_total"));
    assert_false(ends_with(name, "_bucket") || ends_with(name, "_sum") ||
                 ends_with(name, "_count"));
}

/* `{le="0.5"} 17` */
static void parse_bucket(struct family *family, const char *rest) {
    char limit[32];
    int length = 0;
    assert_int_equal(sscanf(rest, "{le=\"%31[^\"]\"} %n", limit, &length), 1);
    assert_true(length > 0);
    double le = strcmp(limit, "+Inf") == 0 ? INFINITY : parse_value(limit);
    double value = parse_value(rest + length);
    assert_true(le > family->last_le);
    assert_true(value >= family->last_at); /* cumulative */
    assert_false(family->has_infinity || family->has_value || family->has_count);
    family->last_le = le;
    family->last_at = value;
    family->has_infinity = isinf(le);
    family->buckets++;
}

static void parse_sample(const char *line) {
    assert_true(family_count > 0);
    struct family *family = &families[family_count - 1];
    char name[80];
    const char *rest = parse_name(line, name), *suffix = name + strlen(family->name);
    assert_memory_equal(name, family->name, strlen(family->name));
    if (strcmp(suffix, "_bucket") == 0) {
        assert_string_equal(family->type, "histogram");
        parse_bucket(family, rest);
        return;
    }
    assert_int_equal(*rest, ' ');
    double value = parse_value(rest + 1);
    if (strcmp(suffix, "_count") == 0) {
        assert_false(family->has_count);
        family->has_count = true;
        family->count = value;
        return;
    }
    assert_string_equal(suffix, strcmp(family->type, "histogram") == 0 ? "_sum" : "");
    assert_false(family->has_value);
    family->has_value = true;
    family->value = value;
}

static void finish(const struct family *family) {
    assert_true(family->has_value);
    if (strcmp(family->type, "histogram") != 0)
        return;
    assert_true(family->has_infinity && family->has_count);
    assert_true(family->buckets > 5);
    assert_true(family->last_at >= family->count && family->last_at <= family->count);
}

static void parse(struct htw_scheduler *scheduler) {
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(htw_scheduler_prometheus(scheduler, stream), 0);
    assert_int_equal(fclose(stream), 0);
    assert_true(size > 0);
    assert_int_equal(text[size - 1], '\n');
    assert_int_equal(strlen(text), size);
    assert_null(strstr(text, "\n\n"));
    family_count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "# HELP ", 7) == 0)
            parse_help(line);
        else if (strncmp(line, "# TYPE ", 7) == 0)
            parse_type(line);
        else
            parse_sample(line);
    for (size_t i = 0; i < family_count; i++)
        finish(&families[i]);
    free(text);
}

static const struct family *family_of(const char *name) {
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    fail_msg("%s is missing", name);
    return NULL;
}

static void assert_value(const char *name, uint64_t value) {
    assert_int_equal((uint64_t)family_of(name)->value, value);
}

static void assert_histogram(const char *name, const struct htw_distribution *distribution) {
    const struct family *family = family_of(name);
    assert_string_equal(family->type, "histogram");
    assert_int_equal((uint64_t)family->count, distribution->count);
    assert_true(fabs(family->value - (double)distribution->sum_ns / 1e9) < 1e-8);
}

static void assert_agrees(struct scheduler_fixture *f) {
    struct htw_scheduler_stats stats = scheduler_stats(f);
    parse(f->scheduler);
    assert_value("htw_scheduled_total", stats.scheduled);
    assert_value("htw_fired_total", stats.fired);
    assert_value("htw_cancelled_total", stats.cancelled);
    assert_value("htw_handed_back_total", stats.handed_back);
    assert_value("htw_runs_total", stats.runs);
    assert_value("htw_late_total", stats.late);
    assert_value("htw_missed_periods_total", stats.missed);
    assert_value("htw_refused_total", stats.refused);
    assert_value("htw_moved_total", stats.moved);
    assert_value("htw_demoted_total", stats.demoted);
    assert_value("htw_wakeups_total", stats.wakeups);
    assert_value("htw_empty_wakeups_total", stats.empty_wakeups);
    assert_value("htw_pending", stats.pending);
    assert_value("htw_running", stats.running);
    assert_value("htw_memory_bytes", stats.memory_bytes);
    assert_histogram("htw_lateness_seconds", &stats.lateness);
    assert_histogram("htw_callback_seconds", &stats.callback);
    assert_int_equal(family_count, 17);
}

LATER_TEST(prometheus_of_a_new_scheduler_is_well_formed) {
    assert_agrees(f);
}

LATER_TEST(prometheus_after_some_life_agrees_with_the_stats) {
    f->count = 500;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 500; i++) {
        arm(f, i, (i + 1) * DELAY_NS);
    }
    for (unsigned i = 0; i < 500; i += 5)
        assert_int_equal(cancel(f, i), HTW_CANCELLED);
    reschedule(f, 1, HTW_SECOND);
    assert_int_equal(htw_schedule_every(f->scheduler, 0, DELAY_NS, HTW_REPEAT_SKIP, probe_run,
                                        &f->probes[0], NULL),
                     0);
    advance(f, 33 * DELAY_NS);
    htw_scheduler_set_time(f->scheduler, START_NS + 333 * DELAY_NS);
    assert_agrees(f);
    assert_true(family_of("htw_missed_periods_total")->value > 0);
    assert_true(family_of("htw_late_total")->value > 0);
}

LATER_TEST(prometheus_to_a_stream_that_fails_answers_eio) {
    for (unsigned unbuffered = 0; unbuffered < 2; unbuffered++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        if (unbuffered)
            setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(htw_scheduler_prometheus(f->scheduler, full), -EIO);
        fclose(full);
    }
    FILE *null = fopen("/dev/null", "r"); /* not for writing */
    assert_non_null(null);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, null), -EIO);
    fclose(null);
}

LATER_TEST(prometheus_given_wrongly_is_refused) {
    assert_int_equal(htw_scheduler_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, NULL), -EINVAL);
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, stdout), -ENOMEM);
    failing_allocator_relent(&f->memory);
}
