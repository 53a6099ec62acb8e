/* SPDX-License-Identifier: MIT */
/*
 * search.h - the schedules of a scene: all that deviate at few places from the usual one, and random ones.
 *
 * Exhaustive with a bound of N: each schedule with at most N deviations is played, a deviation being one
 * answer to one choice that is not the usual one. Deviations that no other thread can see are left out:
 * those at objects which only one thread has ever used. When a schedule shows that another thread uses
 * such an object, all begins anew.
 */
#ifndef TESTS_EXPLORE_SEARCH_H
#define TESTS_EXPLORE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#define DEVIATIONS_MAX 32u

struct deviation {
    unsigned choice, answer;
};

struct schedule {
    unsigned count;
    struct deviation deviations[DEVIATIONS_MAX]; /* in their order */
};

struct search_result {
    const char *failure; /* NULL: none was found */
    struct schedule schedule;
    uint64_t schedules;
    bool is_exhaustive; /* all with so few deviations were played */
    double seconds;
};

/* All with at most `bound` deviations, for at most so many seconds. */
struct search_result search_all(void (*scene)(void), unsigned bound, double seconds);

/* Random ones. */
struct search_result search_random(void (*scene)(void), uint64_t seed, double seconds);

/* Plays one, and tells its steps. The failure, or NULL. */
const char *search_replay(void (*scene)(void), const struct schedule *schedule, bool tell);

/* Leaves out what the failure does not need. */
void search_shrink(struct schedule *schedule, bool (*fails)(const struct schedule *less));

#endif /* TESTS_EXPLORE_SEARCH_H */
