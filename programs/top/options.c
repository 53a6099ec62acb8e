/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw top`. */
#include "options.h"

#include "../kit/terminal.h"
#include "../kit/times.h"

#include <getopt.h>

#define AT(member) HTW__OPTION_AT(struct htw__top_options, member)

static const struct htw__option rows[] = {
    { 'd', "delay", "DURATION", htw__set_duration, AT(interval_ns),
      .help = "the time between two samples, from 100ms to 1h (default 1s)",
      .least = 100 * HTW_MILLISECOND, .most = HTW_HOUR, .range = "100ms to 1h" },
    { '1', "once", NULL, htw__set_flag, AT(once),
      .help = "print the state once, with the rates of one DURATION, and exit" },
    { 'j', "json", NULL, htw__set_flag, AT(json),
      .help = "print what the program answers, a line of JSON for each sample;\n"
              "with --once: one line" },
    { 'l', "list", NULL, htw__set_flag, AT(list), .help = "list the programs that can be watched" },
    { 's', "sort", "KEY", htw__set_choice, AT(sort), .choice = htw__sort_names,
      .help = "sort sites by wakeups, pending, cpu, late, rate or name\n"
              "(default wakeups)" },
    { 'v', "view", "PAGE", htw__set_choice, AT(page), .choice = htw__page_names,
      .help = "begin with overview, sites, wakeups, herds, groups or queues\n"
              "(default overview)" },
    { 'o', "observe", "WORDS", htw__set_name, AT(observe),
      .help = "switch what all schedulers of the program observe, and exit:\n"
              "sites, events, stacks, with + or - besides what is observed, or\n"
              "several of these with commas between, or off" },
    { 'A', "ascii", NULL, htw__set_flag, AT(is_ascii), .help = "draw with ASCII characters only" },
};

const struct htw__command_line htw__top_line = {
    .program = "htw top",
    .usage = "Usage: htw top [OPTION]... [PID | PATH]\n",
    .about =
        "Show what the timers of a running program do.\n"
        "\n"
        "The program has opened its statistics, by htw_monitor_open() or an option such as that of\n"
        "`htw delay --monitor`. It is named by its process, or by the path of its socket. Without a\n"
        "name: the only program of this user that can be watched; if there are several, they are\n"
        "listed.\n",
    .notes =
        "Keys: q quit, h or ? these notes, 1 to 6 a view, Tab or v the next one, space or p pause, s sort,\n"
        "+ and - the delay, and the arrows, Page Up, Page Down, Home and End to scroll. If standard\n"
        "output is no terminal, the state is printed as text every DURATION, COLUMNS wide (default\n"
        "100). There is no colour if NO_COLOR is set.\n"
        "\n"
        "Rates are of the time between the last two samples, and so are percentiles and histograms,\n"
        "if anything happened in it; max is of all time. A histogram has columns each of which is\n"
        "twice as long as the one before: the first is below 1us (of waits: 1ms). Percentiles are\n"
        "estimated from them. A level of the wheels begins at the present time at the left. A darker\n"
        "shade means four times as many timers. Counting stops at 64 timers for each bucket of a\n"
        "shard.\n"
        "\n"
        "Views: sites says where timers are armed, what they cost, and which of them wake the\n"
        "process; wakeups, when it wakes next and why; herds, which instants of the last minute had\n"
        "most timers due. To make fewer wake-ups, give timers that need not be punctual a range,\n"
        "with htw_schedule_within(). To part a herd, let what repeats begin at different times, and\n"
        "what is tried again wait with jitter, as htw_backoff_next() does.\n"
        "\n"
        "Exit status:\n"
        "  0        it was quit, or --once and --list have printed\n"
        "  1        the program cannot be watched or has ended, or there is none\n"
        "  2        the command line is wrong, or does not say which of several programs\n"
        "  128 + N  signal N stopped it\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

enum htw__wish htw__top_options_parse(int argc, char *argv[], struct htw__top_options *options) {
    *options = (struct htw__top_options) { .interval_ns = HTW_SECOND, .page = HTW__PAGE_OVERVIEW };
    enum htw__wish wish = htw__command_line_read(&htw__top_line, argc, argv, options);
    if (wish != HTW__WISH_RUN)
        return wish;
    if (argc - optind > 1) {
        htw__terminal_error("one program expected, not more: %s", argv[optind + 1]);
        return htw__command_line_complain(&htw__top_line);
    }
    options->program = argv[optind]; /* NULL at the end */
    if (options->program != NULL && *options->program == '\0') {
        htw__terminal_error("not a process or a path: ''");
        return htw__command_line_complain(&htw__top_line);
    }
    return HTW__WISH_RUN;
}
