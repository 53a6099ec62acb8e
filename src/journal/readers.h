/* SPDX-License-Identifier: MIT */
/* readers.h - what reads the file, in the thread that has the database. */
#ifndef HTW_SRC_JOURNAL_READERS_H
#define HTW_SRC_JOURNAL_READERS_H

#include "state.h"

bool htw__readers_have_work(const struct htw_journal *journal);

/* One step of each that has work. With the lock held, which it releases meanwhile. */
void htw__readers_step(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_READERS_H */
