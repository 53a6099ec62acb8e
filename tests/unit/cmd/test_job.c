/* SPDX-License-Identifier: MIT */
/* test_job.c - a job of a journal in JSON. */
#include "../../../programs/kit/job.h"

#include "../unit.h"

#include <stdlib.h>
#include <string.h>

static const struct htw_job_info plain = { .id = 7,
                                           .state = HTW_JOB_BURIED,
                                           .queue = "a\"b",
                                           .payload = "x",
                                           .payload_size = 1,
                                           .deadline_ns = HTW_NEVER_NS,
                                           .put_ns = INT64_MIN,
                                           .attempts = 1,
                                           .releases = 2,
                                           .timeouts = 3,
                                           .buries = 4,
                                           .kicks = 5,
                                           .priority = 6 };

static char *print(const struct htw_job_info *job, size_t payload_max) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    htw__job_write(&(struct htw__json) { .out = stream }, job, payload_max);
    assert_int_equal(fclose(stream), 0);
    return text;
}

UNIT_TEST(job_in_json_has_all_its_members) {
    char *text = print(&plain, 1);
    assert_string_equal(
        text,
        "{\"id\":\"7\",\"state\":\"buried\",\"queue\":\"a\\\"b\",\"priority\":6,\"deadline\":null,"
        "\"deadline_ns\":null,\"put\":null,\"put_ns\":null,\"lease_ns\":null,"
        "\"attempts\":1,\"releases\":2,\"timeouts\":3,\"buries\":4,\"kicks\":5,\"key\":null,"
        "\"size\":1,\"payload\":\"x\"}");
    free(text);
}

UNIT_TEST(job_payload_is_cut_between_characters) {
    static const struct {
        const char *payload;
        size_t most;
        const char *shown;
    } cases[] = {
        { "abc", 3, "\"size\":3,\"payload\":\"abc\"}" },
        { "abc", 2, "\"cut\":true,\"payload\":\"ab\"}" },
        { "abc", 0, "\"cut\":true,\"payload\":\"\"}" },
        { "a\xc3\xa4", 2, "\"cut\":true,\"payload\":\"a\"}" },
        { "a\xc3\xa4z", 3, "\"cut\":true,\"payload\":\"a\xc3\xa4\"}" },
        { "\xf0\x9f\x98\x80", 3, "\"cut\":true,\"payload\":\"\"}" },
        { "a\xf0\x9f\x98\x80", 2, "\"cut\":true,\"payload\":\"a\"}" },
        { "\x80\x80\x80\x80\x80\x80", 5, "\"cut\":true,\"payload_base64\":\"gICAgIA=\"}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw_job_info job = plain;
        job.payload = cases[i].payload;
        job.payload_size = strlen(cases[i].payload);
        char *text = print(&job, cases[i].most);
        const char *end = text + strlen(text) - strlen(cases[i].shown);
        assert_string_equal(end, cases[i].shown);
        free(text);
    }
}
