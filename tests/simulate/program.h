/* SPDX-License-Identifier: MIT */
/*
 * program.h - a life of the simulated program: a scheduler, a purgatory and a journal, and two clients that use them.
 *
 * Each part has its load and its oracle in one file: timers.c, requests.c, jobs.c. An oracle knows what was asked and
 * what was answered, and nothing of the library's insides. `..._act` makes one random call; `..._judge` looks for what
 * should have happened and has not.
 */
#ifndef TESTS_SIMULATE_PROGRAM_H
#define TESTS_SIMULATE_PROGRAM_H

#include <htw/journal.h>
#include <htw/purgatory.h>
#include <htw/scheduler.h>

#include <stdbool.h>
#include <stdint.h>

/* How late something may be where no thread was stopped and nothing has failed. */
#define LATE_TIMER_NS (100 * HTW_MILLISECOND)
#define LATE_JOB_NS (2 * HTW_SECOND)

extern struct htw_scheduler *scheduler;

/* Plays a life: the first thread of the machine. How it ends: world->ending. */
void program_live(void);

/* Whether an answer may be -ENOMEM, or another one of a failure that a fault has caused. */
bool program_may_fail(int result);

void timers_open(void);
void timers_act(void);
void timers_follow(int64_t ahead_before_ns);
void timers_judge(void);
/* Of the scheduler that stops: hands back a timer. */
void timers_take_back(void *context, const struct htw_unexpired *unexpired);
/* After that: each has run, was cancelled or is handed back. */
void timers_close(void);

void requests_open(void);
void requests_act(void);
void requests_judge(void);
void requests_close(void);

void jobs_begin(void);
void jobs_open(uint32_t workers);
void jobs_act(void);
void jobs_follow(int64_t ahead_before_ns);
/* Also opens the journal again where it has stopped. */
void jobs_judge(void);
/* Whether there are any, as far as is known. */
bool jobs_remain(void);
void jobs_close(void);

#endif /* TESTS_SIMULATE_PROGRAM_H */
