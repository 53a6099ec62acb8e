/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the tables of a journal's file, and whether a file has these and no others.
 *
 * Whoever writes the file chooses what its schema says: a view in the place of a table, a trigger, a
 * column that is computed. A statement on such a table can run for ever. So the text of the whole
 * schema is compared before a statement touches a table. `htw journal` does so, too.
 */
#ifndef HTW_SRC_JOURNAL_SCHEMA_H
#define HTW_SRC_JOURNAL_SCHEMA_H

struct sqlite3;

/* The newest format of the file. */
#define HTW__SCHEMA_VERSION 2

/* Whether the database is a journal that this version knows. `ret_version`: its format; 0: it has no table at all:
   it is new, or a crash has ended its creation. -EBADMSG, -EPROTONOSUPPORT or the failure of a read,
   with a sentence. `name` is that of the file. Takes constant time, whatever the file holds. */
int htw__schema_identify(struct sqlite3 *connection, const char *name, int *ret_version);

/* Creates the tables in an empty database. A result of SQLite. */
int htw__schema_create(struct sqlite3 *connection);

/* Makes format 2 of format 1, in a transaction of the caller. No job is touched: it takes two reads for each minute
   in which jobs are due. A result of SQLite. */
int htw__schema_migrate(struct sqlite3 *connection);

#endif /* HTW_SRC_JOURNAL_SCHEMA_H */
