/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - the frame of all fuzzers: README.md says what there is.
 *
 * A fuzzer is a file that defines `fuzz_target`: a function that gives an input to the code and checks
 * what comes out, how much an input may cost, and inputs that attack the cost. It is built in two ways:
 * with libFuzzer, which makes inputs; and with replay.c, as a test, on the stored inputs, on the attacks
 * and on random bytes. In both frame.c measures each input. With this it also has the headers of C that most use.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So much for any input, and so much more for each of its bytes; zeros: any cost. */
struct fuzz_limit {
    uint64_t any, each;
};

/* An input of any size that costs as much as possible: the head once, each part as often as the others, and
   the tail. "%zu" in a part is a number that counts from 0. */
struct fuzz_attack {
    const char *name, *head, *tail, *parts[3];
};

struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
    struct fuzz_limit memory; /* bytes that are allocated at a time */
    struct fuzz_limit steps;  /* see fuzz_steps() */
    uint64_t kept;            /* bytes that may stay allocated after an input, whatever its size */
    const struct fuzz_attack *attacks; /* the last one has no name; NULL: none */
};

extern const struct fuzz_target fuzz_target;

/* What the last input has cost. */
struct fuzz_cost {
    uint64_t memory, kept;
    uint64_t steps; /* 0 where they are not counted */
};

extern struct fuzz_cost fuzz_cost;

/* Aborts, and says why on the standard error that the process began with. */
void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define FUZZ_CHECK(holds)                                                      \
    do {                                                                       \
        if (!(holds))                                                          \
            fuzz_fail("%s:%d: does not hold: %s", __FILE__, __LINE__, #holds); \
    } while (0)

/* A file in memory with these bytes, for code that opens its input; the next call replaces it. Returns its
   path. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A copy of the bytes with a zero behind them, in memory of its own: reading beyond that shows. To be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* TESTS_FUZZ_H */
