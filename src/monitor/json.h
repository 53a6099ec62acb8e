/* SPDX-License-Identifier: MIT */
/* json.h - writes samples as JSON: docs/monitor.md describes it. */
#ifndef HTW_SRC_MONITOR_JSON_H
#define HTW_SRC_MONITOR_JSON_H

#include "sample.h"

/* The beginning of an object: the version, the process and its clocks. */
void htw__json_write_head(struct htw_monitor *monitor, struct htw__answer_text *text);

void htw__json_write(struct htw_monitor *monitor, struct htw__answer_text *text);

/* The same with what takes longer to find: detail.h. */
void htw__json_write_detail(struct htw_monitor *monitor, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_JSON_H */
