/* SPDX-License-Identifier: MIT */
/*
 * state.h - one run of `htw delay`, and an overview.
 *
 * One loop (delay.c) moves lines of the input into a wheel (accept.c), and messages that are due
 * from there to the output queue, and writes that (output.c).
 */
#ifndef HTW_DELAY_STATE_H
#define HTW_DELAY_STATE_H

#include "../kit/input.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "timeline.h"

#include <htw/wheel.h>

#include <stdbool.h>

struct htw__delay {
    const struct htw__options *options;
    struct htw__timeline timeline;
    struct htw__input input;
    struct htw_wheel *wheel;
    struct htw__output output;
    struct htw__report report;
    bool has_stopped_reading; /* for a bad line, or because there is no memory */
    bool is_broken;           /* the run ends early */
    bool has_failed;
    bool has_more_due; /* the last step has not emptied the wheel of what is due */
    int output_error;  /* a negative errno once standard output has failed */
};

/* ---- accept.c. Each step does a bounded amount of work, so that none delays the others. */

/* Whether more input may come, and whether there is room for it now. */
bool htw__delay_is_reading(const struct htw__delay *delay);
bool htw__delay_wants_input(const struct htw__delay *delay);

/* Accepts lines from the input's buffer, as many as there is room for. */
void htw__delay_accept_lines(struct htw__delay *delay);

/* Stops reading because there is no memory; what is pending will still be released. */
void htw__delay_stop_reading(struct htw__delay *delay, int error);

/* Moves messages that are due to the output queue; returns whether more may be due. */
bool htw__delay_collect_due(struct htw__delay *delay);

#endif /* HTW_DELAY_STATE_H */
