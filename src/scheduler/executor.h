/* SPDX-License-Identifier: MIT */
/* executor.h - hands due timers to the executor of the user. */
#ifndef HTW_SRC_SCHEDULER_EXECUTOR_H
#define HTW_SRC_SCHEDULER_EXECUTOR_H

#include "state.h"

/* Hands the timers of a batch to the executor. The batch may be used again at once. */
void htw__executor_submit(struct htw_scheduler *scheduler, struct htw__batch *batch);

#endif /* HTW_SRC_SCHEDULER_EXECUTOR_H */
