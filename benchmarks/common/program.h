/* SPDX-License-Identifier: MIT */
/*
 * program.h - a measuring program: its workloads, its peers, and its command line as a table of options. program.c
 * has main(). A process runs one workload with one peer, so that no run inherits memory or threads of another.
 *
 * Besides those of its table, every program has --workload, --build (prints the compiler and its flags) and --help, and
 * one that has peers --peer and --plugin. A wrong command line ends the process with exit status 2.
 *
 * With this a workload also has the clock, the report, and the headers of C that most of them use.
 */
#ifndef BENCH_COMMON_PROGRAM_H
#define BENCH_COMMON_PROGRAM_H

#include "clock.h"
#include "report.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options; /* each program has its own */

struct workload {
    const char *name;
    const char *about; /* one line for --help */

    /* Defaults of the options of these names. */
    double seconds;       /* of measured time */
    uint64_t count;       /* timers or requests */
    uint64_t quick_count; /* 0: the same */

    /* Measures, and prints the figures. */
    void (*run)(const struct options *options);
};

/* A peer begins with these. */
struct named {
    const char *name;
    const char *about; /* one line for --help */
};

struct bench_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *of;    /* the workloads that have it, separated by spaces; NULL: all */
    const char *about; /* one line for --help */

    /* The destination of the value: one of these. */
    bool *flag;
    const char **text;
    uint64_t *count;                      /* a whole number from `low` to `high` */
    double *number;                       /* any number from `low` to `high` */
    const char *(*set)(const char *text); /* returns NULL, or what is wrong with the text */
    double low, high;

    bool is_given;
};

/* Rows of the table. */
#define OPTION_FLAG(name_, of_, target, about_) \
    { .name = name_, .of = of_, .flag = target, .about = about_ }
#define OPTION_TEXT(name_, of_, target, about_) \
    { .name = name_, .of = of_, .text = target, .about = about_ }
#define OPTION_COUNT(name_, of_, target, low_, high_, about_) \
    { .name = name_, .of = of_, .count = target, .low = low_, .high = high_, .about = about_ }
#define OPTION_NUMBER(name_, of_, target, low_, high_, about_) \
    { .name = name_, .of = of_, .number = target, .low = low_, .high = high_, .about = about_ }
#define OPTION_SET(name_, of_, function, about_) \
    { .name = name_, .of = of_, .set = function, .about = about_ }

#define PEERS_MAX 64 /* with NULL at the end */

struct program {
    const struct workload *const *workloads; /* NULL ends the list */
    struct bench_option *table;
    const void **peers; /* of PEERS_MAX, each of which begins with a struct named; or NULL */
    double quick;       /* the measured time is divided by that with --quick */
    double warmup, quick_warmup;

    /* Checks what was given, calls report_init(), and returns what workloads read. */
    const struct options *(*read)(void);
};

/* Each program defines this one. */
extern const struct program program;

/* What every program is given. */
extern struct given {
    const struct workload *workload;
    const void *peer;
    double seconds, warmup;
    uint64_t count; /* of the workload, with or without --quick */
    bool is_quick;
} given;

/* Ends the process: the command line is wrong. */
void options_wrong(const char *what, const char *value) __attribute__((noreturn, cold));

#endif
