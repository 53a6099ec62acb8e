/* SPDX-License-Identifier: MIT */
/* test_sqlite.c - which SQLite a journal refuses. Two functions of SQLite are replaced here. */
#include "journal_fixture.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int version, threadsafe;

int sqlite3_libversion_number(void) {
    return version;
}

int sqlite3_threadsafe(void) {
    return threadsafe;
}

static void assert_refused(struct journal_fixture *f, const char *part) {
    assert_int_equal(journal_try_open(f), -ENOTSUP);
    assert_non_null(strstr(htw_journal_error(), part));
    assert_int_equal(access(f->path, F_OK), -1);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_refuses_a_sqlite_that_is_too_old_or_has_no_mutexes) {
    version = 3030001;
    threadsafe = 1;
    assert_refused(f, "3.31.0");
    version = 3031000;
    threadsafe = 0;
    assert_refused(f, "mutexes");
    threadsafe = 2;
    journal_open(f);
}
