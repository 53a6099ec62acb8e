/* SPDX-License-Identifier: MIT */
/* executor.h - callbacks that the user's own threads run. */
#ifndef HTW_SRC_SCHEDULER_EXECUTOR_H
#define HTW_SRC_SCHEDULER_EXECUTOR_H

#include "state.h"

/* Hands a batch over to the user; it may be used again at once. */
void htw__executor_submit(struct htw_scheduler *scheduler, struct htw__batch *batch);

#endif /* HTW_SRC_SCHEDULER_EXECUTOR_H */
