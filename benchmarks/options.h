/* SPDX-License-Identifier: MIT */
/* options.h - the command line of htw-bench. */
#ifndef HTW_BENCH_OPTIONS_H
#define HTW_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_SIZES_MAX 16

struct options {
    const char *workloads;       /* names between commas, or NULL for all */
    const char *implementations; /* the same */
    size_t sizes[OPTIONS_SIZES_MAX];
    size_t size_count; /* 0: those of each workload */
    unsigned repetitions;
    unsigned limit_s;
    bool is_quick;
    bool has_table;
    const char *json_path; /* or NULL */
};

/*
 * Reads the command line. Does what ends the program at once (--help, --list), and loads
 * plugins. False when the program is to end with `ret_status`.
 */
bool options_parse(struct options *options, int argc, char **argv, int *ret_status);

/* Whether `name` is in `names`, which are separated by commas; NULL names all. */
bool options_name(const char *names, const char *name);

/* Prints `htw-bench: …` to standard error. */
void options_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* HTW_BENCH_OPTIONS_H */
