/* SPDX-License-Identifier: MIT */
/* explore.h - for scenes: a few threads that use the library, and what must hold in every schedule. */
#ifndef TESTS_EXPLORE_EXPLORE_H
#define TESTS_EXPLORE_EXPLORE_H

#include "../stage/stage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct scene {
    const char *name;
    const char *promise; /* what must hold */
    void (*play)(void);
    unsigned quick,
        full; /* deviations that CI explores exhaustively, and the verb does; full 0: never any */
    unsigned variants; /* it is played so many times, each of which is another variant; 0: once */
};

/* Plays this scene, in this variant. */
void scene_play(void);
extern const struct scene *scene_present;
extern unsigned scene_variant;

/* Memory at the same addresses in each schedule. */
extern const struct htw_allocator explore_allocator;

/* The flag must be set before all threads wait for longer than until `by_ns` of the monotonic clock:
   otherwise a wake-up was lost. At most 16 in a schedule. */
void explore_expect(const bool *flag, int64_t by_ns);

/* The present time of the monotonic clock. */
int64_t explore_now_ns(void);

/* Sets the wall clock, which begins at 1 600 000 000 s. */
void explore_set_wall_ns(int64_t wall_ns);

/* The thread sleeps for so long, and then until all other threads wait. It sees all that they have done,
   so that it can judge it. */
void explore_sleep_ns(int64_t delay_ns);

/* On which CPU the thread runs from now on; 0 at first. */
void explore_set_cpu(int cpu);

#endif /* TESTS_EXPLORE_EXPLORE_H */
