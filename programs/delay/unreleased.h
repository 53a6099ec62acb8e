/* SPDX-License-Identifier: MIT */
/*
 * unreleased.h - the messages that a run has not released when it ends early: those in memory, and
 * lines of the input that were read but not accepted.
 */
#ifndef HTW_DELAY_UNRELEASED_H
#define HTW_DELAY_UNRELEASED_H

#include "../kit/input.h"
#include "output.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdint.h>

struct htw__unreleased {
    struct htw__input *input;
    int64_t now_ns;                /* the time from which all remaining delays count */
    bool from_start;               /* delays in the input count from the start of the run */
    struct htw__message *messages; /* first those that are due, then the others in their order */
    uint64_t count;                /* of the messages and of the records of the input */
    uint64_t fragment_line;        /* of the record of which only a part was read; 0: none */
};

/* Moves all messages out of the queue and the wheel, and counts them and the records of the input. */
void htw__unreleased_collect(struct htw__unreleased *unreleased, struct htw__output *output,
                             struct htw_wheel *wheel);

/* Where the records were saved. */
struct htw__saved {
    int error;  /* 0: in the requested file; otherwise why not */
    char *path; /* where instead, to be freed; NULL: nowhere */
};

/*
 * Writes everything to the file `path` as records that `htw delay` reads. A record of which
 * only a part was read is not written: another run would release that part as a whole message.
 *
 * If that fails, `path` is unchanged, and a file in another directory gets them.
 */
struct htw__saved htw__unreleased_save(const struct htw__unreleased *unreleased, const char *path);

/* Frees the messages. */
void htw__unreleased_fini(struct htw__unreleased *unreleased);

#endif /* HTW_DELAY_UNRELEASED_H */
