/* SPDX-License-Identifier: MIT */
/*
 * state.h - one run of `htw delay`, and an overview.
 *
 * One loop (delay.c) moves lines of the input into a STORE, and messages that are due from there to the
 * output queue, and writes that. There are two stores: memory.c keeps messages in a wheel; the journal
 * (durable_state.h) keeps them in a file. Each embeds `struct htw__delay` in a struct of its own.
 */
#ifndef HTW_SRC_CMD_DELAY_STATE_H
#define HTW_SRC_CMD_DELAY_STATE_H

#include "input.h"
#include "line.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "timeline.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__delay;

/* What the loop does after a round. */
enum htw__delay_next {
    HTW__DELAY_SLEEPS,
    HTW__DELAY_GOES_ON,
    HTW__DELAY_IS_FINISHED, /* unless messages wait in the output queue */
};

/* What a run that ends has not released. */
struct htw__delay_left {
    uint64_t count;
    char where[PATH_MAX + 64];  /* what became of it: follows "N not released" */
    char error[PATH_MAX + 128]; /* a sentence before that; empty: none */
    bool is_told;               /* also where only the reader has gone */
    bool is_unsaved; /* the exit status tells that it is not in the file that was asked for */
    uint64_t fragment_line; /* the record of which only a part was read; 0: none */
};

/* The operations of a store. Each does a bounded amount of work, so that none delays the others. */
struct htw__store {
    /* Everything that can fail before the first line is read; false: the reason was printed. `close` is
       called in any case, and returns false where something was lost only then. */
    bool (*open)(struct htw__delay *delay);
    bool (*close)(struct htw__delay *delay);

    /* Moves messages that are due to the output queue; returns whether more may be due. */
    bool (*collect_due)(struct htw__delay *delay);

    /* How many lines it may be given now. */
    size_t (*room)(const struct htw__delay *delay);

    /* Takes a message that is due at `due`. NULL, or why the line is bad. Where there is no memory it
       calls htw__delay_stop_reading(). */
    const char *(*put)(struct htw__delay *delay, const struct htw__line *line, struct htw__time due,
                       struct htw__time now);

    /* The end of a round, after the last line of it; NULL: nothing is to be done then. */
    void (*commit)(struct htw__delay *delay);

    /* `*ret_ns`: where the loop sleeps, how long at most; INT64_MAX: until something happens. */
    enum htw__delay_next (*next)(struct htw__delay *delay, int64_t *ret_ns);

    /* At an early end: what is pending, and lines of the input that are here, are saved or counted. Nothing
       is printed, unless `left` cannot hold it. */
    void (*save)(struct htw__delay *delay, struct htw__delay_left *left);

    /* What is shown: the line of --progress, at SIGUSR1, with --stats. */
    void (*show_progress)(const struct htw__delay *delay, struct htw__progress_numbers *numbers);
    void (*draw)(const struct htw__delay *delay);
    void (*print_stats)(const struct htw__delay *delay);
};

struct htw__delay {
    const struct htw__store *store;
    const struct htw__options *options;
    struct htw__timeline timeline;
    struct htw__input input;
    uint64_t taken;                /* lines, bad ones included */
    struct htw__input_place place; /* behind the last one */
    struct htw__output output;
    struct htw__report report;
    struct htw__progress progress;
    struct pollfd awaited[2]; /* what may wake the store, set by it; -1: nothing */
    bool stdout_is_terminal;
    bool has_stopped_reading; /* for a bad line, or because there is no memory */
    bool is_busy;             /* the store takes no lines until a descriptor wakes it */
    bool is_broken;           /* the run ends early */
    bool has_failed;
    bool slept_until_due; /* the last sleep was ended by a deadline */
    int output_error;     /* a negative errno once standard output has failed */
};

/* ---- accept.c */

/* Whether more input may come, and whether there is room for it now. */
bool htw__delay_is_reading(const struct htw__delay *delay);
bool htw__delay_wants_input(const struct htw__delay *delay);

/* Whether a whole line is in the buffer. */
bool htw__delay_has_line(struct htw__delay *delay);

/* Gives lines from the input's buffer to the store, as many as it has room for. `is_last`: also after a
   signal, but no line of which only a part was read. */
void htw__delay_accept_lines(struct htw__delay *delay, bool is_last);

/* Stops reading because there is no memory; what is pending will still be released. */
void htw__delay_stop_reading(struct htw__delay *delay, int error);

/* Prints an error (a negative errno); the exit status will be HTW__EXIT_FAILED. */
void htw__delay_fail(struct htw__delay *delay, const char *what, int error);

/* Whether a path names one of the inputs, and so must not be written to; the error is printed then. */
bool htw__delay_reads(const struct htw__delay *delay, const char *path, const char *option);

/* ---- delay.c */

/* A whole run over `delay->store`; returns the exit status. */
int htw__delay_run(struct htw__delay *delay, const struct htw__options *options);

#endif /* HTW_SRC_CMD_DELAY_STATE_H */
