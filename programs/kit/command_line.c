/* SPDX-License-Identifier: MIT */
/* command_line.c - reads the options of a command, and explains them, by its table; prints the version. */
#include "command_line.h"

#include "count.h"
#include "terminal.h"
#include "times.h"

#include <htw/base.h>

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each command has these, at the end. */
static const struct htw__option common[] = {
    { 'h', "help", NULL, NULL, 0, 0, .help = "print this help" },
    { 'V', "version", NULL, NULL, 0, 0, .help = "print the version" },
};
enum { COMMON = sizeof(common) / sizeof(common[0]) };

/* No command has more, with those. */
#define OPTIONS_MAX 64

/* ---- what options set */

bool htw__option_refuse(const struct htw__option *option, const char *why, const char *argument) {
    htw__terminal_error("--%s: %s: %s", option->name, why, argument);
    return false;
}

bool htw__set_flag(const struct htw__option *option, void *member, const char *argument) {
    (void)option, (void)argument;
    *(bool *)member = true;
    return true;
}

bool htw__set_null(const struct htw__option *option, void *member, const char *argument) {
    (void)option, (void)argument;
    *(char *)member = '\0';
    return true;
}

bool htw__set_word(const struct htw__option *option, void *member, const char *argument) {
    (void)option;
    *(const char **)member = argument;
    return true;
}

bool htw__set_name(const struct htw__option *option, void *member, const char *argument) {
    if (*argument != '\0')
        return htw__set_word(option, member, argument);
    htw__terminal_error("--%s: a name is missing", option->name);
    return false;
}

bool htw__set_path(const struct htw__option *option, void *member, const char *argument) {
    if (*argument != '\0' && strcmp(argument, "-") != 0)
        return htw__set_word(option, member, argument);
    htw__terminal_error("--%s: not the name of a file: '%s'", option->name, argument);
    return false;
}

static bool is_in_range(const struct htw__option *option, uint64_t number) {
    uint64_t most = option->most != 0 ? option->most : UINT64_MAX;
    uint64_t holds = option->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    return number >= option->least && number <= most && number <= holds;
}

static void store(const struct htw__option *option, void *member, uint64_t number) {
    uint32_t narrow = (uint32_t)number;
    if (option->size == sizeof(narrow))
        memcpy(member, &narrow, sizeof(narrow));
    else
        memcpy(member, &number, sizeof(number));
}

/* `what`: that it is not, where it is wrong. */
static bool take_number(const struct htw__option *option, void *member, const char *argument,
                        bool is_right, uint64_t number, const char *what) {
    char why[96];
    if (is_right && is_in_range(option, number)) {
        store(option, member, number);
        return true;
    }
    int size = snprintf(why, sizeof(why), "%s", what);
    if (option->most != 0)
        snprintf(why + size, sizeof(why) - (size_t)size, " from %" PRIu64 " to %" PRIu64,
                 option->least, option->most);
    else if (option->least != 0)
        snprintf(why + size, sizeof(why) - (size_t)size, " of at least %" PRIu64, option->least);
    return htw__option_refuse(option, why, argument);
}

bool htw__set_number(const struct htw__option *option, void *member, const char *argument) {
    uint64_t number = 0;
    bool is_right = htw__count_parse(argument, &number);
    return take_number(option, member, argument, is_right, number, "not a number");
}

bool htw__set_power(const struct htw__option *option, void *member, const char *argument) {
    uint64_t number = 0;
    bool is_right = htw__count_parse(argument, &number) && (number & (number - 1)) == 0;
    return take_number(option, member, argument, is_right, number, "not a power of two");
}

bool htw__set_size(const struct htw__option *option, void *member, const char *argument) {
    uint64_t number = 0;
    bool is_right = htw__size_parse(argument, &number);
    return take_number(option, member, argument, is_right, number, "not a number of bytes");
}

/* `why`: of what was read, NULL: nothing is wrong. */
static bool take_time(const struct htw__option *option, int64_t *member, int64_t ns,
                      const char *why, const char *argument) {
    char out_of_range[64];
    if (why == NULL && option->range != NULL && !is_in_range(option, (uint64_t)ns)) {
        snprintf(out_of_range, sizeof(out_of_range), "not from %s", option->range);
        why = out_of_range;
    }
    if (why != NULL)
        return htw__option_refuse(option, why, argument);
    *member = ns;
    return true;
}

bool htw__set_duration(const struct htw__option *option, void *member, const char *argument) {
    int64_t ns = 0;
    const char *why = htw__duration_parse(argument, strlen(argument), &ns);
    return take_time(option, member, ns, why, argument);
}

bool htw__set_instant(const struct htw__option *option, void *member, const char *argument) {
    const char *text = argument + (*argument == '@');
    int64_t ns = 0;
    const char *why = htw__instant_parse(text, strlen(text), &ns);
    return take_time(option, member, ns, why, argument);
}

bool htw__set_choice(const struct htw__option *option, void *member, const char *argument) {
    char why[96] = "not one of";
    for (uint32_t i = 0; option->choice[i] != NULL; i++) {
        size_t size = strlen(why);
        snprintf(why + size, sizeof(why) - size, "%s%s", i == 0 ? " " : ", ", option->choice[i]);
        if (strcmp(argument, option->choice[i]) != 0)
            continue;
        memcpy(member, &i, sizeof(i));
        return true;
    }
    return htw__option_refuse(option, why, argument);
}

/* Whether an option has an argument, as getopt_long() wants to know it. */
static int takes_argument(const struct htw__option *option) {
    if (option->argument == NULL)
        return no_argument;
    return strncmp(option->argument, "[=", 2) == 0 ? optional_argument : required_argument;
}

/* ---- the help */

/* Where the texts of options begin. */
#define COLUMN 27

static void print_option(const struct htw__option *option) {
    const char letter[] = { '-', option->letter, ',', '\0' };
    int size = printf("  %3s --%s%s%s", option->letter != 0 ? letter : "", option->name,
                      takes_argument(option) == required_argument ? " " : "",
                      option->argument != NULL ? option->argument : "");
    if (size >= COLUMN) {
        putchar('\n');
        size = 0;
    }
    for (const char *line = option->help; line != NULL; size = 0) {
        const char *end = strchr(line, '\n');
        int length = end != NULL ? (int)(end - line) : (int)strlen(line);
        printf("%*s%.*s\n", COLUMN - size, "", length, line);
        line = end != NULL ? end + 1 : NULL;
    }
}

/* Of the table, and then of those of each command. */
static const struct htw__option *option_at(const struct htw__command_line *line, size_t index) {
    return index < line->option_count ? &line->options[index] : &common[index - line->option_count];
}

static void print_help(const struct htw__command_line *line) {
    printf("%s%s\n", line->usage, line->about);
    for (size_t i = 0; i < line->option_count + COMMON; i++)
        print_option(option_at(line, i));
    printf("\n%s", line->notes);
}

/* ---- what was asked for */

enum htw__wish htw__command_line_complain(const struct htw__command_line *line) {
    fprintf(stderr, "%sTry '%s --help' for more information.\n", line->usage, line->program);
    return HTW__WISH_WRONG;
}

int htw__command_line_answer(const struct htw__command_line *line, enum htw__wish wish) {
    if (wish == HTW__WISH_WRONG)
        return HTW__EXIT_USAGE;
    if (wish == HTW__WISH_VERSION)
        return htw__version_print(line->program);
    print_help(line);
    return htw__terminal_flush() ? 0 : HTW__EXIT_FAILED;
}

/* What getopt_long() returns for the first row; a letter is less, also where it is a character of Unicode. */
#define FIRST 0x110000

static bool takes(const struct htw__option *option, const char *argument, char *values) {
    bool is_set = (argument == NULL && option->argument != NULL) || /* it may be missing */
                  option->set(option, values + option->offset, argument);
    if (is_set && option->also != 0)
        *(bool *)(values + option->also) = true;
    return is_set;
}

/* getopt_long() has found the last word, or a letter of it, to be wrong. Its own messages would show the terminal the bytes of
   the word. */
static void complain_of(bool is_missing, const char *word) {
    const char letter[] = { '-', (char)optopt, '\0' };
    bool is_letter = optopt > 0 && optopt < FIRST;
    htw__terminal_error("%s: %s", is_missing ? "an argument is missing" : "invalid option",
                        is_letter ? letter : word);
}

enum htw__wish htw__command_line_read(const struct htw__command_line *line, int argc, char *argv[],
                                      void *values) {
    static const char *const arguments[] = {
        [no_argument] = "", [required_argument] = ":", [optional_argument] = "::"
    };
    const struct htw__option *by_letter[UCHAR_MAX + 1] = { NULL };
    struct option names[OPTIONS_MAX + 1] = { { 0 } };
    char letters[4 * OPTIONS_MAX] = ":",
                     *last = letters + 1; /* a colon: ':' if an argument is missing */
    int found;
    if (line->option_count + COMMON > OPTIONS_MAX)
        abort();
    for (size_t i = 0; i < line->option_count + COMMON; i++) {
        const struct htw__option *option = option_at(line, i);
        int argument = takes_argument(option);
        names[i] = (struct option) { option->name, argument, NULL, FIRST + (int)i };
        if (option->letter == 0)
            continue;
        last += sprintf(last, "%c%s", option->letter, arguments[argument]);
        by_letter[(unsigned char)option->letter] = option;
    }
    htw__terminal_name(line->program);
    opterr = 0;
    while ((found = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        const struct htw__option *option =
            found >= FIRST ? option_at(line, (size_t)(found - FIRST)) : by_letter[found];
        if (option != NULL && option->set == NULL)
            return option->letter == 'h' ? HTW__WISH_HELP : HTW__WISH_VERSION;
        if (option == NULL)
            complain_of(found == ':', argv[optind - 1]);
        if (option == NULL || !takes(option, optarg, values))
            return htw__command_line_complain(line);
    }
    return HTW__WISH_RUN;
}

#ifdef __clang__
#define COMPILER __VERSION__ /* which begins with its name */
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifndef HTW_BUILD_FEATURES /* another build than that of meson.build, or a tool that looks at this file */
#define HTW_BUILD_FEATURES "unknown"
#define HTW_BUILD_ALLOCATOR "unknown"
#define HTW_BUILD_HARDENING "unknown"
#define HTW_BUILD_ASSERTIONS "unknown"
#endif

/* It is in effect only where the compiler optimises; those who build packages define it by themselves. */
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0 && defined(__OPTIMIZE__)
#define FORTIFIED ""
#else
#define FORTIFIED ", without _FORTIFY_SOURCE"
#endif

static const char hardening[] = HTW_BUILD_HARDENING;

int htw__version_print(const char *program) {
    htw__terminal_name(program);
    printf("%s %s\n"
           "compiler: %s\n"
           "features: " HTW_BUILD_FEATURES "\n"
           "allocator: " HTW_BUILD_ALLOCATOR "\n"
           "hardening: %s\n"
           "assertions: " HTW_BUILD_ASSERTIONS "\n",
           program, htw_version(), COMPILER,
           strcmp(hardening, "yes") == 0 ? "yes" FORTIFIED : hardening);
    return htw__terminal_flush() ? 0 : HTW__EXIT_FAILED;
}
