/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs lives of the simulated program, one after the other, until so much time has passed in them.
 *
 *   simulate [--hours H] [--seed S] [--twice] [--tell [LIFE]]
 *
 * --twice runs all of it again, and fails unless the same happens. --tell prints what happens, in all lives or in one
 * of them.
 */
#include "../support/symbols.h"
#include "../explore/disk.h"
#include "faults.h"
#include "program.h"
#include "../stage/scenes.h"
#include "world.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    double hours;
    uint64_t seed;
    bool tells, twice;
    unsigned told; /* 0: each life */
} options = { .hours = 1, .seed = 1 };

static void print_time(const char *text, int64_t ns) {
    printf("%s%lld:%02lld:%06.3f", text, (long long)(ns / HTW_HOUR),
           (long long)(ns / HTW_MINUTE % 60), (double)(ns % HTW_MINUTE) / 1e9);
}

static _Noreturn void fail(const char *failure) {
    static const char *const endings[] = { "closed", "killed", "cut off" };
    printf("\nFAILED in life %u, to be %s, at ", world->life, endings[world->ending]);
    print_time("", world->passed_ns + world->life_ns);
    printf(": ");
    symbols_print(failure);
    printf("./dev simulate --hours %g --seed %llu --tell %u\n", options.hours,
           (unsigned long long)options.seed, world->life);
    fflush(stdout);
    _exit(1);
}

/* ---- lives */

/* In a process of its own. */
static void live(void) {
    faults_begin();
    const char *failure = machine_run(program_live);
    if (failure != NULL)
        fail(failure);
    fflush(stdout);
    _exit(0);
}

/* How long the program is not there. */
static int64_t random_gap_ns(void) {
    return chance_ns(HTW_SECOND);
}

static bool run_life(enum ending ending) {
    int status;
    world->life++;
    world->ending = ending;
    world->life_ns = 0;
    world->tells = options.tells && (options.told == 0 || options.told == world->life);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        live();
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("simulate");
        return false;
    }
    if (WIFSIGNALED(status))
        printf("FAILED: signal %d in life %u of seed %llu\n", WTERMSIG(status), world->life,
               (unsigned long long)options.seed);
    if (status != 0)
        return false;
    if (ending == ENDS_CUT)
        faults_cut_power();
    world->counts.lives[ending]++;
    world->passed_ns += world->life_ns;
    world->wall_ns += (ending == ENDS_CLEANLY ? 0 : world->life_ns) + random_gap_ns();
    return true;
}

static enum ending random_ending(void) {
    uint64_t kind = chance_below(4);
    return kind == 0 ? ENDS_CLEANLY : kind == 1 ? ENDS_KILLED : ENDS_CUT;
}

static bool run_all(void) {
    int64_t end_ns = (int64_t)(options.hours * (double)HTW_HOUR);
    world_init(options.seed);
    disk_init();
    jobs_init();
    while (world->passed_ns < end_ns)
        if (!run_life(random_ending()))
            return false;
    world->is_quiet = true;
    world->wall_ns += HTW_DAY;
    return run_life(ENDS_CLEANLY);
}

/* ---- the report */

#define ROW(text, value) printf("  %-28s %12llu\n", text, (unsigned long long)(value))

static void report(double seconds) {
    const struct counts *counts = &world->counts;
    print_time("simulated ", world->passed_ns);
    printf(" in %.1f s: %.0f times as fast; seed %llu, digest %016llx\n", seconds,
           (double)world->passed_ns / 1e9 / seconds, (unsigned long long)options.seed,
           (unsigned long long)world->digest);
    ROW("lives that end cleanly", counts->lives[ENDS_CLEANLY]);
    ROW("that are killed", counts->lives[ENDS_KILLED]);
    ROW("that lose their power", counts->lives[ENDS_CUT]);
    for (unsigned i = 0; counts->events[i].what != NULL; i++)
        ROW(counts->events[i].what, counts->events[i].count);
    ROW("atomic operations", counts->steps);
    ROW("most of them in a second", counts->most_steps);
    ROW("allocations refused", counts->no_memory);
    ROW("latest timer or request, us", counts->late_ns / 1000);
    ROW("most memory, bytes", counts->most_bytes);
    ROW("files at the end, bytes", disk_bytes());
}

static bool read_options(int argc, char **argv) {
    static const struct option known[] = { { "hours", required_argument, NULL, 'h' },
                                           { "seed", required_argument, NULL, 's' },
                                           { "twice", no_argument, NULL, '2' },
                                           { "tell", optional_argument, NULL, 't' },
                                           { NULL, 0, NULL, 0 } };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'h')
            options.hours = strtod(optarg, NULL);
        else if (option == 's')
            options.seed = strtoull(optarg, NULL, 0);
        else if (option == '2')
            options.twice = true;
        else if (option == 't')
            options.tells = true;
        else
            return false;
    }
    if (options.tells && optind < argc)
        options.told = (unsigned)strtoul(argv[optind++], NULL, 10);
    return optind == argc && options.hours > 0;
}

static double now_s(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC); /* the machine has the other clocks */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool happens_again(uint64_t digest) {
    bool is_same = run_all() && world->digest == digest;
    if (!is_same)
        printf("FAILED: the second time the digest is %016llx\n",
               (unsigned long long)world->digest);
    return is_same;
}

int main(int argc, char **argv) {
    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: simulate [--hours H] [--seed S] [--twice] [--tell [LIFE]]\n");
        return 2;
    }
    double begin_s = now_s();
    if (!run_all())
        return 1;
    report(now_s() - begin_s);
    return options.twice && !happens_again(world->digest);
}
