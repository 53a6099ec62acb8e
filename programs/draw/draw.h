/* SPDX-License-Identifier: MIT */
/* draw.h - the command `htw draw`: a run of timers in virtual time, and a picture of its wheel. */
#ifndef HTW_DRAW_DRAW_H
#define HTW_DRAW_DRAW_H

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct htw__run {
    /* As the command line says. */
    int64_t tick_ns;
    uint32_t wheel_size;
    char separator;
    int64_t until_ns; /* --at, if it `has_time`: lines that come later are not read */
    bool has_time;
    int64_t start_ns; /* the instant of the wall clock at which time begins */
    bool svg;

    struct htw_wheel *wheel;
    int64_t now_ns;
    bool is_over;    /* a line waits for longer than `until_ns` */
    bool has_failed; /* a line was bad or a file could not be read: the reason was printed */
};

/* Does what the lines of the files say, up to `until_ns`. Returns 0 or -ENOMEM; in both cases htw__run_fini() ends its use. */
int htw__run_lines(struct htw__run *run, char *const names[], int count);
void htw__run_fini(struct htw__run *run);

/*
 * Writes the picture: the levels with how full their buckets are, the clock, the next wake-up, and the first
 * buckets of the delay queue. It is 830 wide, and readable on a light and on a dark page. Its size is bounded:
 * of a level with many buckets it shows groups. The same wheel gives the same bytes. No timer of it may be due.
 * Whether writing has failed, the stream knows.
 */
void htw__picture_write(const struct htw_wheel *wheel, int64_t tick_ns, FILE *stream);

/* Runs the command; `argv[0]` is its name in messages. Returns the exit status. */
int htw__draw_command(int argc, char *argv[]);

#endif /* HTW_DRAW_DRAW_H */
