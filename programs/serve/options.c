/* SPDX-License-Identifier: MIT */
/* options.c - the command line of `htw serve`. */
#include "options.h"

#include "../kit/listen.h"
#include "../kit/terminal.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) HTW__OPTION_AT(struct htw__serve_options, member)

static const char *const synchronous[] = { "full", "normal", NULL };

static bool set_place(const struct htw__option *option, void *member, const char *argument) {
    struct htw__serve_places *places = member;
    const char *why = strncmp(argument, "unix:", 5) == 0 ? NULL : htw__listen_check(argument);
    if (why != NULL)
        return htw__option_refuse(option, why, argument);
    if (places->count == HTW__SERVE_LISTENERS)
        return htw__option_refuse(option, "given too often", argument);
    places->of[places->count++] = argument;
    return true;
}

/* A client that connects needs the right to write, and its owner may always change the mode. */
static bool set_mode(const struct htw__option *option, void *member, const char *argument) {
    size_t size = strlen(argument);
    if (size < 3 || size > 4 || strspn(argument, "01234567") != size ||
        (size == 4 && *argument != '0'))
        return htw__option_refuse(option, "not three octal digits", argument);
    const uint32_t mode = (uint32_t)strtoul(argument, NULL, 8);
    memcpy(member, &mode, sizeof(mode));
    return true;
}

static const struct htw__option rows[] = {
    { 'l', "listen", "PLACE", set_place, AT(listen),
      .help = "where clients connect: [ADDRESS:]PORT, or unix:PATH; may be\n"
              "repeated (default 127.0.0.1:11300, or what systemd listens at)" },
    { 0, "socket-mode", "MODE", set_mode, AT(socket_mode),
      .help = "who may use a unix:PATH, in octal digits: 0660 its group, 0666\n"
              "all users (default 0600: this user)" },
    { 'm', "memory", NULL, htw__set_flag, AT(in_memory),
      .help = "no FILE: the jobs are gone when the server ends" },
    { 's', "synchronous", "HOW", htw__set_choice, AT(synchronous), .choice = synchronous,
      .help = "full: what is answered survives a power cut (default);\n"
              "normal: it survives the end of the server, however that comes" },
    { 'z', "max-job-size", "BYTES", htw__set_size, AT(max_job_size), .most = 1 << 30,
      .help = "the largest body of a job, up to 1G (default 65535)" },
    { 'j', "max-jobs", "N", htw__set_number, AT(max_jobs),
      .help = "more are answered by OUT_OF_MEMORY (default: no limit)" },
    { 'M', "max-memory", "BYTES", htw__set_size, AT(max_memory), .least = 1 << 20,
      .help = "memory for jobs that are soon due or on the way to the disk, and\n"
              "again for what clients have sent or not read: beyond that the\n"
              "client with most of it is closed (default 64M)" },
    { 'c', "max-clients", "N", htw__set_number, AT(max_connections), .least = 1, .most = 10000000,
      .help = "more connections are closed at once (default 10000)" },
    { 'o', "max-output", "BYTES", htw__set_size, AT(max_output), .least = 1024,
      .help = "with so many bytes that it has not read, a client must read\n"
              "before its next command counts (default 64K)" },
    { 0, "http", "PLACE", htw__set_name, AT(http),
      .help = "also a page of queues and jobs, JSON and metrics, at\n"
              "[ADDRESS:]PORT or unix:PATH. Other addresses than 127.0.0.0/8\n"
              "need a token" },
    { 0, "token-file", "FILE", htw__set_name, AT(token_file),
      .help = "--http: the token of those who may change something; or in the\n"
              "variable HTW_SERVE_TOKEN" },
    { 0, "host", "NAME[,NAME]...", htw__set_name, AT(hosts),
      .help = "names besides localhost and addresses by which --http is asked" },
    { 0, "monitor", "[=PATH]", htw__set_path, AT(monitor_path),
      .also = offsetof(struct htw__serve_options, monitor),
      .help = "show timers, journal and queues to `htw top`, through the socket\n"
              "PATH or, without it, one named for the process" },
};

const struct htw__command_line htw__serve_command_line = {
    .program = "htw serve",
    .usage = "Usage: htw serve [OPTION]... FILE\n"
             "  or:  htw serve [OPTION]... --memory\n",
    .about =
        "Keep jobs for workers, until a signal comes. Clients speak the protocol of beanstalkd 1.12:\n"
        "any library for it works unchanged. The jobs are in FILE, a journal (`htw help journal`),\n"
        "and INSERTED, DELETED, RELEASED, BURIED and KICKED mean that this is on the disk.\n"
        "\n"
        "A job that is reserved belongs to a connection. When that ends, or the server does, the job\n"
        "is ready again.\n",
    .notes =
        "BYTES may end in K, M or G. When it listens, the server prints a line `ready: PLACE` for each\n"
        "place.\n"
        "\n"
        "SIGTERM and SIGINT: workers that wait get TIMED_OUT, and the server ends within two seconds.\n"
        "SIGUSR1: each put is answered by DRAINING from now on.\n"
        "\n"
        "Exit status:\n"
        "  0  a signal has ended the server, and all is in FILE\n"
        "  1  it cannot start, or FILE has failed\n"
        "  2  the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

/* Where it listens without options. */
static const char *find_sockets(struct htw__serve_options *options) {
    const char *why = htw__activation_take(&options->passed);
    if (options->listen.count + options->passed == 0)
        options->listen.of[options->listen.count++] = "11300";
    if (why != NULL)
        return why;
    return options->listen.count + options->passed > HTW__SERVE_LISTENERS
               ? "too many places to listen at"
               : NULL;
}

static enum htw__wish refuse(const char *why) {
    htw__terminal_error("%s", why);
    return htw__command_line_complain(&htw__serve_command_line);
}

enum htw__wish htw__serve_options_parse(int argc, char *argv[],
                                        struct htw__serve_options *options) {
    *options = (struct htw__serve_options) {
        .max_job_size = 65535,
        .max_connections = 10000,
        .max_output = 1 << 16,
        .max_memory = 64 << 20,
        .socket_mode = HTW__LISTEN_MODE,
    };
    enum htw__wish wish = htw__command_line_read(&htw__serve_command_line, argc, argv, options);
    if (wish != HTW__WISH_RUN)
        return wish;
    if (options->in_memory != (argc == optind))
        return refuse(options->in_memory ? "--memory has no FILE" : "the name of FILE expected");
    if (argc > optind + 1)
        return refuse("one FILE expected, not more");
    options->path = options->in_memory ? NULL : argv[optind];
    const char *why = find_sockets(options);
    if (why != NULL)
        return refuse(why);
    if ((options->token_file != NULL || options->hosts != NULL) && options->http == NULL)
        return refuse("--token-file and --host are for --http");
    return HTW__WISH_RUN;
}
