/* SPDX-License-Identifier: MIT */
/* look.h - which jobs a queue has: for the public calls that show jobs, and for kicks. */
#ifndef HTW_SRC_JOURNAL_LOOK_H
#define HTW_SRC_JOURNAL_LOOK_H

#include "change.h"

/* In the transaction: the steps of a kick. 0 or an error. */
int htw__kick_select(struct htw_journal *journal, struct htw__change *change);

#endif /* HTW_SRC_JOURNAL_LOOK_H */
