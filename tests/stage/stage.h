/* SPDX-License-Identifier: MIT */
/*
 * stage.h - where a scene is played: by real threads (tests/stress), by coroutines in virtual time, where threads are
 * stopped, memory is short and the clock is set (tests/simulate), or in schedules that are chosen (tests/explore).
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "../support/random.h"

#include <htw/scheduler.h>

#include <stdbool.h>
#include <stdint.h>

/* Ends the test, in any thread. */
#define REQUIRE(condition) ((condition) ? (void)0 : stage_fail(#condition, __FILE__, __LINE__))
_Noreturn void stage_fail(const char *condition, const char *file, int line);

void stage_sleep_ns(int64_t delay_ns);

/* Random numbers of this thread. */
struct random_source *stage_random(void);

/* What the library and the scenes allocate from. */
extern const struct htw_allocator stage_allocator;

/* Whether a call may answer this because of the stage: memory is short, or the scheduler is being stopped. */
bool stage_excuses(int result);

/* Fails if it is much later than `deadline_ns` by this clock, and the stage is not the reason. */
void stage_require_in_time(enum htw_clock clock, int64_t deadline_ns);

/* Whether what was due then, by the monotonic clock, is so late that it is lost. */
bool stage_is_late(int64_t due_ns);

/* The time by HTW_CLOCK_MONOTONIC or HTW_CLOCK_REALTIME. */
int64_t stage_now_ns(enum htw_clock clock);

/* Whether the disk was full at any time since then. */
bool stage_disk_was_full_since(int64_t from_ns);

/* Something has happened: for the list of events. */
void stage_note(const char *what, uint64_t number, int64_t result);

#endif /* TESTS_STAGE_H */
