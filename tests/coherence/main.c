/* SPDX-License-Identifier: MIT */
/*
 * main.c - how many cache lines change hands in an operation of the library, with 2 to 64 CPUs.
 *
 *   coherence                       all workloads; fails where more lines change hands than may
 *   coherence --lines WORKLOAD N    which code moves them, with N CPUs
 */
#include "cache.h"
#include "run.h"
#include "../support/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS 1600u   /* of all CPUs together, that are measured */
#define OPERATIONS_MIN 25u /* of each CPU */
#define PLACES_MAX 1000u
#define PLACES_SHOWN 40u

struct result {
    double lines;      /* an operation: those of the library */
    double user_lines; /* those of the workload itself */
};

static unsigned operations_of(unsigned cpus) {
    return OPERATIONS / cpus > OPERATIONS_MIN ? OPERATIONS / cpus : OPERATIONS_MIN;
}

static struct result run(const struct workload *workload, unsigned cpus) {
    unsigned operations = operations_of(cpus);
    struct result result = { 0 };
    run_workload(workload, cpus, OPERATIONS_MIN + workload->warming / cpus, operations);
    size_t count, users = 0;
    const struct cache_event *events = cache_events(&count);
    for (size_t i = 0; i < count; i++)
        users += events[i].code == 0;
    result.lines = (double)(count - users) / operations / cpus;
    result.user_lines = (double)users / operations / cpus;
    return result;
}

/* ---- which code */

struct place {
    uintptr_t code;
    size_t reads, writes;
};

static int compare_places(const void *a, const void *b) {
    const struct place *one = a, *other = b;
    size_t left = one->reads + one->writes, right = other->reads + other->writes;
    return left < right ? 1 : left > right ? -1 : 0;
}

static size_t collect(struct place *places, size_t room) {
    size_t count, found = 0;
    const struct cache_event *events = cache_events(&count);
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < found && places[j].code != events[i].code)
            j++;
        if (j == room)
            continue;
        if (j == found)
            places[found++] = (struct place) { .code = events[i].code };
        places[j].writes += events[i].is_write;
        places[j].reads += !events[i].is_write;
    }
    qsort(places, found, sizeof(*places), compare_places);
    return found;
}

static int print_lines(const struct workload *workload, unsigned cpus) {
    static struct place places[PLACES_MAX];
    struct result result = run(workload, cpus);
    printf("%s, %u CPUs: %.3f lines an operation, and %.3f of the workload\n", workload->name, cpus,
           result.lines, result.user_lines);
    size_t count = collect(places, PLACES_MAX);
    for (size_t i = 0; i < count && i < PLACES_SHOWN; i++)
        printf("%7.3f  %-5s  %s\n",
               (double)(places[i].reads + places[i].writes) / operations_of(cpus) / cpus,
               places[i].reads == 0 ? "write" : "read",
               places[i].code == 0 ? "the workload" : symbols_place(places[i].code));
    return 0;
}

/* ---- all */

/* The most lines with any number of CPUs. */
static double count_lines(const struct workload *workload, bool is_short) {
    static const unsigned counts[] = { 2, 4, 8, 16, 32, 64 };
    double most = 0;
    printf("%-18s", workload->name);
    for (unsigned i = 0; i < 6; i++) {
        if (is_short && workload->lines_max > 0 && i % 2 != 0) {
            printf("         ");
            continue;
        }
        double lines = run(workload, counts[i]).lines;
        most = lines > most ? lines : most;
        printf(" %8.3f", lines);
        fflush(stdout);
    }
    return most;
}

static bool is_too_much(const struct workload *workload, bool is_short) {
    bool is = count_lines(workload, is_short) > workload->lines_max;
    printf("  at most %g%s\n", workload->lines_max, is ? ": TOO MANY" : "");
    return is;
}

static int check_all(bool is_short) {
    const struct workload *workload;
    unsigned failed = 0;
    printf("%-18s %8u %8u %8u %8u %8u %8u CPUs\n", "", 2, 4, 8, 16, 32, 64);
    for (unsigned i = 0; (workload = run_workload_at(i)) != NULL; i++)
        failed += is_too_much(workload, is_short);
    bool is_found = count_lines(&mistaken_workload, is_short) > 0.5;
    printf("  on purpose%s\n", is_found ? "" : ": NOT FOUND");
    failed += !is_found;
    return failed == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 1)
        return check_all(false);
    if (argc == 2 && strcmp(argv[1], "--short") == 0)
        return check_all(true);
    if (argc == 4 && strcmp(argv[1], "--lines") == 0) {
        const struct workload *workload = run_find_workload(argv[2]);
        unsigned cpus = (unsigned)strtoul(argv[3], NULL, 10);
        if (workload != NULL && cpus >= 1 && cpus <= CACHE_CPUS)
            return print_lines(workload, cpus);
    }
    fputs("usage: coherence [--short | --lines WORKLOAD CPUS\n", stderr);
    return 2;
}
