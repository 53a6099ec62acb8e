/* SPDX-License-Identifier: MIT */
/*
 * leftover.h - what a run that ends before its time leaves: messages not yet released, and
 * input that was read but not taken in.
 */
#ifndef HTW_SRC_CMD_LEFTOVER_H
#define HTW_SRC_CMD_LEFTOVER_H

#include "input.h"
#include "output.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdint.h>

struct htw__leftover {
    struct htw__output *output; /* its messages are due */
    struct htw_wheel *wheel;
    struct htw__input *input;
    htw__nanos now_ns; /* the one moment from which all remaining delays count */
    bool from_start;   /* delays in the input count from the start of the run */
    uint64_t count;    /* of all three, so far */
    bool has_fragment; /* of the record after these, only a part was read */
};

/*
 * Takes everything out, frees and counts it, and writes it to the file `path` (NULL: nowhere)
 * as records that `htw delay` reads: first those that are due, then those to come in their
 * order, then the input not taken in. A record of which only a part was read is left out: it
 * would later be released as if that were all of it.
 * Returns 0 or a negative errno; everything is taken out and counted in any case.
 */
int htw__leftover_take(struct htw__leftover *leftover, const char *path);

#endif /* HTW_SRC_CMD_LEFTOVER_H */
