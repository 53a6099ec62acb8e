/* SPDX-License-Identifier: MIT */
/*
 * world.h - what outlives a crash of the simulated program: the disk, what the outside knows of its jobs, and chance.
 *
 * A run is a sequence of LIVES of the program. Each is a process of its own, so that a crash takes away all that a
 * crash takes away; the world is memory that all of them share. Nothing in it comes from outside: a seed and a
 * commit give the same run, which its digest shows.
 */
#ifndef TESTS_SIMULATE_WORLD_H
#define TESTS_SIMULATE_WORLD_H

#include "../explore/explore.h"
#include "../explore/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENTS = 40 };

/* How a life ends. */
enum ending {
    ENDS_CLEANLY, /* all is closed and released */
    ENDS_KILLED,  /* the process is gone; the disk has all that was written */
    ENDS_CUT,     /* so is the power: the disk has what was synced, and some of the rest */
};

/* What was done: for the report. */
struct counts {
    uint64_t lives[3]; /* by their ending */
    struct {
        const char *what; /* that stage_note() has told; NULL: no more */
        uint64_t count;
    } events[EVENTS];
    uint64_t no_memory, steps;
    int64_t late_ns;     /* the most, where nothing was stopped or failed */
    uint64_t most_bytes; /* of memory */
    uint64_t most_steps; /* in a second */
};

struct world {
    struct random_source random;
    uint64_t digest; /* of all that has happened */
    unsigned life;   /* from 1 */
    enum ending ending;
    bool is_quiet;     /* no faults: the last life */
    bool tells;        /* prints what happens */
    int64_t passed_ns; /* in the lives before */
    int64_t wall_ns;   /* when this life began, or has ended */
    int64_t life_ns;   /* how long this life has lasted */
    struct counts counts;
};

extern struct world *world;

/* Creates it. */
void world_init(uint64_t seed);

static inline uint64_t chance_below(uint64_t bound) {
    return random_below(&world->random, bound);
}

static inline bool chance_one_in(uint64_t many) {
    return random_one_in(&world->random, many);
}

/* A time from 1 to about `mean_ns` * 16, short ones more often. */
int64_t chance_ns(int64_t mean_ns);

/* What excuses lateness: when threads were stopped, a fault has happened, and the wall clock was set, by the monotonic one. */
extern int64_t stopped_until_ns, stopped_for_ns, failed_until_ns, clock_set_ns;

#endif /* TESTS_SIMULATE_WORLD_H */
