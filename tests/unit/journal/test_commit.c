/* SPDX-License-Identifier: MIT */
/* test_commit.c - when a caller may commit by itself. */
#include "../../../src/journal/writer.h"
#include "../unit.h"

#include <stdlib.h>

/* A journal in which nothing is to be done. */
static struct htw_journal *idle_journal(void) {
    struct htw_journal *journal = calloc(1, sizeof(*journal));
    assert_non_null(journal);
    journal->slot_count = 1;
    journal->reader.next_bucket = HTW__BUCKET_NONE;
    journal->database.log.checkpoint_at = 1;
    assert_true(htw__writer_is_idle(journal));
    return journal;
}

/* Callers that commit one change after the other would keep the database from a writer that waits for it. Changes are
   made in their order, and several callers share a commit. */
UNIT_TEST(commit_is_left_to_the_writer_where_there_is_more_to_do) {
    enum { CASES = 6 };
    for (int i = 0; i < CASES; i++) {
        struct htw_journal *journal = idle_journal();
        struct htw__change change;
        journal->writer_waits = i == 0;
        journal->reader.is_scanning = i == 1;
        journal->database.log.pages = i == 2;
        journal->is_in_use = i == 3;
        journal->first = i == 4 ? &change : NULL;
        journal->last_callers = i == 5 ? 2 : 1;
        assert_false(htw__writer_is_idle(journal));
        free(journal);
    }
}
