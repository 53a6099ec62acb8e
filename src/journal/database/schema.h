/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the tables of a journal's file, and whether a file has these and no others.
 *
 * A program that writes the file chooses what its schema says: a view in the place of a table, a trigger, a
 * column that is computed. A statement on such a table can run for ever. So the text of the whole
 * schema is compared before a statement touches a table. `htw journal` does so, too.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_SCHEMA_H
#define HTW_SRC_JOURNAL_DATABASE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

/* The format of the file. Those before it were of development versions, and are refused. */
#define HTW__SCHEMA_VERSION 5

/* Whether the database is a journal that this version knows. `ret_version`: its format; 0: it has no table at all:
   it is new, or a crash has ended its creation. -EBADMSG, -EPROTONOSUPPORT or the failure of a read,
   with a sentence. `name` is that of the file. Takes constant time, whatever the file holds.
   `is_guest`: the same of a guest, whose tables are beside those of a program, which are not judged. */
int htw__schema_identify(struct sqlite3 *connection, const char *name, bool is_guest,
                         int *ret_version);

/* Whether it has the tables of a guest, or some of them. */
bool htw__schema_is_guest(struct sqlite3 *connection);

/* Creates the tables in a database that has none of them. A result of SQLite. */
int htw__schema_create(struct sqlite3 *connection, bool is_guest);

/* The ids that guests give: from this one to the greatest of all. Those that the journal of a guest gives are below. */
#define HTW__GUEST_ID_MIN (INT64_C(1) << 52)

#endif /* HTW_SRC_JOURNAL_DATABASE_SCHEMA_H */
