/* SPDX-License-Identifier: MIT */
/* test_commit.c - when a caller may commit by itself. */
#include "../../../src/journal/writer.h"
#include "../../../src/journal/reader.h"
#include "../unit.h"

#include <stdlib.h>

/* A journal in which nothing is to be done. */
static struct htw_journal *idle_journal(void) {
    struct htw_journal *journal = calloc(1, sizeof(*journal));
    assert_non_null(journal);
    journal->slot_count = 1;
    journal->reader.next_bucket = HTW__BUCKET_NONE;
    journal->database.log.checkpoint_at = 1;
    assert_true(htw__commit_is_idle(journal));
    return journal;
}

/* Callers that commit one change after the other would keep the database from the writer: it would get
   it only by chance. */
UNIT_TEST(commit_is_left_to_a_writer_that_waits_for_the_database) {
    struct htw_journal *journal = idle_journal();
    journal->writer_waits = true;
    assert_false(htw__commit_is_idle(journal));
    free(journal);
}

UNIT_TEST(commit_is_left_to_the_writer_while_it_has_jobs_to_read) {
    struct htw_journal *journal = idle_journal();
    journal->reader.is_scanning = true;
    assert_true(htw__reader_has_work(journal));
    assert_false(htw__commit_is_idle(journal));
    free(journal);
}

UNIT_TEST(commit_is_left_to_the_writer_when_the_log_is_to_be_copied) {
    struct htw_journal *journal = idle_journal();
    journal->database.log.pages = 1;
    assert_false(htw__commit_is_idle(journal));
    free(journal);
}

UNIT_TEST(commit_is_left_to_who_uses_the_database) {
    struct htw_journal *journal = idle_journal();
    journal->is_in_use = true;
    assert_false(htw__commit_is_idle(journal));
    free(journal);
}

/* Changes are made in their order, and several callers share a commit. */
UNIT_TEST(commit_is_left_to_the_writer_where_others_wait) {
    struct htw_journal *journal = idle_journal();
    struct htw__change change;
    journal->first = &change;
    assert_false(htw__commit_is_idle(journal));
    journal->first = NULL;
    journal->last_callers = 1;
    assert_true(htw__commit_is_idle(journal));
    journal->last_callers = 2;
    assert_false(htw__commit_is_idle(journal));
    free(journal);
}
