/* SPDX-License-Identifier: MIT */
/* detail.h - what `json sites` tells besides `json`: sites, wake-ups, groups and herds of a scheduler, queues of a journal. */
#ifndef HTW_SRC_MONITOR_DETAIL_H
#define HTW_SRC_MONITOR_DETAIL_H

#include "sample.h"

/* Members of the object of a source, of which there are `sources` in all. */
void htw__detail_write(const struct htw__sample *sample, uint32_t sources,
                       struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_DETAIL_H */
