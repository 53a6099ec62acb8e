/* SPDX-License-Identifier: MIT */
/* page.h - the page of `htw replay`, which plays a record. */
#ifndef HTW_SRC_CMD_REPLAY_PAGE_H
#define HTW_SRC_CMD_REPLAY_PAGE_H

#include "../page_parts.h"
#include "record.h"

#include <stdio.h>

/* Writes the page. `kafka` is the record of the same run in Kafka's wheel. Whether writing has failed, the
 * stream knows. */
void htw__page_write(FILE *stream, const char *title, const struct htw__run *run,
                     const struct htw__replay_record *record,
                     const struct htw__replay_record *kafka);

#endif /* HTW_SRC_CMD_REPLAY_PAGE_H */
