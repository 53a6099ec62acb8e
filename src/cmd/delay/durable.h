/* SPDX-License-Identifier: MIT */
/* durable.h - `htw delay --journal`: no accepted message is lost by a crash. */
#ifndef HTW_SRC_CMD_DELAY_DURABLE_H
#define HTW_SRC_CMD_DELAY_DURABLE_H

#include "options.h"

/* As htw__delay_run(), with a journal. */
int htw__durable_run(const struct htw__options *options);

#endif /* HTW_SRC_CMD_DELAY_DURABLE_H */
