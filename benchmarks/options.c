/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "implementations.h"
#include "workload.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: htw-bench [OPTION]...\n"
    "Measure implementations of timers, each in the same workloads.\n"
    "\n"
    "  --workload NAME,...  only these (default: all; --list names them)\n"
    "  --impl NAME,...      only these implementations (default: all)\n"
    "  --n N,...            these numbers of timers instead of each workload's own; sparse\n"
    "                       and phase have one that is fixed\n"
    "  --reps N             repetitions, of which the median counts (default 5; quick: 3)\n"
    "  --quick              fewer operations and no more than a million timers\n"
    "  --limit SECONDS      what takes longer once is too slow, and given up (default 60)\n"
    "  --plugin FILE        a shared object that defines bench_plugin; may be repeated\n"
    "  --json FILE          write the results there, one object a line\n"
    "  --no-table           do not print them\n"
    "  --list               list workloads and implementations\n"
    "  --help               print this help\n"
    "\n"
    "Exit status: 0 if all is well; 1 if an implementation crashed or was wrong, or results\n"
    "could not be written; 2 if the command line is wrong.\n";

enum { WORKLOAD, IMPL, N, REPS, QUICK, LIMIT, PLUGIN, JSON, NO_TABLE, LIST, HELP };

static const struct option long_options[] = {
    { "workload", required_argument, NULL, WORKLOAD },
    { "impl", required_argument, NULL, IMPL },
    { "n", required_argument, NULL, N },
    { "reps", required_argument, NULL, REPS },
    { "quick", no_argument, NULL, QUICK },
    { "limit", required_argument, NULL, LIMIT },
    { "plugin", required_argument, NULL, PLUGIN },
    { "json", required_argument, NULL, JSON },
    { "no-table", no_argument, NULL, NO_TABLE },
    { "list", no_argument, NULL, LIST },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

void options_complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("htw-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

bool options_name(const char *names, const char *name) {
    if (names == NULL)
        return true;
    size_t length = strlen(name);
    for (;; names++) {
        size_t span = strcspn(names, ",");
        if (span == length && strncmp(names, name, length) == 0)
            return true;
        names += span;
        if (*names == '\0')
            return false;
    }
}

/* A number from 1 to `max` in the first `length` characters; digits only. */
static bool parse_number(const char *text, size_t length, size_t max, size_t *ret_number) {
    size_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (size_t)(text[i] - '0');
        if (number > max)
            return false;
    }
    *ret_number = number;
    return number > 0;
}

static bool set_number(unsigned *number, const char *option, unsigned max, const char *text) {
    size_t parsed;
    if (!parse_number(text, strlen(text), max, &parsed)) {
        options_complain("--%s: not a number from 1 to %u: %s", option, max, text);
        return false;
    }
    *number = (unsigned)parsed;
    return true;
}

static bool set_sizes(struct options *options, const char *text) {
    for (options->size_count = 0;; text++) {
        size_t length = strcspn(text, ",");
        if (options->size_count == OPTIONS_SIZES_MAX) {
            options_complain("--n: more than %d numbers", OPTIONS_SIZES_MAX);
            return false;
        }
        if (!parse_number(text, length, 1000000000, &options->sizes[options->size_count++])) {
            options_complain("--n: not a number of timers: %.*s", (int)length, text);
            return false;
        }
        text += length;
        if (*text == '\0')
            return true;
    }
}

static bool load(const char *path) {
    const char *why = implementations_load(path);
    if (why != NULL)
        options_complain("--plugin: %s: %s", path, why);
    return why == NULL;
}

/* Takes one option; false when its argument is wrong. */
static bool set(struct options *options, int option, const char *argument) {
    switch (option) {
    case WORKLOAD:
        options->workloads = argument;
        return true;
    case IMPL:
        options->implementations = argument;
        return true;
    case N:
        return set_sizes(options, argument);
    case REPS:
        return set_number(&options->repetitions, "reps", 1000, argument);
    case QUICK:
        options->is_quick = true;
        return true;
    case LIMIT:
        return set_number(&options->limit_s, "limit", 86400, argument);
    case PLUGIN:
        return load(argument);
    case JSON:
        options->json_path = argument;
        return true;
    case NO_TABLE:
        options->has_table = false;
        return true;
    default: /* getopt_long has complained */
        return false;
    }
}

static void print_list(void) {
    puts("Workloads:");
    for (const struct workload *const *w = workloads; *w != NULL; w++)
        printf("  %-12s  %s\n", (*w)->name, (*w)->about);
    puts("\nImplementations:");
    for (const struct bench_implementation *const *i = implementations(); *i != NULL; i++)
        printf("  %-12s  %s\n", (*i)->name, (*i)->about);
}

static bool is_workload(const char *name) {
    for (const struct workload *const *w = workloads; *w != NULL; w++)
        if (strcmp((*w)->name, name) == 0)
            return true;
    return false;
}

static bool is_implementation(const char *name) {
    for (const struct bench_implementation *const *i = implementations(); *i != NULL; i++)
        if (strcmp((*i)->name, name) == 0)
            return true;
    return false;
}

/* Complains about the first of the names that is not known. */
static bool check_names(const char *names, const char *option, bool (*is_known)(const char *)) {
    char name[64];
    while (names != NULL) {
        size_t length = strcspn(names, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, names);
        if (!is_known(name)) {
            options_complain("--%s: no such name (--list tells them): '%s'", option, name);
            return false;
        }
        names = names[length] == ',' ? names + length + 1 : NULL;
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, int *ret_status) {
    *options = (struct options) { .limit_s = 60, .has_table = true };
    bool wants_list = false;
    *ret_status = 2;
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == HELP) {
            fputs(help, stdout);
            *ret_status = 0;
            return false;
        }
        if (option == LIST)
            wants_list = true; /* later: plugins may follow */
        else if (!set(options, option, optarg))
            return false;
    }
    if (optind < argc) {
        options_complain("not an option: %s", argv[optind]);
        return false;
    }
    if (!check_names(options->workloads, "workload", is_workload) ||
        !check_names(options->implementations, "impl", is_implementation))
        return false;
    if (options->repetitions == 0)
        options->repetitions = options->is_quick ? 3 : 5;
    if (wants_list) {
        print_list();
        *ret_status = 0;
    }
    return !wants_list;
}
