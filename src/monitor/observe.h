/* SPDX-License-Identifier: MIT */
/* observe.h - what is observed of a scheduler: as words, and switched by a client. */
#ifndef HTW_SRC_MONITOR_OBSERVE_H
#define HTW_SRC_MONITOR_OBSERVE_H

#include "state.h"

/* An array of words. */
void htw__observed_write(uint32_t observed, struct htw__answer_text *text);

/* The request `observe NAME|* WORD...`. NULL, or what is wrong with it. */
const char *htw__observe(struct htw_monitor *monitor, const char *arguments,
                         struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_OBSERVE_H */
