/* SPDX-License-Identifier: MIT */
/*
 * htw/journal_guest.h - jobs that are put in transactions of a program. Link with libhtw-journal.
 *
 * GUESTS. With `is_guest` the journal is in a database of SQLite that belongs to a program, in tables whose names begin
 * with "htw_". A transaction of the program, in this process or another one, changes its own tables and puts jobs,
 * together or not at all. The jobs are in the INBOX then (the table htw_inbox), from which the journal takes them in: at
 * once after htw_journal_wake(), otherwise after `inbox_ns`.
 *
 * A guest leaves the file as it is: its mode (with a log or without), the settings of other connections, version and
 * application. It never copies the log; that is for the connections of the program. A connection that holds SQLite's
 * lock delays it: -EBUSY comes after 30 seconds. So do not wait for the journal in a transaction.
 *
 * Promises. A job is durable when the transaction that puts it is, as the `synchronous` of that connection says; then it
 * is delivered at least once, and never before its deadline. What the journal itself changes is durable as its own
 * `synchronous` says, in any mode of the file.
 */
#ifndef HTW_JOURNAL_GUEST_H
#define HTW_JOURNAL_GUEST_H

#include <htw/journal.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/**
 * Puts a job in a transaction of the caller, or in one of its own if `connection` is in none. As an INSERT, it is undone
 * by a rollback.
 *
 * @param connection of the same SQLite library, to a file that a journal with `is_guest` has opened once; as "main".
 * @param job        as of htw_journal_apply(). `id` is set: it is final, but is given again where the transaction is
 *                   rolled back.
 * @return 0: success;
 *         -EINVAL: also if the database has no tables of a guest;
 *         -EEXIST: with HTW_JOB_IF_ABSENT; -EMSGSIZE: as htw_journal_apply();
 *         -EBUSY, -ENOSPC, -ENOMEM, -EIO: as SQLite says. It may have rolled back the transaction
 *         (sqlite3_get_autocommit()).
 *
 * While it is in the inbox, a job can be ended by its id, or by its key, or be replaced; for all else it is not there
 * (-ENOENT), and does not count in statistics.
 *
 * Threads: those that may use the connection. Cost: some 20 us.
 */
HTW_API HTW_WARN_UNUSED int htw_journal_put_in(struct sqlite3 *connection, struct htw_job *job);

/**
 * Says that a transaction with jobs has been committed, so that they are taken in at once.
 *
 * @return 0: success; -EINVAL: the journal is no guest; -EOWNERDEAD.
 *
 * Threads: any, also in a notice. Cost: below 1 us, and a wake-up of the thread that writes.
 */
HTW_API int htw_journal_wake(struct htw_journal *journal);

#ifdef __cplusplus
}
#endif

#endif /* HTW_JOURNAL_GUEST_H */
