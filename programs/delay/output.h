/* SPDX-License-Identifier: MIT */
/*
 * output.h - the messages that are due, on their way to standard output.
 *
 * They wait in a queue and are written from there, many with one call. A write does not block where
 * poll() can prevent it: on a pipe, a terminal or a socket one call writes at most PIPE_BUF bytes,
 * and whole messages if they fit. Only messages longer than PIPE_BUF can be split.
 */
#ifndef HTW_DELAY_OUTPUT_H
#define HTW_DELAY_OUTPUT_H

#include "message.h"
#include "report.h"
#include "timeline.h"

#include <stdbool.h>
#include <stddef.h>

/* `PLANNED REAL LATENESS `: two instants, a sign and a number of seconds. */
#define HTW__OUTPUT_PREFIX_SIZE 128
#define HTW__OUTPUT_BATCH 256

struct htw__output {
    int fd;
    bool has_timestamps;
    bool is_regular; /* a file: always writable */
    bool is_pipe;    /* one without a name: if its reader goes away, none comes back */
    bool is_blocked; /* the last write stopped because the reader is behind */
    struct htw__message *head;
    struct htw__message **tail;
    size_t count;
    size_t bytes;
    size_t head_written; /* of the first message, with its prefix; 0, unless > PIPE_BUF */
    char prefixes[HTW__OUTPUT_BATCH][HTW__OUTPUT_PREFIX_SIZE];
    size_t prefix_sizes[HTW__OUTPUT_BATCH];
    const struct htw__timeline *timeline;
    struct htw__report *report;
};

/* Writes to `fd`, which stays the caller's. Both pointers must outlive the output. */
void htw__output_init(struct htw__output *output, int fd, bool has_timestamps,
                      const struct htw__timeline *timeline, struct htw__report *report);

/* Adds a message, which is in no wheel any more; the queue owns it. */
void htw__output_push(struct htw__output *output, struct htw__message *message);

/* Removes the first message, which is the caller's then; NULL: there is none. */
struct htw__message *htw__output_pop(struct htw__output *output);

/* Writes what can be written without waiting, some hundred KiB at most, and frees it.
 * Returns 0 or a negative errno; messages not written stay. */
int htw__output_write(struct htw__output *output);

/* Some errors of writing are reported only by close(). This closes a copy of the descriptor.
 * Returns 0 or a negative errno. */
int htw__output_sync(const struct htw__output *output);

#endif /* HTW_DELAY_OUTPUT_H */
