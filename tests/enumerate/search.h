/* SPDX-License-Identifier: MIT */
/*
 * search.h - every operation in every state that a few operations lead to.
 *
 * THE SEARCH goes breadth first, so the first difference that it finds is a shortest one. Of two histories that
 * lead to states with the same digest only the first is continued. A state that is to be continued is kept as
 * its path, one byte a step. Neighbours have most of their path in common, so mostly one step is run to get
 * to the next state, and one copy returns to it (image.h).
 *
 * A failure prints its history as text, which search_told() runs again.
 */
#ifndef TESTS_ENUMERATE_SEARCH_H
#define TESTS_ENUMERATE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEARCH_DEPTH_MAX = 16, SEARCH_TEXT = 64 };

/** What is searched. Its whole state is in what it has allocated since begin(). */
struct search_model {
    /** Makes the first state. */
    void (*begin)(void);
    /** Finds the operations that the present state allows, at most 256, and returns how many. They are
        numbered from 0 until the next call. */
    size_t (*list)(void);
    /** Writes an operation of the list as a text of less than SEARCH_TEXT bytes, without commas. */
    void (*describe)(size_t operation, char *text);
    /** Runs an operation of the list. False: a difference. */
    bool (*run)(size_t operation);
    /** Reads the state after a step. States with equal digests have the same futures of `remaining` steps or
        fewer, and the same ends. False: a difference. */
    bool (*read)(unsigned remaining, uint64_t *ret_digest);
    /** Compares all of a state; `is_new`: none with its digest was met before. */
    bool (*compare)(bool is_new);
    /** In the ways of `ends`, which a NULL ends, a history is brought to its end after each step; those of the
        greatest depth in the first way only. */
    bool (*finish)(size_t end);
    const char *const *ends;
    /** What differs, after `false`. */
    const char *(*message)(void);
};

/** Runs all histories of up to `depth` steps, and prints a line for each depth, which begins with `name`. The
    name is also what ./dev enumerate needs to run the search. False: a difference, which was printed. */
bool search_run(const struct search_model *model, const char *name, unsigned depth);

/** The same if `what` is a depth. Otherwise runs the history of that text, such as "cancel 0, drain", and its end,
    unless that is NULL. False: a difference, or there is no such step. */
bool search_told(const struct search_model *model, const char *name, const char *what,
                 const char *end);

#endif /* TESTS_ENUMERATE_SEARCH_H */
