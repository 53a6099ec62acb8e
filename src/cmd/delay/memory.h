/* SPDX-License-Identifier: MIT */
/* memory.h - the store of `htw delay` without a journal: a wheel, on the thread of the loop. */
#ifndef HTW_SRC_CMD_DELAY_MEMORY_H
#define HTW_SRC_CMD_DELAY_MEMORY_H

#include "state.h"

#include <htw/wheel.h>

#include <stdbool.h>

struct htw__memory {
    struct htw__delay delay;
    struct htw_wheel *wheel;
    bool has_more_due; /* the last step has not emptied the wheel of what is due */
};

extern const struct htw__store htw__memory_store;

#endif /* HTW_SRC_CMD_DELAY_MEMORY_H */
