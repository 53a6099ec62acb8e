/* SPDX-License-Identifier: MIT */
/* timeout.h - sets, changes and cancels the timeout of a request, and finds the next due one; the alarms. */
#ifndef HTW_SRC_PURGATORY_TIMEOUT_H
#define HTW_SRC_PURGATORY_TIMEOUT_H

#include "cpu.h"

/* In `_cpu` of a request: no CPU counts it yet. */
#define HTW__NO_CPU UINT16_MAX

/* Creates the wheel of a CPU. 0 or -ENOMEM. */
int htw__timeout_create_wheel(struct htw__cpu *cpu);

/* A request begins to wait: counts it, and arms its timeout unless that is HTW_NEVER_NS. 0, or the error
   of the scheduler; then nothing has changed. The owner only. */
int htw__timeout_begin(struct htw_request *request, int64_t timeout_ns);

/* Changes the timeout of a request that is in the wheel of a CPU. 0; -ENOENT: it is in none; or the
   error of the scheduler; then nothing has changed. Any thread. */
int htw__timeout_move(struct htw_purgatory *purgatory, struct htw_request *request,
                      int64_t timeout_ns);

/* A request ends: counts that, and takes the timeout out of its wheel. From then on the request cannot
   be found there. The owner only. */
void htw__timeout_end(struct htw_request *request, enum htw_reason reason);

/* ---- for the callback of an alarm */

/* Takes the next timeout that is due out of the wheel, owns its request, and sets an alarm for the
   timeout after that. NULL: there is none, or its owner ends it; `*ret_more`: there may be others.
   `is_first`: the callback has just begun. */
struct htw_request *htw__timeout_next_due(struct htw__timeout_alarm *alarm, bool is_first,
                                          bool *ret_more);

/* The callback returns: the alarm can be set again. */
void htw__alarm_end_callback(struct htw__timeout_alarm *alarm);

#endif /* HTW_SRC_PURGATORY_TIMEOUT_H */
