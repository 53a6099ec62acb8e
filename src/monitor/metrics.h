/* SPDX-License-Identifier: MIT */
/* metrics.h - writes samples in the text format of Prometheus, version 0.0.4. */
#ifndef HTW_SRC_MONITOR_METRICS_H
#define HTW_SRC_MONITOR_METRICS_H

#include "sample.h"

void htw__metrics_write(struct htw_monitor *monitor, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_METRICS_H */
