/* SPDX-License-Identifier: MIT */
/* json.h - writes samples as JSON: docs/monitor.md describes it. */
#ifndef HTW_SRC_MONITOR_JSON_H
#define HTW_SRC_MONITOR_JSON_H

#include "sample.h"

void htw__json_write(struct htw_monitor *monitor, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_JSON_H */
