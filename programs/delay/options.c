/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw delay`. */
#include "options.h"

#include "../kit/times.h"

#include <htw/wheel.h>

#include <getopt.h>

/* Longer than any meant line, and small for any machine. */
#define MAX_LINE_DEFAULT ((size_t)16 * 1024 * 1024)

#define AT(member) HTW__OPTION_AT(struct htw__options, member)

static const struct htw__option rows[] = {
    HTW__OPTION_TICK(struct htw__options, tick_ns, "the precision, from 1ns to 1d (default 1ms)"),
    HTW__OPTION_WHEEL_SIZE(struct htw__options, wheel_size),
    { 'm', "max-pending", "N", htw__set_number, AT(max_pending), .least = 1,
      .help = "read no further while N messages are pending" },
    { 'l', "max-line", "N", htw__set_number, AT(max_line), .least = 1,
      .help = "skip lines of more than N bytes (default 16777216), as bad ones" },
    { 'f', "from-start", NULL, htw__set_flag, AT(from_start),
      .help = "count delays from the start of the program" },
    { 'n', "simulate", NULL, htw__set_flag, AT(simulate),
      .help = "do not wait: run in virtual time, which does not pass while\n"
              "input is read; order and planned times stay the same" },
    { 'T', "timestamps", NULL, htw__set_flag, AT(timestamps),
      .help = "write PLANNED REAL LATENESS before each message: two\n"
              "instants, and the difference in seconds" },
    { '0', "null", NULL, htw__set_null, AT(separator),
      .help = "records of input and output end in NUL, not newline" },
    { 'S', "strict", NULL, htw__set_flag, AT(strict),
      .help = "stop reading before the first bad line" },
    { 's', "stats", NULL, htw__set_flag, AT(stats),
      .help = "print statistics to standard error at the end" },
    { 'u', "unreleased", "FILE", htw__set_path, AT(unreleased_path),
      .help = "when stopped early, replace FILE by what was read and not\n"
              "released, with the delays that remain, for another run;\n"
              "if that fails, save it in another file, and print its name" },
    { 0, "monitor", "[=PATH]", htw__set_path, AT(monitor_path),
      .also = offsetof(struct htw__options, monitor),
      .help = "show the pending messages to `htw top`, through the socket PATH\n"
              "or, without it, one named for the process" },
};

const struct htw__command_line htw__options_line = {
    .program = "htw delay",
    .usage = "Usage: htw delay [OPTION]... [FILE]...\n",
    .about =
        "Release each message of the input when its delay is over.\n"
        "\n"
        "The input consists of lines `DELAY MESSAGE`, with one blank or tab between. MESSAGE is\n"
        "written to standard output when DELAY, counted from when the line was read, is over:\n"
        "never earlier, and in order of time (of lines for the same tick: in order of input).\n"
        "With no FILE, or when FILE is -, standard input is read.\n"
        "\n"
        "DELAY is one of\n"
        "  250ms  1.5s  10m  2h30m  3d  +500us  a duration, in w d h m (or min) s ms us ns\n"
        "  0.25  1e-06                          seconds\n"
        "  @1767225600.5                        an instant: seconds since 1970\n"
        "  @2026-01-01T00:00:00Z                an instant: a date (RFC 3339); a past one: at once\n"
        "Instants are converted when they are read: a wall clock that is set later changes\n"
        "nothing for them. Time in which the machine is suspended does not count.\n",
    .notes =
        "SIGINT, SIGTERM and SIGHUP stop the program: it writes what is due, if nothing has to be\n"
        "waited for, and saves the rest. Another one ends a save that takes longer than a\n"
        "second. SIGUSR1 draws the wheel on standard error.\n"
        "\n"
        "Exit status:\n"
        "  0        all messages were released\n"
        "  1        a line was bad, or reading or writing failed\n"
        "  2        the command line is wrong\n"
        "  3        what was not released could not be saved, or not in FILE\n"
        "  141      the reader of standard output has gone (128 + SIGPIPE)\n"
        "  128 + N  signal N stopped the program\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

enum htw__wish htw__options_parse(int argc, char *argv[], struct htw__options *options) {
    static char standard_input[] = "-";
    static char *const no_names[] = { standard_input };
    *options = (struct htw__options) {
        .tick_ns = HTW_MILLISECOND,
        .wheel_size = HTW_WHEEL_SIZE_DEFAULT,
        .max_pending = SIZE_MAX,
        .max_line = MAX_LINE_DEFAULT,
        .separator = '\n',
        .names = no_names,
        .name_count = 1,
    };
    enum htw__wish wish = htw__command_line_read(&htw__options_line, argc, argv, options);
    if (optind < argc) {
        options->names = argv + optind;
        options->name_count = argc - optind;
    }
    return wish;
}
