/* SPDX-License-Identifier: MIT */
/* drive.h - callers who do what an expirer's thread does: one at a time. */
#ifndef HTW_SRC_SCHEDULER_DRIVE_H
#define HTW_SRC_SCHEDULER_DRIVE_H

#include "state.h"

/* 0, and htw__drive_end() must follow; -EDEADLK, -EBUSY or -ESHUTDOWN. */
int htw__drive_begin(struct htw_scheduler *scheduler);
void htw__drive_end(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_DRIVE_H */
