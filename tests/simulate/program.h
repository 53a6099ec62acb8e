/* SPDX-License-Identifier: MIT */
/*
 * program.h - a life of the simulated program: a scheduler, a purgatory and a journal, and two clients that use them.
 *
 * Each part has its load and its oracle in one file: timers.c and requests.c of ../stage, and jobs.c. `..._act` makes one
 * random call; `..._judge` looks for what should have happened and has not.
 */
#ifndef TESTS_SIMULATE_PROGRAM_H
#define TESTS_SIMULATE_PROGRAM_H

#include <htw/journal.h>
#include <htw/scheduler.h>

#include <stdbool.h>
#include <stdint.h>

extern struct htw_scheduler *scheduler;

/* Plays a life: the first thread of the machine. How it ends: world->ending. */
void program_live(void);

void jobs_begin(void);
void jobs_open(uint32_t workers);
void jobs_act(void);
/* After the wall clock was set, which was so far ahead of the monotonic one. */
void jobs_follow(int64_t ahead_before_ns);
/* Also opens the journal again where it has stopped. */
void jobs_judge(void);
/* Whether there are any, as far as is known. */
bool jobs_remain(void);
void jobs_close(void);

#endif /* TESTS_SIMULATE_PROGRAM_H */
