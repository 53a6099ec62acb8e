/* SPDX-License-Identifier: MIT */
/* options.c - parses the command line of a measuring program. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 32

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What getopt_long() returns; an option of the table adds its index to the last. */
enum { WORKLOAD = 1, BUILD, HELP, FIRST_OF_TABLE };

void options_wrong(const char *what, const char *value) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, value);
    exit(2);
}

void options_print_named(const char *name, const char *about) {
    printf("  %-14s %s\n", name, about);
}

static void print_help(const struct bench_option *table, void (*print_more)(void)) {
    printf("usage: %s --workload NAME [OPTION]...\n\noptions:\n", program_invocation_short_name);
    for (; table->name != NULL; table++) {
        printf("  --%-12s ", table->name);
        if (table->of != NULL)
            printf("(%s) ", table->of);
        puts(table->about);
    }
    puts("\nworkloads:");
    for (const struct workload *const *w = workloads; *w != NULL; w++)
        options_print_named((*w)->name, (*w)->about);
    if (print_more != NULL)
        print_more();
}

static void print_build(void) {
    printf("%s %s, glibc %s\n", COMPILER, BENCH_FLAGS, gnu_get_libc_version());
}

static const struct workload *find_workload(const char *name) {
    for (const struct workload *const *w = workloads; *w != NULL; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    options_wrong("no such workload", name);
}

static double parse_number(const struct bench_option *option, const char *text) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    bool is_whole = option->count == NULL || value == (double)(int64_t)value;
    if (end != text && *end == '\0' && errno == 0 && value >= option->low &&
        value <= option->high && is_whole)
        return value;
    char what[100];
    snprintf(what, sizeof(what), "--%s: not a%s number from %g to %g", option->name,
             option->count != NULL ? " whole" : "", option->low, option->high);
    options_wrong(what, text);
}

static void set(struct bench_option *option, const char *text) {
    option->is_given = true;
    if (option->flag != NULL) {
        *option->flag = true;
    } else if (option->count != NULL) {
        *option->count = (uint64_t)parse_number(option, text);
    } else if (option->number != NULL) {
        *option->number = parse_number(option, text);
    } else {
        const char *wrong = option->set(text);
        if (wrong != NULL)
            options_wrong(wrong, text);
    }
}

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (; *words != '\0'; words += strspn(words, " ")) {
        size_t span = strcspn(words, " ");
        if (span == length && strncmp(words, word, length) == 0)
            return true;
        words += span;
    }
    return false;
}

static void refuse_unused(const struct bench_option *table, const char *workload) {
    for (; table->name != NULL; table++)
        if (table->is_given && table->of != NULL && !has_word(table->of, workload)) {
            char what[100];
            snprintf(what, sizeof(what), "--%s: not an option of the workload", table->name);
            options_wrong(what, workload);
        }
}

static void list_for_getopt(const struct bench_option *table, struct option *ret_options) {
    *ret_options++ = (struct option) { "workload", required_argument, NULL, WORKLOAD };
    *ret_options++ = (struct option) { "build", no_argument, NULL, BUILD };
    *ret_options++ = (struct option) { "help", no_argument, NULL, HELP };
    for (int i = 0; table[i].name != NULL; i++) {
        int has_argument = table[i].flag != NULL ? no_argument : required_argument;
        *ret_options++ = (struct option) { table[i].name, has_argument, NULL, FIRST_OF_TABLE + i };
    }
}

const struct workload *options_parse(struct bench_option *table, void (*print_more)(void), int argc,
                                     char **argv) {
    struct option options[OPTIONS_MAX] = { 0 };
    list_for_getopt(table, options);
    const struct workload *workload = NULL;
    bool is_help_wanted = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == '?')
            exit(2); /* getopt has said what is wrong */
        if (option >= FIRST_OF_TABLE)
            set(&table[option - FIRST_OF_TABLE], optarg);
        else if (option == WORKLOAD)
            workload = find_workload(optarg);
        else if (option == HELP)
            is_help_wanted = true; /* later: an option may add to the lists */
        else
            print_build();
        if (option == BUILD)
            exit(0);
    }
    if (optind != argc)
        options_wrong("not an option", argv[optind]);
    if (is_help_wanted) {
        print_help(table, print_more);
        exit(0);
    }
    if (workload == NULL)
        options_wrong("--workload is missing", "--help lists the workloads");
    refuse_unused(table, workload->name);
    return workload;
}
