/* SPDX-License-Identifier: MIT */
/* journal.h - `htw journal`: looks at a journal and mends it. */
#ifndef HTW_JOURNAL_JOURNAL_H
#define HTW_JOURNAL_JOURNAL_H

/* Runs it; the first argument is the prefix of error messages. Returns the exit status. */
int htw__journal_command(int argc, char *argv[]);

#endif /* HTW_JOURNAL_JOURNAL_H */
