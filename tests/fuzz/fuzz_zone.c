/* SPDX-License-Identifier: MIT */
/*
 * fuzz_zone.c - names of time zones, one a line: what each of them is, and that no name takes memory for
 * longer than its zone is used. Users choose zones.
 */
#include "fuzz.h"

#include <htw/calendar.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_zone(const struct htw_zone *zone) {
    static const int64_t instants_ns[] = { INT64_MIN, -1, 0, INT64_C(1700000000) * HTW_SECOND,
                                           INT64_MAX };
    for (size_t i = 0; i < sizeof(instants_ns) / sizeof(instants_ns[0]); i++) {
        int32_t offset = htw_zone_offset(zone, instants_ns[i]);
        FUZZ_CHECK(offset > -48 * 3600 && offset < 48 * 3600);
    }
}

static void run(const uint8_t *data, size_t size) {
    for (size_t at = 0, length; at < size; at += length + 1) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        struct htw_zone *zone = NULL;
        length = end == NULL ? size - at : (size_t)(end - (data + at));
        char *name = fuzz_text(data + at, length);
        int error = htw_zone_create(&zone, name);
        FUZZ_CHECK((error == 0) == (zone != NULL));
        FUZZ_CHECK(error == 0 || error == -EINVAL || error == -ENOENT || error == -EIO);
        if (zone != NULL)
            check_zone(zone);
        htw_zone_destroy(zone);
        free(name);
    }
}

static const struct fuzz_attack attacks[] = {
    { "names that are not there", "", "", { "%zu\n" } },
    { "names in a folder that is not there", "", "", { "Nowhere/%zu\n" } },
    { "offsets", "", "", { "UTC+%zu\n" } },
    { "fixed offsets", "", "", { "Fixed/UTC%zu\n" } },
    { "slashes at the end", "", "", { "Europe/Dublin/\n" } },
    { "one zone", "", "", { "Europe/Dublin\n" } },
    { "a long name", "", "", { "a" } },
    { "a long path", "Europe", "Dublin", { "/" } },
    { "a path of folders", "", "", { "Europe/" } },
    { "spellings of one zone",
      "",
      "",
      { "Europe//Dublin\nEurope///Dublin\nEurope////Dublin\n",
        "Europe/////Dublin\nEurope//////Dublin\nEurope///////Dublin\n",
        "/Europe/Dublin\nEurope/Dublin/\nEurope/./Dublin\n" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "zone",
    .run = run,
    .memory = { 1 << 20, 8 },
    .steps = { 200000, 10 },
    .kept = 256 << 10, /* cctz keeps a zone that it has read */
    .attacks = attacks,
};
