/* SPDX-License-Identifier: MIT */
/*
 * leftover.h - what a run that ends before its time leaves: messages not yet released, and
 * input that was read but not taken in.
 */
#ifndef HTW_SRC_CMD_DELAY_LEFTOVER_H
#define HTW_SRC_CMD_DELAY_LEFTOVER_H

#include "input.h"
#include "output.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdint.h>

struct htw__leftover {
    struct htw__input *input;
    htw__nanos now_ns;             /* the one moment from which all remaining delays count */
    bool from_start;               /* delays in the input count from the start of the run */
    struct htw__message *messages; /* first those that are due, then the others in their order */
    uint64_t count;                /* of the messages and of the records of the input */
    uint64_t fragment_line;        /* of the record of which only a part was read; 0: none */
};

/* Takes everything out of the queue and the wheel, and counts it and what is in the input. */
void htw__leftover_take(struct htw__leftover *leftover, struct htw__output *output,
                        struct htw_wheel *wheel);

/* Where a leftover was saved. */
struct htw__saved {
    int error;      /* why it is not, or not whole, in the file that was asked for; or 0 */
    uint64_t count; /* records that are in `path` */
    char *path;     /* to be freed; NULL: nowhere */
};

/*
 * Writes everything to the file `path` as records that `htw delay` reads. A record of which
 * only a part was read is left out: it would later be released as if that were all of it.
 *
 * If that fails, the file under its temporary name, or one in another directory, gets what it
 * can: a number of whole records, from the first one on. What was at `path` is then left alone.
 */
struct htw__saved htw__leftover_save(const struct htw__leftover *leftover, const char *path);

/* Frees the messages. */
void htw__leftover_fini(struct htw__leftover *leftover);

#endif /* HTW_SRC_CMD_DELAY_LEFTOVER_H */
