/* SPDX-License-Identifier: MIT */
/*
 * main.c - explores the schedules of the scenes.
 *
 *   explore [--full] [--deviations N] [--seconds S] [SCENE]...   all schedules with few deviations
 *   explore --random [--seed N] [--seconds S] [SCENE]...         random schedules
 *   explore SCENE --replay CHOICE:ANSWER,... [--variant N]       one, step by step
 *   explore --operations [SCENE]...                              and the atomic operations that were played
 *   explore --list                                               the scenes, and what must hold in each
 *
 * --seconds is for each scene. --weaken FROM:TO:OFFSET,... weakens the order of atomic operations (orders.h).
 */
#include "explore.h"
#include "machine.h"
#include "orders.h"
#include "scenes.h"
#include "search.h"
#include "../support/symbols.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    bool is_full, is_random, lists, shows_operations;
    double seconds;
    unsigned deviations; /* 0: as the scene says */
    uint64_t seed;
    const char *replay;
} options = { .seconds = 3600, .seed = 1 };

/* ---- the list of steps */

static unsigned told_thread;

void explore_tell(unsigned step, unsigned thread, const char *what, const volatile void *object,
                  const void *code) {
    printf("%s%5u  thread %u %-14s %14p  %s\n", thread == told_thread ? "" : "\n", step, thread,
           what, (const void *)(uintptr_t)object, symbols_place((uintptr_t)code));
    told_thread = thread;
}

static void print_schedule(const struct schedule *schedule) {
    for (unsigned i = 0; i < schedule->count; i++)
        printf("%s%u:%u", i == 0 ? "" : ",", schedule->deviations[i].choice,
               schedule->deviations[i].answer);
    if (schedule->count == 0)
        printf("-");
}

static struct schedule parse_schedule(const char *text) {
    struct schedule schedule = { 0 };
    while (text != NULL && *text != '-' && schedule.count < DEVIATIONS_MAX) {
        struct deviation *next = &schedule.deviations[schedule.count];
        if (sscanf(text, "%u:%u", &next->choice, &next->answer) != 2) {
            fprintf(stderr, "explore: not a schedule: %s\n", text);
            exit(2);
        }
        schedule.count++;
        text = strchr(text, ',');
        if (text != NULL)
            text++;
    }
    return schedule;
}

/* ---- scenes */

static bool is_wanted(const struct scene *each, char **names, int count) {
    bool wanted = count == 0;
    for (int i = 0; i < count; i++)
        wanted |= strcmp(names[i], each->name) == 0;
    return wanted;
}

static unsigned bound_of(const struct scene *each) {
    if (options.deviations != 0 && each->full > 0)
        return options.deviations;
    return options.is_full ? each->full : each->quick;
}

/* All variants of the present scene. */
static struct search_result search(unsigned bound) {
    struct search_result all = { .is_exhaustive = true };
    for (scene_variant = 0; scene_variant < scene_present->variants || scene_variant == 0;
         scene_variant++) {
        struct search_result result = options.is_random
                                          ? search_random(scene_play, options.seed, options.seconds)
                                          : search_all(scene_play, bound, options.seconds);
        if (result.failure != NULL)
            return result;
        all.schedules += result.schedules;
        all.seconds += result.seconds;
        all.is_exhaustive &= result.is_exhaustive;
    }
    if (options.shows_operations)
        orders_print();
    return all;
}

/* ---- each search and each schedule in a process of its own: a schedule that fails leaves what the library has in variables
   as it was */

static struct found {
    struct search_result result;
    unsigned variant;
    char failure[512];
} * found;

static struct search_result replay(const struct schedule *schedule, bool tells) {
    return (struct search_result) { .failure = search_replay(scene_play, schedule, tells) };
}

/* A schedule, or all of them. The text of a failure, or NULL. */
static const char *play_apart(const struct schedule *schedule, bool tells) {
    if (found == NULL)
        found =
            mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);
    int status;
    pid_t child = fork();
    if (child == 0) {
        found->result =
            schedule == NULL ? search(bound_of(scene_present)) : replay(schedule, tells);
        found->variant = scene_variant;
        if (found->result.failure != NULL)
            snprintf(found->failure, sizeof(found->failure), "%s", found->result.failure);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(2);
    return found->result.failure == NULL ? NULL : found->failure;
}

static bool fails(const struct schedule *schedule) {
    return play_apart(schedule, false) != NULL;
}

static void report(const struct scene *each) {
    struct schedule schedule = found->result.schedule;
    uint64_t schedules = found->result.schedules;
    scene_variant = found->variant;
    search_shrink(&schedule, fails);
    printf("\nFAILED %s: %s\nafter %llu schedules: ", each->name, each->promise,
           (unsigned long long)schedules);
    (void)fails(&schedule);
    symbols_print(found->failure);
    (void)play_apart(&schedule, true);
    printf("\n./dev explore %s --replay ", each->name);
    print_schedule(&schedule);
    if (each->variants > 0)
        printf(" --variant %u", scene_variant);
    printf("\n");
}

static bool explore(const struct scene *each) {
    if (play_apart(NULL, false) != NULL) {
        report(each);
        return false;
    }
    const struct search_result *result = &found->result;
    printf("%-22s %9llu schedules", each->name, (unsigned long long)result->schedules);
    if (options.is_random)
        printf(", at random from seed %llu", (unsigned long long)options.seed);
    else
        printf(", %s with %u deviations", result->is_exhaustive ? "all" : "NOT all",
               bound_of(each));
    printf(", %.1f s\n", result->seconds);
    fflush(stdout);
    return true;
}

static bool show(void) {
    struct schedule schedule = parse_schedule(options.replay);
    const char *failure = play_apart(&schedule, true);
    printf("\n%s\n", failure == NULL ? "it does not fail" : "");
    if (failure != NULL)
        symbols_print(failure);
    return failure == NULL;
}

static bool deal_with(const struct scene *each) {
    scene_present = each;
    if (!options.lists)
        return options.replay != NULL ? show() : explore(each);
    printf("%-22s %s\n", each->name, each->promise);
    return true;
}

static int run(char **names, int count) {
    static const struct scene *const lists[] = {
        scheduler_scenes, scope_scenes,         purgatory_scenes,
        alarm_scenes,     order_scenes,         wake_scenes,
#ifdef HTW_HAS_JOURNAL
        journal_scenes,   journal_lease_scenes, journal_disk_scenes
#endif
    };
    bool passed = true, is_known = false;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct scene *each = lists[i]; each->name != NULL; each++)
            if (is_wanted(each, names, count)) {
                is_known = true;
                passed &= deal_with(each);
            }
    if (!is_known)
        fprintf(stderr, "explore: no such scene; --list shows them\n");
    return is_known ? !passed : 2;
}

int main(int argc, char **argv) {
    static const struct option known[] = { { "full", no_argument, NULL, 'f' },
                                           { "random", no_argument, NULL, 'r' },
                                           { "seed", required_argument, NULL, 's' },
                                           { "seconds", required_argument, NULL, 't' },
                                           { "deviations", required_argument, NULL, 'd' },
                                           { "replay", required_argument, NULL, 'p' },
                                           { "list", no_argument, NULL, 'l' },
                                           { "operations", no_argument, NULL, 'o' },
                                           { "variant", required_argument, NULL, 'v' },
                                           { "weaken", required_argument, NULL, 'w' },
                                           { NULL, 0, NULL, 0 } };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'f')
            options.is_full = true;
        else if (option == 'r')
            options.is_random = true;
        else if (option == 's')
            options.seed = strtoull(optarg, NULL, 0);
        else if (option == 't')
            options.seconds = strtod(optarg, NULL);
        else if (option == 'd')
            options.deviations = (unsigned)strtoul(optarg, NULL, 0);
        else if (option == 'p')
            options.replay = optarg;
        else if (option == 'v')
            scene_variant = (unsigned)strtoul(optarg, NULL, 0);
        else if (option == 'l')
            options.lists = true;
        else if (option == 'o')
            options.shows_operations = true;
        else if (option != 'w' || !orders_weaken(optarg))
            return 2;
    }
    return run(argv + optind, argc - optind);
}
