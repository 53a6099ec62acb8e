/* SPDX-License-Identifier: MIT */
/* events.h - what the flight recorders of all schedulers have: docs/monitor.md describes it. */
#ifndef HTW_SRC_MONITOR_EVENTS_H
#define HTW_SRC_MONITOR_EVENTS_H

#include "state.h"

void htw__events_write(struct htw_monitor *monitor, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_EVENTS_H */
