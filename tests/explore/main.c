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
#include "memory.h"
#include "orders.h"
#include "scenes.h"
#include "search.h"
#include "../support/symbols.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void report(const struct scene *each, struct search_result *result) {
    search_shrink(scene_play, result);
    char failure[512];
    snprintf(failure, sizeof(failure), "%s", result->failure);
    printf("\nFAILED %s: %s\nafter %llu schedules: ", each->name, each->promise,
           (unsigned long long)result->schedules);
    symbols_print(failure);
    search_replay(scene_play, &result->schedule, true);
    printf("\n./dev explore %s --replay ", each->name);
    print_schedule(&result->schedule);
    if (each->variants > 0)
        printf(" --variant %u", scene_variant);
    printf("\n");
}

/* All variants. */
static struct search_result search(const struct scene *each, unsigned bound) {
    struct search_result all = { .is_exhaustive = true };
    for (scene_variant = 0; scene_variant < each->variants || scene_variant == 0; scene_variant++) {
        struct search_result result = options.is_random
                                          ? search_random(scene_play, options.seed, options.seconds)
                                          : search_all(scene_play, bound, options.seconds);
        if (result.failure != NULL)
            return result;
        all.schedules += result.schedules;
        all.seconds += result.seconds;
        all.is_exhaustive &= result.is_exhaustive;
    }
    return all;
}

static bool explore(const struct scene *each) {
    unsigned bound = bound_of(each);
    struct search_result result = search(each, bound);
    if (result.failure != NULL) {
        report(each, &result);
        return false;
    }
    printf("%-22s %9llu schedules", each->name, (unsigned long long)result.schedules);
    if (options.is_random)
        printf(", at random from seed %llu", (unsigned long long)options.seed);
    else
        printf(", %s with %u deviations", result.is_exhaustive ? "all" : "NOT all", bound);
    printf(", %.1f s\n", result.seconds);
    fflush(stdout);
    return true;
}

static bool replay(void) {
    struct schedule schedule = parse_schedule(options.replay);
    const char *failure = search_replay(scene_play, &schedule, true);
    printf("\n%s\n", failure == NULL ? "it does not fail" : "");
    if (failure != NULL)
        symbols_print(failure);
    return failure == NULL;
}

static bool deal_with(const struct scene *each) {
    scene_present = each;
    if (!options.lists)
        return options.replay != NULL ? replay() : explore(each);
    printf("%-22s %s\n", each->name, each->promise);
    return true;
}

static int run(char **names, int count) {
    static const struct scene *const lists[] = {
        scheduler_scenes, purgatory_scenes,     alarm_scenes,       order_scenes, wake_scenes,
#ifdef HTW_HAS_JOURNAL
        journal_scenes,   journal_lease_scenes, journal_disk_scenes
#endif
    };
    bool passed = true, found = false;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct scene *each = lists[i]; each->name != NULL; each++)
            if (is_wanted(each, names, count)) {
                found = true;
                passed &= deal_with(each);
            }
    if (!found)
        fprintf(stderr, "explore: no such scene; --list shows them\n");
    return found ? !passed : 2;
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
    int result = run(argv + optind, argc - optind);
    if (options.shows_operations)
        orders_print();
    return result;
}
