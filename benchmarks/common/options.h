/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of a measuring program, as a table of options.
 *
 * Besides those of its table, every program has --workload, --build (prints the compiler and its
 * flags) and --help. A wrong command line ends the process with exit status 2.
 */
#ifndef BENCH_COMMON_OPTIONS_H
#define BENCH_COMMON_OPTIONS_H

#include "workload.h"

#include <stdbool.h>

struct bench_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *of;    /* the workloads that have it, separated by spaces; NULL: all */
    const char *about; /* one line for --help */

    /* The destination of the value: one of these. */
    bool *flag;
    uint64_t *count;                      /* a whole number from `low` to `high` */
    double *number;                       /* any number from `low` to `high` */
    const char *(*set)(const char *text); /* returns NULL, or what is wrong with the text */
    double low, high;

    bool is_given; /* set by options_parse() */
};

/* Rows of the table. */
#define OPTION_FLAG(name_, of_, target, about_) \
    { .name = name_, .of = of_, .flag = target, .about = about_ }
#define OPTION_COUNT(name_, of_, target, low_, high_, about_) \
    { .name = name_, .of = of_, .count = target, .low = low_, .high = high_, .about = about_ }
#define OPTION_NUMBER(name_, of_, target, low_, high_, about_) \
    { .name = name_, .of = of_, .number = target, .low = low_, .high = high_, .about = about_ }
#define OPTION_SET(name_, of_, function, about_) \
    { .name = name_, .of = of_, .set = function, .about = about_ }

/* Returns the workload. `print_more`, which may be NULL, adds sections to --help. */
const struct workload *options_parse(struct bench_option *table, void (*print_more)(void), int argc,
                                     char **argv);

/* Prints the name and the description of one thing in a section of --help. */
void options_print_named(const char *name, const char *about);

/* Ends the process: the command line is wrong. */
void options_wrong(const char *what, const char *value) __attribute__((noreturn, cold));

#endif
