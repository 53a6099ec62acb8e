/* SPDX-License-Identifier: MIT */
/* writer.h - the thread that uses the database: writes changes, reads jobs, copies the log. */
#ifndef HTW_SRC_JOURNAL_WRITER_H
#define HTW_SRC_JOURNAL_WRITER_H

#include "state.h"

/* 0 or -ENOMEM. */
int htw__writer_start(struct htw_journal *journal);

/* Writes what waits, and ends the thread. */
void htw__writer_stop(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_WRITER_H */
