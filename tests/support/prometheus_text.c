/* SPDX-License-Identifier: MIT */
/* prometheus_text.c - reads the text for Prometheus. */
#include "prometheus_text.h"

#include "../unit/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>

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

static FILE *stream;
static char *text;
static size_t size;

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

static double parse_value(const char *digits) {
    char *end;
    assert_true(isdigit((unsigned char)*digits) || *digits == '-');
    double value = strtod(digits, &end);
    assert_true(end != digits);
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
    bool has_labels = *rest == '{';
    if (has_labels)
        rest = strchr(rest, '}') + 1;
    assert_int_equal(*rest, ' ');
    double value = parse_value(rest + 1);
    if (strcmp(suffix, "_count") == 0) {
        assert_false(family->has_count);
        family->has_count = true;
        family->count = value;
        return;
    }
    assert_string_equal(suffix, strcmp(family->type, "histogram") == 0 ? "_sum" : "");
    assert_true(has_labels || !family->has_value);
    family->has_value = true;
    family->value += value;
}

static void finish(const struct family *family) {
    assert_true(family->has_value);
    if (strcmp(family->type, "histogram") != 0)
        return;
    assert_true(family->has_infinity && family->has_count);
    assert_true(family->buckets > 5);
    assert_true(family->last_at >= family->count && family->last_at <= family->count);
}

FILE *prometheus_text_begin(void) {
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    return stream;
}

FILE *prometheus_text_bad_stream(unsigned which) {
    if (which == 2)
        return fopen("/dev/null", "r"); /* not for writing */
    FILE *full = which < 2 ? fopen("/dev/full", "w") : NULL;
    if (which == 1)
        setvbuf(full, NULL, _IONBF, 0);
    return full;
}

void prometheus_text_end(void) {
    char *rest = NULL;
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

size_t prometheus_text_count(void) {
    return family_count;
}

static const struct family *family_of(const char *name) {
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    fail_msg("%s is missing", name);
    return NULL;
}

uint64_t prometheus_text_value(const char *name) {
    return (uint64_t)family_of(name)->value;
}

void prometheus_text_assert_histogram(const char *name,
                                      const struct htw_distribution *distribution) {
    const struct family *family = family_of(name);
    assert_string_equal(family->type, "histogram");
    assert_int_equal((uint64_t)family->count, distribution->count);
    assert_true(fabs(family->value - (double)distribution->sum_ns / 1e9) < 1e-8);
}
