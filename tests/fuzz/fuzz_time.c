/* SPDX-License-Identifier: MIT */
/*
 * fuzz_time.c - times and numbers as commands read them: durations, instants, counts and sizes. What is
 * written is read as the same.
 */
#include "fuzz.h"

#include "../../programs/kit/count.h"
#include "../../programs/kit/figures.h"
#include "../../programs/kit/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED INT64_C(-7777)

static void check_duration(const char *text, size_t size) {
    int64_t ns = UNTOUCHED, again;
    char written[64];
    if (htw__duration_parse(text, size, &ns) != NULL) {
        FUZZ_CHECK(ns == UNTOUCHED);
        return;
    }
    FUZZ_CHECK(ns >= 0 && ns < INT64_MAX);
    int length = snprintf(written, sizeof(written), "%" PRId64 "s%" PRId64 "ns", ns / HTW_SECOND,
                          ns % HTW_SECOND);
    FUZZ_CHECK(htw__duration_parse(written, (size_t)length, &again) == NULL && again == ns);
    for (int64_t tick_ns = 1; tick_ns <= HTW_DAY; tick_ns *= 86400) {
        uint64_t before = htw__time_tick_before(ns, tick_ns),
                 after = htw__time_tick_after(ns, tick_ns);
        FUZZ_CHECK(before == after || before + 1 == after);
        FUZZ_CHECK(htw__time_of_tick(after, tick_ns) >= ns);
    }
    htw__figure_duration((uint64_t)ns, written);
    FUZZ_CHECK(strlen(written) < HTW__FIGURE_SIZE);
}

static void check_instant(const char *text, size_t size) {
    int64_t ns = UNTOUCHED, again;
    char written[HTW__INSTANT_FORMAT_SIZE];
    if (htw__instant_parse(text, size, &ns) != NULL) {
        FUZZ_CHECK(ns == UNTOUCHED);
        return;
    }
    size_t length = htw__instant_format(0, ns, written);
    FUZZ_CHECK(length == strlen(written) && length < sizeof(written));
    FUZZ_CHECK(htw__instant_parse(written, length, &again) == NULL);
    FUZZ_CHECK(again <= ns && ns - again < HTW_MICROSECOND);
}

static void check_numbers(const char *text) {
    uint64_t count = 7, size = 7;
    if (htw__count_parse(text, &count)) {
        char written[32];
        const char *digits = text + strspn(text, "0");
        snprintf(written, sizeof(written), "%" PRIu64, count);
        FUZZ_CHECK(strcmp(*digits == '\0' ? "0" : digits, written) == 0);
        FUZZ_CHECK(htw__size_parse(text, &size) && size == count);
    } else {
        FUZZ_CHECK(count == 7);
        FUZZ_CHECK(htw__size_parse(text, &size) || size == 7);
    }
}

static void run(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    check_duration((const char *)data, size);
    check_instant((const char *)data, size);
    check_numbers(text);
    free(text);
}

static const struct fuzz_attack attacks[] = {
    { "digits", "", "", { "9" } },
    { "zeros", "", "", { "0" } },
    { "digits after the point", "0.", "", { "9" } },
    { "digits, and an exponent", "0.", "e3", { "1" } },
    { "zeros, and an exponent", "", "e-3", { "0" } },
    { "an exponent", "1e", "", { "9" } },
    { "a negative exponent", "1e-", "", { "9" } },
    { "units", "", "", { "1ns" } },
    { "fractions", "", "", { ".1ns" } },
    { "exponents", "", "", { "1e-9s" } },
    { "letters", "1", "", { "s" } },
    { "a fraction of a second", "2026-01-01T00:00:00.", "Z", { "1" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "time",
    .run = run,
    .memory = { 8192, 2 },
    .steps = { 5000, 80 },
    .kept = 4096, /* what the C library keeps for dates */
    .attacks = attacks,
};
