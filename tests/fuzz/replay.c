/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzzer without libFuzzer: on files and on those of folders, on its attacks, and on
 * inputs made at random.
 *
 *     fuzz_NAME [--costs] [--random COUNT [SEED]] [--attacks SIZE] [FILE | FOLDER]...
 */
#include "fuzz.h"

#include "../support/random.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_MAX = 2000, GROWTH = 8, GROWTH_MAX = 20 };

static char present[4400]; /* what runs, for the report of a failure */
static uint64_t inputs;
static bool shows_costs;
static int screen = STDOUT_FILENO;

/* Of an input that makes the code under test abort, too. */
static void report(int number) {
    ssize_t written = write(screen, present, strlen(present));
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

/* From a copy of just that size, so that a sanitizer sees each read beyond it. */
static void run(const uint8_t *data, size_t size, const char *what) {
    uint8_t *copy = malloc(size);
    if (size > 0 && copy == NULL)
        fuzz_fail("no memory");
    if (size > 0)
        memcpy(copy, data, size);
    snprintf(present, sizeof(present), "fuzz_%s: in %s\n", fuzz_target.name, what);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
    if (shows_costs)
        dprintf(screen,
                "%9zu bytes: memory %10" PRIu64 " (%8.1f each), kept %6" PRIu64 ", steps %10" PRIu64
                " (%8.1f each): %s\n",
                size, fuzz_cost.memory, (double)fuzz_cost.memory / (double)(size + 1),
                fuzz_cost.kept, fuzz_cost.steps, (double)fuzz_cost.steps / (double)(size + 1),
                what);
}

static void run_file(const char *name) {
    struct stat status;
    FILE *file = fopen(name, "rb");
    if (file == NULL || fstat(fileno(file), &status) != 0)
        fuzz_fail("cannot open %s", name);
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    if (data == NULL || fread(data, 1, size, file) != size)
        fuzz_fail("cannot read %s", name);
    fclose(file);
    run(data, size, name);
    free(data);
}

static void run_all(const char *name) {
    struct dirent **entries;
    int count = scandir(name, &entries, NULL, alphasort);
    if (count < 0)
        run_file(name);
    for (int i = 0; i < count; i++) {
        char path[4200];
        snprintf(path, sizeof(path), "%s/%s", name, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            run_file(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void write_part(FILE *stream, const char *part, size_t count) {
    const char *number = strstr(part, "%zu");
    int before = number != NULL ? (int)(number - part) : (int)strlen(part);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%.*s", before, part);
        if (number != NULL)
            fprintf(stream, "%zu%s", i, number + strlen("%zu"));
    }
}

static struct fuzz_cost run_attack(const struct fuzz_attack *attack, size_t size) {
    char *text;
    size_t length, round = 0, parts = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        fuzz_fail("no memory");
    fputs(attack->head, stream);
    while (parts < sizeof(attack->parts) / sizeof(attack->parts[0]) && attack->parts[parts] != NULL)
        round += strlen(attack->parts[parts++]);
    for (size_t i = 0; i < parts; i++)
        write_part(stream, attack->parts[i], size / round);
    fputs(attack->tail, stream);
    fclose(stream);
    run((const uint8_t *)text, length, attack->name);
    free(text);
    return fuzz_cost;
}

/* Arrays that are doubled, and numbers that have more digits, need some room; so does what any input costs. */
static void check_growth(const char *what, const struct fuzz_limit *limit, uint64_t less,
                         uint64_t more) {
    if (more > limit->any && more > GROWTH_MAX * less)
        fuzz_fail("%s grow from %" PRIu64 " to %" PRIu64 " when the input grows by %u", what, less,
                  more, GROWTH);
}

static void run_attacks(size_t size) {
    for (const struct fuzz_attack *attack = fuzz_target.attacks;
         attack != NULL && attack->name != NULL; attack++) {
        struct fuzz_cost less = run_attack(attack, size / GROWTH), more = run_attack(attack, size);
        check_growth("bytes of memory", &fuzz_target.memory, less.memory, more.memory);
        check_growth("steps", &fuzz_target.steps, less.steps, more.steps);
    }
}

static void run_random(uint64_t count, uint64_t seed) {
    uint8_t data[RANDOM_MAX];
    for (uint64_t i = 0; i < count; i++) {
        struct random_source source = { seed + i * UINT64_C(0xd1342543de82ef95) };
        size_t size = (size_t)random_below(&source, RANDOM_MAX);
        char what[48];
        for (size_t at = 0; at < size; at++)
            data[at] = (uint8_t)random_next(&source);
        snprintf(what, sizeof(what), "random input %" PRIu64, i);
        run(data, size, what);
    }
}

/* What the code under test prints is not wanted. */
static void be_silent(void) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    screen = dup(STDOUT_FILENO);
    if (nowhere < 0 || screen < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
        fuzz_fail("cannot be silent");
    close(nowhere);
}

int main(int argc, char *argv[]) {
    LLVMFuzzerInitialize(&argc, &argv);
    if (getenv("FUZZ_NOISE") == NULL)
        be_silent();
    signal(SIGABRT, report);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--costs") == 0) {
            shows_costs = true;
        } else if (strcmp(argv[i], "--attacks") == 0 && i + 1 < argc) {
            run_attacks((size_t)strtoull(argv[++i], NULL, 0));
        } else if (strcmp(argv[i], "--random") == 0 && i + 1 < argc) {
            uint64_t count = strtoull(argv[++i], NULL, 0);
            bool has_seed = i + 1 < argc && argv[i + 1][0] >= '0' && argv[i + 1][0] <= '9';
            run_random(count, has_seed ? strtoull(argv[++i], NULL, 0) : 1);
        } else {
            run_all(argv[i]);
        }
    }
    dprintf(screen, "fuzz_%s: %" PRIu64 " inputs: ok\n", fuzz_target.name, inputs);
    return 0;
}
