/* SPDX-License-Identifier: MIT */
/* journal_format_1.h - the file of a journal as version 0.2 has written it: its tables, without jobs. */
#ifndef TESTS_JOURNAL_FORMAT_1_H
#define TESTS_JOURNAL_FORMAT_1_H

#define JOURNAL_FORMAT_1                                                                        \
    "PRAGMA journal_mode = WAL;"                                                                \
    "CREATE TABLE job (id INTEGER PRIMARY KEY, deadline INTEGER NOT NULL, key BLOB, payload "   \
    "BLOB NOT NULL);"                                                                           \
    "CREATE TABLE job_key (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;"           \
    "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), jobs INTEGER NOT NULL, keyed " \
    "INTEGER NOT NULL, next_sequence INTEGER NOT NULL, generation INTEGER NOT NULL, mark "      \
    "BLOB);"                                                                                    \
    "PRAGMA application_id = 1752463210;"                                                       \
    "PRAGMA user_version = 1;"

#endif /* TESTS_JOURNAL_FORMAT_1_H */
