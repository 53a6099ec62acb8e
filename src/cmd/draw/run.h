/* SPDX-License-Identifier: MIT */
/*
 * run.h - a run of timers in virtual time, as lines describe it: the wheel of `htw draw` and `htw replay`.
 *
 * The lines are those of `htw delay`, `DELAY MESSAGE`, and three more, which say what else a program does with
 * its timers: `wait DURATION` lets time pass, `cancel MESSAGE` and `move DELAY MESSAGE` are for the latest
 * pending timer with this message. Time begins at 0 and passes only in `wait` and htw__run_advance().
 */
#ifndef HTW_SRC_CMD_DRAW_RUN_H
#define HTW_SRC_CMD_DRAW_RUN_H

#include "traced.h"

#include "../times.h"
#include "../../base/key_table.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stddef.h>

/* What the commands have in common. */
struct htw__run_options {
    int64_t tick_ns;
    uint32_t wheel_size;
    char separator;
    size_t max_timers;      /* a run with more fails */
    struct htw__time until; /* lines that come later are not read */
    struct htw__time start; /* the instant of the wall clock at which time begins */
    char *const *names;     /* of the files */
    int name_count;         /* at least 1 */
};

struct htw__run_timer {
    struct htw_timer timer;
    struct htw__key_node node;       /* in `by_name`, if it is the latest of its name */
    struct htw__run_timer *shadowed; /* the one before it with its name */
    uint32_t id;                     /* 0, 1, 2 ... in the order of the lines */
    uint32_t name_size;
    char name[];
};

/* Is told of each step of the wheel; `timer` is NULL where that of htw__traced() is. */
typedef void htw__run_observer(void *context, enum htw__trace_step step,
                               const struct htw__run_timer *timer, uint64_t number);

struct htw__run {
    const struct htw__run_options *options;
    struct htw_wheel *wheel;
    struct htw__time now;
    struct htw__run_timer **timers; /* by id, those that have ended, too */
    size_t timer_count, timer_capacity;
    struct htw__key_table by_name;
    uint64_t seed;               /* of its hashes: strangers may choose the names */
    htw__run_observer *observer; /* may be NULL */
    void *context;
    bool has_failed; /* a line was bad or a file could not be read: the reason was printed */
};

/* There may be one run at a time. `observer` may be NULL. Returns 0 or -ENOMEM; in both cases
 * htw__run_fini() ends its use. */
int htw__run_init(struct htw__run *run, const struct htw__run_options *options,
                  htw__run_observer *observer, void *context);
void htw__run_fini(struct htw__run *run);

/* Reads all lines up to `until`. Returns 0, -ENOMEM, or -E2BIG: more than `max_timers`. */
int htw__run_read(struct htw__run *run);

/* Lets time pass until `time`, if that is later. */
void htw__run_advance(struct htw__run *run, struct htw__time time);

/* Lets time pass until no timer with a deadline is pending. */
void htw__run_finish(struct htw__run *run);

/* Sets what the options of both commands mean without them. */
void htw__run_options_init(struct htw__run_options *options);

/* Takes one option that the commands share, by its letter: -t, -w, -0 or -b. 0: it is none of them; -1: its
 * argument is wrong, which was printed. */
int htw__run_options_set(struct htw__run_options *options, int letter, const char *argument);

/* What of --help these options need. */
#define HTW__RUN_HELP                                                                              \
    "  -t, --tick DURATION    the length of a tick, from 1ns to 1d (default 1ms)\n"                \
    "  -w, --wheel-size N     buckets a level: a power of two from 2 to 4096 (default 256)\n"      \
    "  -b, --begin INSTANT    the instant at which time begins, for lines with an @instant, such " \
    "as\n"                                                                                         \
    "                         2026-01-01T00:00:00Z (default: now)\n"                               \
    "  -0, --null             lines end in NUL, not newline\n"

#define HTW__RUN_INPUT_HELP                                                                      \
    "The input consists of lines `DELAY MESSAGE`, as for `htw delay`, and of these:\n"           \
    "  wait DURATION          time passes; before the first, all is armed at time 0\n"           \
    "  cancel MESSAGE         cancels the latest pending timer with this message\n"              \
    "  move DELAY MESSAGE     gives it another delay, counted from the present time\n"           \
    "With no FILE, or when FILE is -, standard input is read. All happens at once, in virtual\n" \
    "time.\n"

#define HTW__RUN_LETTERS "t:w:b:0hV"

/* For the table of getopt_long(). */
#define HTW__RUN_LONG_OPTIONS                                                                 \
    { "tick", required_argument, NULL, 't' }, { "wheel-size", required_argument, NULL, 'w' }, \
        { "begin", required_argument, NULL, 'b' }, { "null", no_argument, NULL, '0' },        \
        { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, {          \
        NULL, 0, NULL, 0                                                                      \
    }

#endif /* HTW_SRC_CMD_DRAW_RUN_H */
