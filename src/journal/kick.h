/* SPDX-License-Identifier: MIT */
/* kick.h - which jobs of a queue a kick makes ready: those that were buried first, or the delayed ones. */
#ifndef HTW_SRC_JOURNAL_KICK_H
#define HTW_SRC_JOURNAL_KICK_H

#include "change.h"

/* In the transaction: the steps of a kick. 0 or an error. */
int htw__kick_select(struct htw_journal *journal, struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_KICK_H */
