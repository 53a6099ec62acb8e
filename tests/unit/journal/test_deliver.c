/* SPDX-License-Identifier: MIT */
/* test_deliver.c - when jobs are delivered, in what order, and how often. */
#include "journal_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* holds: journal-2 */
JOURNAL_TEST(journal_job_comes_at_its_deadline_and_not_before) {
    journal_open(f);
    uint64_t id = journal_put(f, 5 * HTW_SECOND, "a");
    journal_advance_to(f, 5 * HTW_SECOND - 1);
    assert_int_equal(f->seen_count, 0);
    journal_advance_to(f, 5 * HTW_SECOND);
    assert_int_equal(f->seen_count, 1);
    assert_true(f->seen[0].id == id && f->seen[0].deadline_ns == START_NS + 5 * HTW_SECOND);
    assert_int_equal(f->seen[0].late_ns, 0);
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "a");
    assert_int_equal(journal_stats(f).jobs, 0);
}

JOURNAL_TEST(journal_payload_and_key_of_any_size_come_whole) {
    static const size_t sizes[] = { 0, 1, 255, 256, 257, 4096, 100000, 20000000 };
    char *bytes = malloc(20000000);
    assert_non_null(bytes);
    memset(bytes, 'x', 20000000);
    journal_open(f);
    for (int round = 0; round < 2; round++) { /* from memory, and from the file */
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            int64_t after_ns = (round == 0 ? HTW_MINUTE : HTW_HOUR) + (int64_t)i;
            journal_put_struct(f, JOB(.deadline_ns = START_NS + after_ns,
                                      .payload = sizes[i] == 0 ? NULL : bytes,
                                      .payload_size = sizes[i], .key = i % 2 == 0 ? NULL : bytes,
                                      .key_size = i % 2 == 0 ? 0 : i - 1));
        }
        if (round == 1) {
            journal_close(f);
            journal_open(f);
        }
        journal_advance_to(f, round == 0 ? 2 * HTW_MINUTE : 2 * HTW_HOUR);
        assert_int_equal(f->seen_count, COUNT_OF(sizes));
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            assert_int_equal(f->seen[i].payload_size, sizes[i]);
            assert_int_equal(f->seen[i].has_key, i % 2);
            assert_int_equal(f->seen[i].key_size, i % 2 == 0 ? 0 : i - 1);
            assert_true(sizes[i] == 0 || f->seen[i].payload[0] == 'x');
        }
        f->seen_count = 0;
    }
    free(bytes);
}

/* Jobs that are put for the near future do not all fit, so the later ones go back to the file. */
/* holds: journal-8 */
JOURNAL_TEST(journal_with_little_memory_holds_fewer_jobs_ahead) {
    f->options.max_memory = 64 * 1024;
    journal_open(f);
    char text[16];
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "%u", i);
        journal_put(f, HTW_SECOND + (int64_t)((i * 37) % 3000) * HTW_MILLISECOND, text);
    }
    assert_true(journal_stats(f).in_memory < 400);
    journal_advance_to(f, HTW_MINUTE);
    assert_int_equal(f->seen_count, 3000);
    for (unsigned i = 1; i < 3000; i++)
        assert_true(f->seen[i - 1].deadline_ns < f->seen[i].deadline_ns);
}

/* Not even a place among the jobs in memory. */
/* holds: journal-8 */
JOURNAL_TEST(journal_jobs_of_the_far_future_take_no_memory) {
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    uint64_t before = journal_stats(f).memory_bytes;
    for (int i = 0; i < 300; i++)
        journal_put(f, HTW_HOUR, "a");
    assert_int_equal(journal_stats(f).memory_bytes, before);
}
