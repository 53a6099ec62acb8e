/* SPDX-License-Identifier: MIT */
/*
 * replay - runs a fuzz target without libFuzzer: on the files given, or on inputs made
 * at random.
 *
 *     fuzz_wheel_replay FILE...
 *     fuzz_wheel_replay --random COUNT [SEED]
 */
#include "fuzz.h"

#include "../support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 1 << 16, RANDOM_MAX = 2000 };

static uint8_t input[INPUT_MAX];

static int replay_file(const char *name) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        return 1;
    }
    size_t size = fread(input, 1, sizeof input, file);
    int failed = ferror(file);
    fclose(file);
    if (failed != 0) {
        fprintf(stderr, "%s: cannot be read\n", name);
        return 1;
    }
    LLVMFuzzerTestOneInput(input, size);
    return 0;
}

static void replay_random(uint64_t count, uint64_t seed) {
    for (uint64_t i = 0; i < count; i++) {
        struct random_source source = { seed + i * UINT64_C(0xd1342543de82ef95) };
        size_t size = (size_t)random_below(&source, RANDOM_MAX);
        for (size_t at = 0; at < size; at++)
            input[at] = (uint8_t)random_next(&source);
        LLVMFuzzerTestOneInput(input, size);
    }
}

int main(int argc, char *argv[]) {
    if (argc >= 3 && strcmp(argv[1], "--random") == 0) {
        uint64_t count = strtoull(argv[2], NULL, 0);
        uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
        replay_random(count, seed);
        printf("replay: %" PRIu64 " inputs, seed %" PRIu64 ": ok\n", count, seed);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        if (replay_file(argv[i]) != 0)
            return 1;
    }
    printf("replay: %d files: ok\n", argc - 1);
    return 0;
}
