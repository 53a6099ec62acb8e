/* SPDX-License-Identifier: MIT */
/* timeout.h - sets, changes and cancels the timeout of a request, and finds the next due one; counts requests. */
#ifndef HTW_SRC_PURGATORY_TIMEOUT_H
#define HTW_SRC_PURGATORY_TIMEOUT_H

#include "cpu.h"

/* 0, or -ENOMEM: it has no wheel. */
int htw__cpu_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory);

/* A request begins to wait: counts it, and arms its timeout unless that is HTW_NEVER_NS. `now_ns`: when its submission
   began, by the steady clock; 0 for HTW_NEVER_NS. 0, or the error of the scheduler; then nothing has changed. The owner
   only. */
int htw__timeout_begin(struct htw_request *request, int64_t timeout_ns, int64_t now_ns);

/* A request ends, which may not have waited: counts that, and takes its timeout out of the wheel. From then on it
   cannot be found there. The owner only. */
void htw__timeout_end(struct htw_request *request, enum htw_reason reason);

/* Changes the timeout of a request that is in the wheel of a CPU. 0; -ENOENT: it is in none; or the
   error of the scheduler; then nothing has changed. Any thread. */
int htw__timeout_move(struct htw_purgatory *purgatory, struct htw_request *request,
                      int64_t timeout_ns);

/* For the callback of an alarm: takes the next timeout that is due out of the wheel, owns its request, and sets an
   alarm for the timeout after that. NULL: there is none, or its owner ends it; `*ret_more`: there may be others.
   `is_first`: the callback has just begun. */
struct htw_request *htw__timeout_next_due(struct htw__timeout_alarm *alarm, bool is_first,
                                          bool *ret_more);

#endif /* HTW_SRC_PURGATORY_TIMEOUT_H */
