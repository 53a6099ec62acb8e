/* SPDX-License-Identifier: MIT */
/* main.c - the `htw` program: finds the command and runs it. */
#include "delay/delay.h"
#include "delay/options.h"
#include "draw/draw.h"
#include "journal/actions.h"
#include "replay/flight.h"
#include "kit/command_line.h"
#include "kit/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HTW_HAS_JOURNAL
#define RUN_JOURNAL htw__journal_command
#else
#define RUN_JOURNAL NULL /* this htw was built without SQLite */
#endif

#ifdef HTW_HAS_TOP
#define RUN_REPLAY htw__replay_command
#else
#define RUN_REPLAY NULL /* ... or without jansson */
#endif

static int run_delay(int argc, char *argv[]) {
    struct htw__options options;
    enum htw__wish wish = htw__options_parse(argc, argv, &options);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&htw__options_line, wish);
    return htw__delay_run(&options);
}

/* In the order of the help. */
static const struct command {
    const char *name, *about;
    int (*run)(int argc, char *argv[]); /* NULL: a program of its own, htw-NAME */
} commands[] = {
    { "cron", "run the commands of a file by the calendar", NULL },
    { "delay", "release the lines of the input, each at its time", run_delay },
    { "draw", "draw the wheel that holds the timers of the input", htw__draw_command },
    { "journal", "put jobs into a file, take them at their time, and look at them", RUN_JOURNAL },
    { "relay", "deliver records of Kafka, each at its time", NULL },
    { "replay", "show in a browser which timers have woken a program", RUN_REPLAY },
    { "serve", "keep jobs for workers: a server for any client of beanstalkd", NULL },
    { "top", "show what the timers of a running program do", NULL },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int print_help(void) {
    printf("Usage: htw COMMAND [ARGUMENT]...\n\n"
           "Hierarchical timing wheels as a program. Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].about);
    puts("\n"
         "  help     print this help, or that of a COMMAND\n"
         "\n"
         "`htw help COMMAND` prints more, `htw --version` the version. cron, relay, serve and top\n"
         "are programs of their own, htw-NAME: a package or a build may lack them.");
    htw__terminal_name("htw");
    return htw__terminal_flush() ? 0 : HTW__EXIT_FAILED;
}

/* The program htw-NAME is beside this one, or where the shell finds it. Packages may leave it out. */
static int run_program(const char *name, char *argv[]) {
    static char title[32];
    char path[PATH_MAX], program[32];
    snprintf(program, sizeof(program), "htw-%s", name);
    snprintf(title, sizeof(title), "htw %s", name);
    htw__terminal_name(title);
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - sizeof(program));
    argv[0] = program;
    if (size > 0) {
        path[size] = '\0';
        char *slash = strrchr(path, '/');
        memcpy(slash == NULL ? path : slash + 1, program, sizeof(program));
        execv(path, argv);
    }
    execvp(program, argv);
    if (errno == ENOENT)
        htw__terminal_error("the program %s is not installed", program);
    else
        htw__terminal_error("%s", strerror(errno));
    return HTW__EXIT_USAGE;
}

static int run(const struct command *command, int argc, char *argv[]) {
    return command->run == NULL ? run_program(command->name, argv) : command->run(argc, argv);
}

static int usage_error(const char *what, const char *word) {
    htw__terminal_name("htw");
    htw__terminal_error("%s%s", what, word);
    fputs("Try 'htw --help' for more information.\n", stderr);
    return HTW__EXIT_USAGE;
}

static int run_help(int argc, char *argv[]) {
    static char option[] = "--help";
    char *words[] = { option, option, NULL };
    if (argc > 2)
        return usage_error("help: one command expected, not more: ", argv[2]);
    if (argc == 1 || strcmp(argv[1], "help") == 0)
        return print_help();
    const struct command *command = find_command(argv[1]);
    return command == NULL ? usage_error("unknown command: ", argv[1]) : run(command, 2, words);
}

/*
 * The next file that is opened would get the number of a closed standard descriptor, and would be
 * written to as if it were standard output. So this opens such descriptors, for the wrong direction:
 * using one is an error, as it would be if it were closed.
 */
static void occupy_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char *argv[]) {
    occupy_standard_descriptors();
    const char *word = argc > 1 ? argv[1] : "";
    const struct command *command = find_command(word);
    if (command != NULL)
        return run(command, argc - 1, argv + 1);
    if (strcmp(word, "help") == 0)
        return run_help(argc - 1, argv + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return htw__version_print("htw");
    return usage_error(argc > 1 ? "unknown command: " : "command expected", word);
}
