/* SPDX-License-Identifier: MIT */
/* replay.c - the command `htw replay`: reads the flight record of a program, and writes a table or a page of it. */
#include "flight.h"

#include "../kit/command_line.h"
#include "../kit/terminal.h"

#include <getopt.h>

struct options {
    bool html;           /* a page, not a table */
    const char *monitor; /* NULL: the input is a file */
};

#define AT(member) HTW__OPTION_AT(struct options, member)

static const struct htw__option rows[] = {
    { 'H', "html", NULL, htw__set_flag, AT(html),
      .help = "write a page for a browser, which needs no network and no other\n"
              "file" },
    { 'm', "monitor", "PROGRAM", htw__set_word, AT(monitor),
      .help = "instead of a FILE, the flight record of a running program: the\n"
              "number of its process, or the path of its socket" },
};

static const struct htw__command_line line = {
    .program = "htw replay",
    .usage = "Usage: htw replay [OPTION]... [FILE]\n"
             "  or:  htw replay [OPTION]... --monitor PROGRAM\n",
    .about =
        "Of the flight record of a program, count what each site did that arms timers. With --html,\n"
        "write a page that shows which timers have woken the program, and when.\n"
        "\n"
        "FILE is what a monitor has answered to `events`. With no FILE, or when FILE is -, standard\n"
        "input is read. A record has up to 500000 events.\n",
    .notes = "Exit status:\n"
             "  0        success\n"
             "  1        a line was bad, or reading or writing failed\n"
             "  2        the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

static int replay(const struct options *options, char *name) {
    struct htw__flight flight;
    htw__flight_init(&flight);
    bool is_read = options->monitor != NULL ? htw__flight_fetch(&flight, options->monitor)
                                            : htw__flight_read(&flight, name);
    if (is_read && options->html)
        htw__page_write(stdout, &flight);
    else if (is_read)
        htw__flight_table_write(stdout, &flight);
    htw__flight_fini(&flight);
    return is_read && htw__terminal_flush() ? 0 : HTW__EXIT_FAILED;
}

int htw__replay_command(int argc, char *argv[]) {
    static char standard_input[] = "-";
    struct options options = { .monitor = NULL };
    enum htw__wish wish = htw__command_line_read(&line, argc, argv, &options);
    char *name = optind < argc ? argv[optind] : standard_input;
    if (wish == HTW__WISH_RUN &&
        (optind + 1 < argc || (options.monitor != NULL && optind < argc))) {
        htw__terminal_error("one FILE, or --monitor: %s", argv[argc - 1]);
        wish = htw__command_line_complain(&line);
    }
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    return replay(&options, name);
}
