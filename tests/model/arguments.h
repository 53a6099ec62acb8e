/* SPDX-License-Identifier: MIT */
/*
 * arguments.h - the command line of a model, and what its histories expect:
 *
 *     NAME [--seed N|random] [--steps N] [--first N] [--histories N] [--trace]
 *
 * Histories are numbered from 0. Each has its own seed, made from the seed and its number, so that
 * --first and --histories 1 run a failing one alone. The environment variable HTW_SEED is a default
 * for --seed. --trace prints each step. With this a model also has the headers that each of them uses.
 */
#ifndef HTW_TESTS_MODEL_ARGUMENTS_H
#define HTW_TESTS_MODEL_ARGUMENTS_H

#include "../support/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model_arguments {
    uint64_t seed;
    uint64_t steps;     /* at least so many, */
    uint64_t first;     /* ... beginning with this history, */
    uint64_t histories; /* ... but at most so many histories */
    bool trace;
};

/* Sets what the command line says, over what is there. False: it is wrong, and the usage was printed. */
bool model_arguments_parse(struct model_arguments *arguments, int argc, char *argv[]);

/* The first condition of EXPECT() that did not hold; NULL: all held. */
extern const char *model_failure;
void model_expect(bool holds, const char *condition);

#define EXPECT(condition) model_expect(condition, #condition)

/* A whole program: reads the command line, and runs histories. Each returns its steps; 0: it has failed, and said why
   unless that is the model_failure. */
int model_play(struct model_arguments *arguments, int argc, char *argv[],
               uint64_t (*run_history)(uint64_t number));

#endif /* HTW_TESTS_MODEL_ARGUMENTS_H */
