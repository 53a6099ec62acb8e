/* SPDX-License-Identifier: MIT */
/* state.h - one run of `htw delay`, and the steps that its parts share. */
#ifndef HTW_SRC_CMD_DELAY_STATE_H
#define HTW_SRC_CMD_DELAY_STATE_H

#include "input.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "timeline.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stddef.h>

/* Lines that are accepted before the loop looks for messages that are due. */
#define HTW__DELAY_LINES_AT_ONCE 1024

struct htw__delay {
    const struct htw__options *options;
    struct htw_wheel *wheel;
    struct htw__timeline timeline;
    struct htw__input input;
    struct htw__output output;
    struct htw__report report;
    struct htw__progress progress;
    bool stdout_is_terminal;
    bool has_stopped_reading; /* for a bad line, or because there is no memory */
    bool cannot_wait;         /* a sleep has failed: the run ends early */
    bool has_failed;
    bool has_more_due;    /* the last step has not emptied the wheel of what is due */
    bool slept_until_due; /* the last sleep was ended by a deadline */
    int output_error;     /* a negative errno once standard output has failed */
};

/* How many messages are in the wheel and in the output queue. */
size_t htw__delay_pending(const struct htw__delay *delay);

/* Prints an error (a negative errno); the exit status will be HTW__EXIT_FAILED. */
void htw__delay_fail(struct htw__delay *delay, const char *what, int error);

/* Moves messages that are due from the wheel to the output queue, in a bounded number of steps.
   Returns whether more may be due. */
bool htw__delay_collect_due(struct htw__delay *delay);

/* Writes messages from the output queue to standard output: at most a bounded number, and none
   that would have to wait. */
void htw__delay_write_due(struct htw__delay *delay);

/* Whether more input may come, and whether there is room for it now. */
bool htw__delay_is_reading(const struct htw__delay *delay);
bool htw__delay_wants_input(const struct htw__delay *delay);

/* Schedules lines from the input's buffer: as many as there is room for, and at most
   HTW__DELAY_LINES_AT_ONCE. */
void htw__delay_accept_lines(struct htw__delay *delay);

/* Stops reading because there is no memory; what is pending will still be released. */
void htw__delay_stop_for_memory(struct htw__delay *delay, int error);

/* Ends the run, early or not; returns the exit status. */
int htw__delay_finish(struct htw__delay *delay);

#endif /* HTW_SRC_CMD_DELAY_STATE_H */
