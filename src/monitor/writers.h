/* SPDX-License-Identifier: MIT */
/* writers.h - writes the answers: docs/monitor.md describes them. */
#ifndef HTW_SRC_MONITOR_WRITERS_H
#define HTW_SRC_MONITOR_WRITERS_H

#include "state.h"

/* The beginning of an object of JSON: the version, the process and its clocks. */
void htw__json_write_head(struct htw_monitor *monitor, struct htw__answer_text *text);

/* `json`; and `json sites`, which has what takes longer to find. */
void htw__json_write(struct htw_monitor *monitor, struct htw__answer_text *text);
void htw__json_write_detail(struct htw_monitor *monitor, struct htw__answer_text *text);

/* `metrics`: the text format of Prometheus, version 0.0.4. */
void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text);

/* `events`: what the flight recorders of all schedulers have. */
void htw__events_write(struct htw_monitor *monitor, struct htw__answer_text *text);

/* `observe NAME|* WORD...`: switches what is observed. NULL, or what is wrong with the arguments, which are cut into words. */
const char *htw__observe(struct htw_monitor *monitor, char *arguments,
                         struct htw__answer_text *text);

/* What is observed, as an array of words. */
void htw__observed_write(uint32_t observed, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_WRITERS_H */
