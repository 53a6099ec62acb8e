/* SPDX-License-Identifier: MIT */
/*
 * fuzz_time.c - times and numbers as commands read them: durations, instants, counts and sizes. What is
 * written is read as the same.
 */
#include "fuzz.h"

#include "../../src/cmd/count.h"
#include "../../src/cmd/duration.h"
#include "../../src/cmd/instant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct htw__time untouched = { -7, 7 };

static bool is_same(struct htw__time a, struct htw__time b) {
    return a.s == b.s && a.ns == b.ns;
}

static void check_duration(const char *text, size_t size) {
    struct htw__time time = untouched, again;
    char written[64];
    if (htw__duration_parse(text, size, &time) != NULL) {
        FUZZ_CHECK(is_same(time, untouched));
        return;
    }
    FUZZ_CHECK(time.s >= 0 && time.ns >= 0 && time.ns < HTW__NS_PER_S);
    FUZZ_CHECK(!htw__time_is_before(htw__time_of(HTW__SECONDS_MAX, 0), time));
    int length = snprintf(written, sizeof(written), "%" PRId64 "s%" PRId64 "ns", time.s, time.ns);
    FUZZ_CHECK(htw__duration_parse(written, (size_t)length, &again) == NULL &&
               is_same(again, time));
    for (int64_t tick_ns = 1; tick_ns <= HTW__NS_PER_DAY; tick_ns *= 86400) {
        uint64_t before = htw__time_tick_before(time, tick_ns),
                 after = htw__time_tick_after(time, tick_ns);
        FUZZ_CHECK(before == after || before + 1 == after);
        if (after != HTW_NEVER_TICK)
            FUZZ_CHECK(!htw__time_is_before(htw__time_of_tick(after, tick_ns), time));
    }
    htw__duration_format((uint64_t)htw__time_to_ns(time), written);
    FUZZ_CHECK(strlen(written) < HTW__DURATION_FORMAT_SIZE);
}

static void check_instant(const char *text, size_t size) {
    struct htw__time time = untouched, again;
    char written[HTW__INSTANT_FORMAT_SIZE];
    if (htw__instant_parse(text, size, &time) != NULL) {
        FUZZ_CHECK(is_same(time, untouched));
        return;
    }
    FUZZ_CHECK(time.ns >= 0 && time.ns < HTW__NS_PER_S);
    size_t length = htw__instant_format(time, written);
    FUZZ_CHECK(length == strlen(written) && length < sizeof(written));
    if (time.s >= -INT64_C(62167219200) &&
        time.s <= INT64_C(253402300799)) { /* four digits of a year */
        FUZZ_CHECK(htw__instant_parse(written, length, &again) == NULL);
        FUZZ_CHECK(again.s == time.s && again.ns == time.ns / 1000 * 1000);
    }
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
    char *text = malloc(size + 1);
    if (text == NULL)
        fuzz_fail("no memory");
    memcpy(text, data, size);
    text[size] = '\0';
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
