/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw delay`. */
#include "options.h"

#include "../count.h"
#include "../terminal.h"
#include "../times.h"

#include <htw/wheel.h>

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Longer than any meant line, and small for any machine. */
#define MAX_LINE_DEFAULT ((size_t)16 * 1024 * 1024)

static bool set_acknowledge(const struct htw__option *option, void *member, const char *text) {
    uint64_t number;
    if (!htw__count_parse(text, &number) || number > INT_MAX)
        return htw__option_refuse(option, "not the number of a descriptor", text);
    int flags = number == 1 ? -1 : fcntl((int)number, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
        htw__terminal_error("--acknowledge: %s: %s", text,
                            number == 1 ? "the messages go there"
                                        : "the descriptor is not open for writing");
        return false;
    }
    *(int *)member = (int)number;
    return true;
}

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
    { 'p', "progress", NULL, htw__set_flag, AT(progress),
      .help = "show progress, if standard error is a terminal" },
    { 'u', "unreleased", "FILE", htw__set_path, AT(unreleased_path),
      .help = "when stopped early, replace FILE by what was read and not\n"
              "released, with the delays that remain, for another run;\n"
              "if that fails, save it under another name, and print that" },
    { 'j', "journal", "FILE", htw__set_path, AT(journal_path),
      .help = "keep all lines in this file until they are released: nothing is\n"
              "lost when the program is killed; the next run goes on" },
    { 'a', "acknowledge", "FD", set_acknowledge, AT(acknowledge_fd),
      .help = "with --journal: write to this descriptor how many lines are on\n"
              "the disk, as a line with a number, each time that it grows" },
    { 'i', "ids", NULL, htw__set_flag, AT(ids),
      .help = "with --journal: write the id before each message. One that is\n"
              "written again, after a crash, has the same id" },
    { 'r', "reread", NULL, htw__set_flag, AT(reread),
      .help = "with --journal: read files from their start, whatever of them\n"
              "the journal has read" },
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
        "nothing for them. Time in which the machine is suspended does not count. With --journal\n"
        "it is the other way round: all times are instants of the wall clock, and follow it.\n",
    .notes =
        "SIGINT, SIGTERM and SIGHUP stop the program: it writes what is due, if nothing has to be\n"
        "waited for, and saves the rest. Another one ends a save that takes longer than a\n"
        "second. SIGUSR1 draws the wheel on standard error, or prints the statistics of --journal.\n"
        "\n"
        "Exit status:\n"
        "  0        all messages were released\n"
        "  1        a line was bad, or reading or writing failed, or the journal\n"
        "  2        the command line is wrong\n"
        "  3        what was not released could not be saved, or not all, or not in FILE\n"
        "  141      the reader of standard output has gone (128 + SIGPIPE)\n"
        "  128 + N  signal N stopped the program\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

/* Whether the options agree with each other. */
static bool agree(const struct htw__options *options) {
    const struct {
        const char *name;
        bool is_set;
        bool needs_journal; /* otherwise it excludes one */
    } about[] = {
        { "--acknowledge", options->acknowledge_fd >= 0, true },
        { "--ids", options->ids, true },
        { "--reread", options->reread, true },
        { "--simulate", options->simulate, false },
        { "--from-start", options->from_start, false },
        { "--unreleased", options->unreleased_path != NULL, false },
    };
    for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
        if (!about[i].is_set || about[i].needs_journal == (options->journal_path != NULL))
            continue;
        htw__terminal_error("%s: %s --journal", about[i].name,
                            about[i].needs_journal ? "needs" : "cannot be used with");
        return false;
    }
    return true;
}

enum htw__wish htw__options_parse(int argc, char *argv[], struct htw__options *options) {
    static char standard_input[] = "-";
    static char *const no_names[] = { standard_input };
    *options = (struct htw__options) {
        .tick_ns = HTW__NS_PER_MS,
        .wheel_size = HTW_WHEEL_SIZE_DEFAULT,
        .max_pending = SIZE_MAX,
        .max_line = MAX_LINE_DEFAULT,
        .separator = '\n',
        .acknowledge_fd = -1,
        .names = no_names,
        .name_count = 1,
    };
    enum htw__wish wish = htw__command_line_read(&htw__options_line, argc, argv, options);
    if (wish == HTW__WISH_RUN && !agree(options))
        return htw__command_line_complain(&htw__options_line);
    if (optind < argc) {
        options->names = argv + optind;
        options->name_count = argc - optind;
    }
    return wish;
}
