/* SPDX-License-Identifier: MIT */
/*
 * acknowledge.h - tells another program how many lines are durable: a line with a decimal number each
 * time that it has grown, on a descriptor of that program. Nothing here waits, except as a write to
 * a terminal or a file may.
 */
#ifndef HTW_SRC_CMD_DELAY_ACKNOWLEDGE_H
#define HTW_SRC_CMD_DELAY_ACKNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__acknowledge {
    int fd; /* -1: none, or the reader has gone */
    uint64_t count, told;
    char line[24]; /* what is to be written */
    size_t written, size;
};

/* Begins with a line "0". `fd` may be -1. */
void htw__acknowledge_init(struct htw__acknowledge *self, int fd);

/* Whether something is to be written. */
bool htw__acknowledge_waits(const struct htw__acknowledge *self);

/* Writes the latest count if it was not told and the reader takes it. 0, or the error that ends it. */
int htw__acknowledge_write(struct htw__acknowledge *self);

#endif /* HTW_SRC_CMD_DELAY_ACKNOWLEDGE_H */
