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

#include "../command_line.h"
#include "../delay/input.h"
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
    size_t max_timers;        /* a run with more fails */
    struct htw__time until;   /* lines that come later are not read */
    struct htw__time start;   /* the instant of the wall clock at which time begins */
    char *const *names;       /* of the files */
    int name_count;           /* at least 1 */
    struct htw__input *input; /* to read instead of them: it may have been begun; NULL: none */
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

/* Arms a timer with a deadline in ticks; its name is copied. Returns 0, -ENOMEM, or -E2BIG: more than
 * `max_timers`. */
int htw__run_arm(struct htw__run *run, const char *name, size_t size, uint64_t deadline);

/* The latest pending timer with a name; NULL: there is none. */
struct htw__run_timer *htw__run_find(struct htw__run *run, const char *name, size_t size);

/* Begins to read the files of the options. Returns 0 or -ENOMEM; htw__input_fini() ends it in both cases. */
int htw__run_open(struct htw__input *input, const struct htw__run_options *options);

/* Waits until the input can be read, and reads: a pipe may be slow, and is perhaps not blocking. Returns 0 or
 * -ENOMEM. */
int htw__run_fill(struct htw__input *input);

/* Waits for the first line, and returns whether it begins with a character. */
bool htw__run_begins(struct htw__input *input, char first);

/* Reads all lines up to `until`. Returns 0, -ENOMEM, or -E2BIG: more than `max_timers`. */
int htw__run_read(struct htw__run *run);

/* Lets time pass until `time`, if that is later. */
void htw__run_advance(struct htw__run *run, struct htw__time time);

/* Lets time pass until no timer with a deadline is pending. */
void htw__run_finish(struct htw__run *run);

/* Sets what the options of both commands mean without them. */
void htw__run_options_init(struct htw__run_options *options);

htw__setter htw__run_set_instant;

/* The options that both commands have. `type` has a member `run`, the struct above. */
#define HTW__RUN_OPTIONS(type)                                                                 \
    HTW__OPTION_TICK(type, run.tick_ns, "the length of a tick, from 1ns to 1d (default 1ms)"), \
        HTW__OPTION_WHEEL_SIZE(type, run.wheel_size),                                          \
        { 'b',                                                                                 \
          "begin",                                                                             \
          "INSTANT",                                                                           \
          htw__run_set_instant,                                                                \
          HTW__OPTION_AT(type, run.start),                                                     \
          .help = "the instant at which time begins, for lines with an @instant,\n"            \
                  "such as 2026-01-01T00:00:00Z (default: now)" },                             \
    {                                                                                          \
        '0', "null", NULL, htw__set_null, HTW__OPTION_AT(type, run.separator),                 \
            .help = "lines end in NUL, not newline"                                            \
    }

/* Reads the arguments into `options`, which begins with the struct above, and the names of files into that. */
enum htw__wish htw__run_options_read(const struct htw__command_line *line, int argc, char *argv[],
                                     struct htw__run_options *options);

/* What their --help says of the input. */
#define HTW__RUN_INPUT_HELP                                                                      \
    "The input consists of lines `DELAY MESSAGE`, as for `htw delay`, and of these:\n"           \
    "  wait DURATION          time passes; before the first, all is armed at time 0\n"           \
    "  cancel MESSAGE         cancels the latest pending timer with this message\n"              \
    "  move DELAY MESSAGE     gives it another delay, counted from the present time\n"           \
    "With no FILE, or when FILE is -, standard input is read. All happens at once, in virtual\n" \
    "time.\n"

#endif /* HTW_SRC_CMD_DRAW_RUN_H */
