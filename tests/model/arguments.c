/* SPDX-License-Identifier: MIT */
/* arguments.c - the command line of a model, and its histories. */
#include "arguments.h"

#include <time.h>

static bool parse_number(const char *text, uint64_t *ret_number) {
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || *text == '-')
        return false;
    *ret_number = number;
    return true;
}

static bool parse_seed(const char *text, uint64_t *ret_seed) {
    if (strcmp(text, "random") != 0)
        return parse_number(text, ret_seed);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct random_source source = { (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec };
    *ret_seed = random_next(&source) >> 16;
    return true;
}

static bool parse(struct model_arguments *arguments, int argc, char *argv[]) {
    const char *seed = getenv("HTW_SEED");
    if (seed != NULL && !parse_seed(seed, &arguments->seed))
        return false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            arguments->trace = true;
            continue;
        }
        bool good =
            (strcmp(argv[i], "--seed") == 0 && parse_seed(value, &arguments->seed)) ||
            (strcmp(argv[i], "--steps") == 0 && parse_number(value, &arguments->steps)) ||
            (strcmp(argv[i], "--first") == 0 && parse_number(value, &arguments->first)) ||
            (strcmp(argv[i], "--histories") == 0 && parse_number(value, &arguments->histories));
        if (!good)
            return false;
        i++;
    }
    return true;
}

bool model_arguments_parse(struct model_arguments *arguments, int argc, char *argv[]) {
    bool good = parse(arguments, argc, argv);
    if (!good)
        fprintf(stderr,
                "usage: %s [--seed N|random] [--steps N] [--first N] [--histories N] [--trace]\n",
                argv[0]);
    return good;
}

const char *model_failure;

void model_expect(bool holds, const char *condition) {
    if (!holds && model_failure == NULL)
        model_failure = condition;
}

int model_play(struct model_arguments *arguments, int argc, char *argv[],
               uint64_t (*run_history)(uint64_t number)) {
    uint64_t steps = 0, histories = 0;
    if (!model_arguments_parse(arguments, argc, argv))
        return 2;
    for (; steps < arguments->steps && histories < arguments->histories; histories++) {
        uint64_t made = run_history(arguments->first + histories);
        if (model_failure != NULL)
            printf("FAILED: %s\n  again: --seed %" PRIu64 " --first %" PRIu64
                   " --histories 1 --trace\n",
                   model_failure, arguments->seed, arguments->first + histories);
        if (made == 0 || model_failure != NULL)
            return 1;
        steps += made;
    }
    printf("%" PRIu64 " steps in %" PRIu64 " histories, seed %" PRIu64 ": ok\n", steps, histories,
           arguments->seed);
    return 0;
}
