/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw top`. */
#include "options.h"

#include "../duration.h"
#include "../terminal.h"
#include "../times.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define USAGE "Usage: htw top [OPTION]... [PID | PATH]\n"

const char htw__top_help[] = USAGE
    "Show what the timers of a running program do.\n"
    "\n"
    "The program has opened its statistics, by htw_monitor_open() or an option such as that of\n"
    "`htw delay --monitor`. It is named by its process, or by the path of its socket. Without a\n"
    "name: the only program of this user that can be watched; if there are several, they are\n"
    "listed.\n"
    "\n"
    "  -d, --delay DURATION     the time between two samples, from 100ms to 1h (default 1s)\n"
    "  -1, --once               print the state once, with the rates of one DURATION, and exit\n"
    "  -j, --json               print what the program answers, a line of JSON for each sample;\n"
    "                           with --once: one line\n"
    "  -l, --list               list the programs that can be watched\n"
    "  -s, --sort KEY           sort sources and shards by name, pending, rate or memory\n"
    "                           (default name)\n"
    "  -r, --reverse            sort the other way round\n"
    "  -t, --total              percentiles and histograms of all time, not of the time between\n"
    "                           two samples\n"
    "  -A, --ascii              draw with ASCII characters only\n"
    "  -h, --help               print this help\n"
    "  -V, --version            print the version\n"
    "\n"
    "Keys: q quit, h or ? help, space or p pause, s sort, r reverse, t total, + and - the delay,\n"
    "and the arrows, Page Up, Page Down, Home and End to scroll. If standard output is no\n"
    "terminal, the state is printed as text every DURATION. There is no colour if NO_COLOR is\n"
    "set.\n"
    "\n"
    "Exit status:\n"
    "  0        it was quit, or --once and --list have printed\n"
    "  1        the program cannot be watched or has ended, or there is none\n"
    "  2        the command line is wrong, or does not say which of several programs\n"
    "  128 + N  signal N stopped it\n";

static const struct option long_options[] = {
    { "delay", required_argument, NULL, 'd' },
    { "once", no_argument, NULL, '1' },
    { "json", no_argument, NULL, 'j' },
    { "list", no_argument, NULL, 'l' },
    { "sort", required_argument, NULL, 's' },
    { "reverse", no_argument, NULL, 'r' },
    { "total", no_argument, NULL, 't' },
    { "ascii", no_argument, NULL, 'A' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

static bool set_delay(struct htw__top_options *options, const char *text) {
    struct htw__time delay = { 0, 0 };
    const char *why = htw__duration_parse(text, strlen(text), &delay);
    int64_t ns = htw__time_to_ns(delay);
    if (why == NULL && (ns < 100 * HTW__NS_PER_MS || ns > 3600 * HTW__NS_PER_S))
        why = "not from 100ms to 1h";
    if (why != NULL) {
        htw__terminal_error("--delay: %s: %s", why, text);
        return false;
    }
    options->interval_ns = ns;
    return true;
}

static bool set_sort(struct htw__top_options *options, const char *text) {
    for (unsigned sort = 0; sort < HTW__SORT_COUNT; sort++)
        if (strcmp(text, htw__sort_name((enum htw__sort)sort)) == 0) {
            options->sort = (enum htw__sort)sort;
            return true;
        }
    htw__terminal_error("--sort: not name, pending, rate or memory: %s", text);
    return false;
}

static bool set(struct htw__top_options *options, int option, const char *argument) {
    switch (option) {
    case 'd':
        return set_delay(options, argument);
    case '1':
        options->once = true;
        return true;
    case 'j':
        options->json = true;
        return true;
    case 'l':
        options->list = true;
        return true;
    case 's':
        return set_sort(options, argument);
    case 'r':
        options->is_reversed = true;
        return true;
    case 't':
        options->is_total = true;
        return true;
    case 'A':
        options->is_ascii = true;
        return true;
    default: /* '?': getopt has complained */
        return false;
    }
}

static enum htw__top_request complain(void) {
    fputs(USAGE "Try 'htw top --help' for more information.\n", stderr);
    return HTW__TOP_WRONG;
}

enum htw__top_request htw__top_options_parse(int argc, char *argv[],
                                             struct htw__top_options *options) {
    *options = (struct htw__top_options) { .interval_ns = HTW__NS_PER_S };
    int option;
    while ((option = getopt_long(argc, argv, "d:1jls:rtAhV", long_options, NULL)) != -1) {
        if (option == 'h')
            return HTW__TOP_HELP;
        if (option == 'V')
            return HTW__TOP_VERSION;
        if (!set(options, option, optarg))
            return complain();
    }
    if (argc - optind > 1) {
        htw__terminal_error("one program expected, not more: %s", argv[optind + 1]);
        return complain();
    }
    options->program = argv[optind]; /* NULL at the end */
    if (options->program != NULL && *options->program == '\0') {
        htw__terminal_error("not a process or a path: ''");
        return complain();
    }
    return HTW__TOP_RUN;
}
