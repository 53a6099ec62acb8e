/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw delay`. */
#include "options.h"

#include "../count.h"
#include "../terminal.h"
#include "../times.h"
#include "../wheel_options.h"

#include <htw/wheel.h>

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Longer than any meant line, and small for any machine. */
#define MAX_LINE_DEFAULT ((size_t)16 * 1024 * 1024)

#define USAGE "Usage: htw delay [OPTION]... [FILE]...\n"

const char htw__options_help[] = USAGE
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
    "it is the other way round: all times are instants of the wall clock, and follow it.\n"
    "\n"
    "  -t, --tick DURATION      the precision, from 1ns to 1d (default 1ms)\n"
    "  -w, --wheel-size N       buckets a level: a power of two from 2 to 4096 (default 256)\n"
    "  -m, --max-pending N      read no further while N messages are pending\n"
    "  -l, --max-line N         skip lines of more than N bytes (default 16777216), as bad ones\n"
    "  -f, --from-start         count delays from the start of the program\n"
    "  -n, --simulate           do not wait: run in virtual time, which does not pass while\n"
    "                           input is read; order and planned times stay the same\n"
    "  -T, --timestamps         write PLANNED REAL LATENESS before each message: two\n"
    "                           instants, and the difference in seconds\n"
    "  -0, --null               records of input and output end in NUL, not newline\n"
    "  -S, --strict             stop reading before the first bad line\n"
    "  -s, --stats              print statistics to standard error at the end\n"
    "  -p, --progress           show progress, if standard error is a terminal\n"
    "  -u, --unreleased FILE    when stopped early, replace FILE by what was read and not\n"
    "                           released, with the delays that remain, for another run;\n"
    "                           if that fails, save it under another name, and print that\n"
    "  -j, --journal FILE       keep all lines in this file until they are released: nothing is\n"
    "                           lost when the program is killed; the next run goes on\n"
    "  -a, --acknowledge FD     with --journal: write to this descriptor how many lines are on\n"
    "                           the disk, as a line with a number, each time that it grows\n"
    "  -i, --ids                with --journal: write the id before each message. One that is\n"
    "                           written again, after a crash, has the same id\n"
    "  -r, --reread             with --journal: read files from their start, whatever of them\n"
    "                           the journal has read\n"
    "      --monitor[=PATH]     show the pending messages to `htw top`, through the socket PATH\n"
    "                           or, without it, one named for the process\n"
    "  -h, --help               print this help\n"
    "  -V, --version            print the version\n"
    "\n"
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
    "  128 + N  signal N stopped the program\n";

enum { MONITOR = 256 };

static const struct option long_options[] = {
    { "tick", required_argument, NULL, 't' },
    { "wheel-size", required_argument, NULL, 'w' },
    { "max-pending", required_argument, NULL, 'm' },
    { "max-line", required_argument, NULL, 'l' },
    { "from-start", no_argument, NULL, 'f' },
    { "simulate", no_argument, NULL, 'n' },
    { "timestamps", no_argument, NULL, 'T' },
    { "null", no_argument, NULL, '0' },
    { "strict", no_argument, NULL, 'S' },
    { "stats", no_argument, NULL, 's' },
    { "progress", no_argument, NULL, 'p' },
    { "unreleased", required_argument, NULL, 'u' },
    { "journal", required_argument, NULL, 'j' },
    { "acknowledge", required_argument, NULL, 'a' },
    { "ids", no_argument, NULL, 'i' },
    { "reread", no_argument, NULL, 'r' },
    { "monitor", optional_argument, NULL, MONITOR },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

static bool set_path(const char **path, const char *name, const char *text) {
    if (*text == '\0' || strcmp(text, "-") == 0) {
        htw__terminal_error("%s: not the name of a file: '%s'", name, text);
        return false;
    }
    *path = text;
    return true;
}

static bool set_acknowledge(struct htw__options *options, const char *text) {
    uint64_t number;
    if (!htw__count_parse(text, &number) || number > INT_MAX) {
        htw__terminal_error("--acknowledge: not the number of a descriptor: %s", text);
        return false;
    }
    int flags = number == 1 ? -1 : fcntl((int)number, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
        htw__terminal_error("--acknowledge: %s: %s", text,
                            number == 1 ? "the messages go there"
                                        : "the descriptor is not open for writing");
        return false;
    }
    options->acknowledge_fd = (int)number;
    return true;
}

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

static bool set_limit(size_t *limit, const char *name, const char *text) {
    uint64_t count;
    if (!htw__count_parse(text, &count) || count == 0 || count > SIZE_MAX) {
        htw__terminal_error("%s: not a number of at least 1: %s", name, text);
        return false;
    }
    *limit = (size_t)count;
    return true;
}

/* Takes one option of the letter `option`; false when its argument is wrong. */
static bool set(struct htw__options *options, int option, const char *argument) {
    switch (option) {
    case 't':
        return htw__tick_parse(argument, &options->tick_ns);
    case 'w':
        return htw__wheel_size_parse(argument, &options->wheel_size);
    case 'm':
        return set_limit(&options->max_pending, "--max-pending", argument);
    case 'l':
        return set_limit(&options->max_line, "--max-line", argument);
    case 'f':
        options->from_start = true;
        return true;
    case 'n':
        options->simulate = true;
        return true;
    case 'T':
        options->timestamps = true;
        return true;
    case '0':
        options->separator = '\0';
        return true;
    case 'S':
        options->strict = true;
        return true;
    case 's':
        options->stats = true;
        return true;
    case 'p':
        options->progress = true;
        return true;
    case 'u':
        return set_path(&options->unreleased_path, "--unreleased", argument);
    case 'j':
        return set_path(&options->journal_path, "--journal", argument);
    case 'a':
        return set_acknowledge(options, argument);
    case 'i':
        options->ids = true;
        return true;
    case 'r':
        options->reread = true;
        return true;
    case MONITOR:
        options->monitor = true;
        return argument == NULL || set_path(&options->monitor_path, "--monitor", argument);
    default: /* '?': getopt has complained */
        return false;
    }
}

static enum htw__options_request complain(void) {
    fputs(USAGE "Try 'htw delay --help' for more information.\n", stderr);
    return HTW__OPTIONS_WRONG;
}

enum htw__options_request htw__options_parse(int argc, char *argv[], struct htw__options *options) {
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
    int option;
    while ((option = getopt_long(argc, argv, "t:w:m:l:fnT0Sspu:j:a:irhV", long_options, NULL)) !=
           -1) {
        if (option == 'h')
            return HTW__OPTIONS_HELP;
        if (option == 'V')
            return HTW__OPTIONS_VERSION;
        if (!set(options, option, optarg))
            return complain();
    }
    if (!agree(options))
        return complain();
    if (optind < argc) {
        options->names = argv + optind;
        options->name_count = argc - optind;
    }
    return HTW__OPTIONS_RUN;
}
