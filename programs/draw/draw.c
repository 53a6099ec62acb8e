/* SPDX-License-Identifier: MIT */
/* draw.c - the command `htw draw`: a wheel at one instant, as text or as SVG. */
#include "draw.h"

#include "../kit/times.h"
#include "../kit/safe_file.h"
#include "../kit/command_line.h"
#include "../kit/terminal.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

struct options {
    struct htw__run_options run;
    bool has_time; /* --at */
    bool svg;
    const char *output; /* NULL: standard output */
};

static bool set_at(const struct htw__option *option, void *member, const char *argument) {
    const char *why = htw__duration_parse(argument, strlen(argument), member);
    return why == NULL || htw__option_refuse(option, why, argument);
}

static bool set_begin(const struct htw__option *option, void *member, const char *argument) {
    argument += *argument == '@';
    const char *why = htw__instant_parse(argument, strlen(argument), member);
    return why == NULL || htw__option_refuse(option, why, argument);
}

#define AT(member) HTW__OPTION_AT(struct options, member)

static const struct htw__option rows[] = {
    { 'a', "at", "DURATION", set_at, AT(run.until_ns), .also = offsetof(struct options, has_time),
      .help = "draw the wheel at this time, counted from the start, without\n"
              "the lines that come later (default: when all lines have been\n"
              "read)" },
    { 's', "svg", NULL, htw__set_flag, AT(svg), .help = "write an SVG picture, not text" },
    { 'o', "output", "FILE", htw__set_word, AT(output),
      .help = "replace FILE by the drawing, unless the input has errors; not\n"
              "write it to standard output" },
    HTW__OPTION_TICK(struct options, run.tick_ns,
                     "the length of a tick, from 1ns to 1d (default 1ms)"),
    HTW__OPTION_WHEEL_SIZE(struct options, run.wheel_size),
    { 'b', "begin", "INSTANT", set_begin, AT(run.start_ns),
      .help = "the instant at which time begins, for lines with an @instant,\n"
              "such as 2026-01-01T00:00:00Z (default: now)" },
    { '0', "null", NULL, htw__set_null, AT(run.separator),
      .help = "lines end in NUL, not newline" },
};

static const struct htw__command_line line = {
    .program = "htw draw",
    .usage = "Usage: htw draw [OPTION]... [FILE]...\n",
    .about =
        "Draw the timing wheel that holds the timers of the input, at an instant.\n"
        "\n"
        "The input consists of lines `DELAY MESSAGE`, as for `htw delay`, and of this one:\n"
        "  wait DURATION          time passes; before the first, all is armed at time 0\n"
        "With no FILE, or when FILE is -, standard input is read. All happens at once, in virtual\n"
        "time.\n",
    .notes =
        "The text is what SIGUSR1 makes `htw delay` print. With --begin, or without lines that have\n"
        "an @instant, the same input always gives the same drawing.\n"
        "\n"
        "Exit status:\n"
        "  0        the wheel was drawn\n"
        "  1        it was drawn without lines that were bad, or could not be drawn; FILE is as before\n"
        "  2        the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

static int draw(const struct htw__run *run, const struct options *options) {
    struct htw__save save;
    int error = htw__save_begin(&save);
    if (error != 0)
        return error;
    if (options->svg)
        htw__picture_write(run->wheel, options->run.tick_ns, save.stream);
    else
        htw_wheel_dump(run->wheel, save.stream);
    return htw__save_end(&save, options->output, run->has_failed);
}

static int run_and_draw(const struct options *options) {
    struct htw__run run;
    const char *what = "cannot read";
    int error = htw__run_init(&run, &options->run);
    if (error == 0)
        error = htw__run_read(&run);
    if (error == 0 && options->has_time)
        htw__run_advance(&run, options->run.until_ns);
    if (error == 0) {
        what = options->output == NULL ? "standard output" : options->output;
        error = draw(&run, options);
    }
    if (error != 0)
        htw__terminal_error("%s: %s", what, strerror(-error));
    bool has_failed = run.has_failed || error != 0;
    htw__run_fini(&run);
    return has_failed ? HTW__EXIT_FAILED : 0;
}

int htw__draw_command(int argc, char *argv[]) {
    struct options options = { .output = NULL };
    htw__run_options_init(&options.run);
    enum htw__wish wish = htw__command_line_read(&line, argc, argv, &options);
    if (optind < argc) {
        options.run.names = argv + optind;
        options.run.name_count = argc - optind;
    }
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    return run_and_draw(&options);
}
