/* SPDX-License-Identifier: MIT */
/* draw.c - the command `htw draw`: a wheel at one instant, as text or as SVG. */
#include "draw.h"

#include "picture.h"
#include "run.h"
#include "save.h"
#include "../duration.h"
#include "../status.h"
#include "../terminal.h"
#include "../version.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define USAGE "Usage: htw draw [OPTION]... [FILE]...\n"

static const char help[] = USAGE
    "Draw the timing wheel that holds the timers of the input, at an instant.\n"
    "\n" HTW__RUN_INPUT_HELP "\n"
    "  -a, --at DURATION      draw the wheel at this time, counted from the start, without the "
    "lines\n"
    "                         that come later (default: when all lines have been read)\n"
    "  -s, --svg              write an SVG picture, not text\n"
    "  -p, --shape SHAPE      the levels of the picture: `rings` (the default) or `strips`\n"
    "  -o, --output FILE      replace FILE by the drawing, unless the input has errors; not write "
    "it "
    "to\n"
    "                         standard output\n" HTW__RUN_HELP
    "  -h, --help             print this help\n"
    "  -V, --version          print the version\n"
    "\n"
    "The text is what SIGUSR1 makes `htw delay` print. With --begin, or without lines that have\n"
    "an @instant, the same input always gives the same drawing.\n"
    "\n"
    "Exit status:\n"
    "  0        the wheel was drawn\n"
    "  1        it was drawn without lines that were bad, or could not be drawn; FILE is as "
    "before\n"
    "  2        the command line is wrong\n";

static const struct option long_options[] = {
    { "at", required_argument, NULL, 'a' },
    { "svg", no_argument, NULL, 's' },
    { "shape", required_argument, NULL, 'p' },
    { "output", required_argument, NULL, 'o' },
    HTW__RUN_LONG_OPTIONS,
};

struct options {
    struct htw__run_options run;
    bool has_time; /* --at */
    bool svg;
    enum htw__picture_shape shape;
    const char *output; /* NULL: standard output */
};

static bool set_at(struct options *options, const char *text) {
    const char *why = htw__duration_parse(text, strlen(text), &options->run.until);
    options->has_time = true;
    if (why != NULL)
        htw__terminal_error("--at: %s: %s", why, text);
    return why == NULL;
}

static bool set_shape(struct options *options, const char *text) {
    options->svg = true;
    options->shape = strcmp(text, "strips") == 0 ? HTW__PICTURE_STRIPS : HTW__PICTURE_RINGS;
    if (options->shape == HTW__PICTURE_RINGS && strcmp(text, "rings") != 0) {
        htw__terminal_error("--shape: neither rings nor strips: %s", text);
        return false;
    }
    return true;
}

static bool set(struct options *options, int letter, const char *argument) {
    switch (letter) {
    case 'a':
        return set_at(options, argument);
    case 's':
        options->svg = true;
        return true;
    case 'p':
        return set_shape(options, argument);
    case 'o':
        options->output = argument;
        return true;
    default: /* '?': getopt has complained */
        return htw__run_options_set(&options->run, letter, argument) > 0;
    }
}

static int draw(const struct htw__run *run, const struct options *options) {
    struct htw__save save;
    int error = htw__save_begin(&save);
    if (error != 0)
        return error;
    if (options->svg)
        htw__picture_write(run->wheel, options->run.tick_ns, options->shape, save.stream);
    else
        htw_wheel_dump(run->wheel, save.stream);
    return htw__save_end(&save, options->output, run->has_failed);
}

static int run_and_draw(const struct options *options) {
    struct htw__run run;
    const char *what = "cannot read";
    int error = htw__run_init(&run, &options->run, NULL, NULL);
    if (error == 0)
        error = htw__run_read(&run);
    if (error == 0 && options->has_time)
        htw__run_advance(&run, options->run.until);
    if (error == 0) {
        (void)htw_wheel_next(run.wheel); /* discards buckets that cancels have emptied */
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
    htw__terminal_name(argv[0]);
    htw__run_options_init(&options.run);
    int letter;
    while ((letter = getopt_long(argc, argv, "a:sp:o:" HTW__RUN_LETTERS, long_options, NULL)) !=
           -1) {
        if (letter == 'h')
            return fputs(help, stdout) < 0 || fflush(stdout) != 0;
        if (letter == 'V')
            return htw__version_print(argv[0]);
        if (!set(&options, letter, optarg)) {
            fputs(USAGE "Try 'htw draw --help' for more information.\n", stderr);
            return HTW__EXIT_USAGE;
        }
    }
    if (optind < argc) {
        options.run.names = argv + optind;
        options.run.name_count = argc - optind;
    }
    return run_and_draw(&options);
}
