/* SPDX-License-Identifier: MIT */
/*
 * draw.h - the command `htw draw`: a run of timers in virtual time, as lines describe it, and a picture of its wheel.
 *
 * The lines are those of `htw delay`, `DELAY MESSAGE`, and `wait DURATION`, which lets time pass. Time begins at 0 and
 * passes only in `wait` and htw__run_advance().
 */
#ifndef HTW_DRAW_DRAW_H
#define HTW_DRAW_DRAW_H

#include "../kit/command_line.h"
#include "../kit/input.h"
#include "../kit/times.h"

#include <htw/wheel.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the command line says of a run. */
struct htw__run_options {
    int64_t tick_ns;
    uint32_t wheel_size;
    char separator;
    int64_t until_ns;   /* lines that come later are not read */
    int64_t start_ns;   /* the instant of the wall clock at which time begins */
    char *const *names; /* of the files */
    int name_count;     /* at least 1 */
};

struct htw__run_timer {
    struct htw_timer timer;
    struct htw__run_timer *previous; /* the one that was made before it */
};

struct htw__run {
    const struct htw__run_options *options;
    struct htw_wheel *wheel;
    int64_t now_ns;
    struct htw__run_timer *last; /* of all that were made */
    bool has_failed; /* a line was bad or a file could not be read: the reason was printed */
};

/* Returns 0 or -ENOMEM; in both cases htw__run_fini() ends its use. */
int htw__run_init(struct htw__run *run, const struct htw__run_options *options);
void htw__run_fini(struct htw__run *run);

/* Reads all lines up to `until`. Returns 0 or -ENOMEM. */
int htw__run_read(struct htw__run *run);

/* Lets time pass until `time_ns`, if that is later. */
void htw__run_advance(struct htw__run *run, int64_t time_ns);

/* Sets what the options mean where they are not given. */
void htw__run_options_init(struct htw__run_options *options);

/* ---- picture.c */

/*
 * Writes the picture: the levels with how full their buckets are, the clock, the next wake-up, and the first
 * buckets of the delay queue. It is 830 wide, and readable on a light and on a dark page. Its size is bounded:
 * of a level with many buckets it shows groups. The same wheel gives the same bytes. No timer of it may be due.
 * Whether writing has failed, the stream knows.
 */
void htw__picture_write(struct htw_wheel *wheel, int64_t tick_ns, FILE *stream);

/* ---- draw.c */

/* Runs the command; `argv[0]` is its name in messages. Returns the exit status. */
int htw__draw_command(int argc, char *argv[]);

#endif /* HTW_DRAW_DRAW_H */
