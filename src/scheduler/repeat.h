/* SPDX-License-Identifier: MIT */
/* repeat.h - when a repeating timer runs next. */
#ifndef HTW_SRC_SCHEDULER_REPEAT_H
#define HTW_SRC_SCHEDULER_REPEAT_H

#include "state.h"

/* Sets the deadline to that of the next run, for a run that was planned for it and has
   ended at `now_ns`. Returns how many periods are left out. */
uint64_t htw__repeat_plan(struct htw__extra *extra, int64_t *deadline_ns, int64_t now_ns);

#endif /* HTW_SRC_SCHEDULER_REPEAT_H */
