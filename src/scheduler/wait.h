/* SPDX-License-Identifier: MIT */
/* wait.h - waiting for a callback to return. */
#ifndef HTW_SRC_SCHEDULER_WAIT_H
#define HTW_SRC_SCHEDULER_WAIT_H

#include "state.h"

/* An awaited callback has returned. */
void htw__wait_over(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_WAIT_H */
