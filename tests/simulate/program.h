/* SPDX-License-Identifier: MIT */
/*
 * program.h - a life of the simulated program: a scheduler, a purgatory and a journal, and two clients that use them.
 *
 * Each part has its load and its oracle in a file of ../stage: timers.c, requests.c, jobs.c. `..._act` makes one
 * random call; `..._judge` looks for what should have happened and has not.
 */
#ifndef TESTS_SIMULATE_PROGRAM_H
#define TESTS_SIMULATE_PROGRAM_H

/* Plays a life: the first thread of the machine. How it ends: world->ending. */
void program_live(void);

#endif /* TESTS_SIMULATE_PROGRAM_H */
