/* SPDX-License-Identifier: MIT */
/*
 * collisions.h - keys that a stranger chooses against a table of hashes whose seed is known to be 0,
 * and how long the chains are that they make. A test counts comparisons so, and measures no time.
 */
#ifndef TESTS_COLLISIONS_H
#define TESTS_COLLISIONS_H

#include "../../src/base/key_table.h"

#define COLLISIONS 512
#define COLLISION_SIZE 8

/* With a seed that is not known no chain of so many keys in a table is longer: random keys make one of
   20 in less than a millionth of a millionth of all tables. */
#define COLLISIONS_CHAIN_MAX 20u

/* Keys of 8 letters and digits, with no final zero. All are in one bucket of a table if the seed is 0. */
extern char collisions[COLLISIONS][COLLISION_SIZE];

/* Finds them, in some 50 ms. */
void collisions_find(void);

/* The length of the longest chain of a table. */
size_t longest_chain(const struct htw__key_table *table);

#endif /* TESTS_COLLISIONS_H */
