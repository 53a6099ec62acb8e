/* SPDX-License-Identifier: MIT */
/* numbers.h - what a server knows, and its journal does not, for its page. */
#ifndef HTW_SRC_CMD_SERVE_NUMBERS_H
#define HTW_SRC_CMD_SERVE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct htw__page_numbers {
    uint64_t connections, producers, workers, waiting;
    bool is_draining;
};

#endif /* HTW_SRC_CMD_SERVE_NUMBERS_H */
