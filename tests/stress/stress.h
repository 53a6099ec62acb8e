/* SPDX-License-Identifier: MIT */
/*
 * stress.h - the stage of the stress tests: real threads, and the real clocks.
 *
 * Each test is a program of its own: NAME [SECONDS [SEED]]. It runs for about SECONDS, prints its seed, and aborts at the
 * first error. Nothing depends on how long anything takes, except for limits so generous that only a hang reaches them.
 */
#ifndef HTW_TESTS_STRESS_H
#define HTW_TESTS_STRESS_H

#include "../stage/scenes.h"

#include <htw/observe.h>

#include <errno.h>

/* How long a wait for something that must happen may take. */
#define STRESS_LIMIT_NS (30 * HTW_SECOND)

/* ---- life of a program */

/* Reads the arguments; the time is divided among `parts` parts. */
void stress_begin(int argc, char **argv, unsigned parts);

/* What the random numbers of threads begin with that draw none yet. */
extern uint64_t stress_seed;

/* Begins the next part, which is called `name`; its time runs from now on. */
void stress_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether there is time left in this part. Any thread. */
bool stress_goes_on(void);

int64_t stress_now_ns(void);

/* ---- threads */

#define STRESS_THREADS_MAX 32u

/* Runs `main` in `count` threads, each with its number, and returns when all of them have. */
void stress_run(unsigned count, void (*main)(unsigned number));

/* Waits until `*counter` has reached `value`; fails after STRESS_LIMIT_NS. */
void stress_await(const _Atomic uint64_t *counter, uint64_t value);

/* ---- memory */

/* Lets one allocation in `one_in` fail from now on; 0: none. */
void stress_fail_memory(uint64_t one_in);

/* Fails if anything is allocated. */
void stress_require_no_memory(void);

/* ---- schedulers */

/* Who runs the callbacks: the library, an executor of the test, or threads that process an embedded scheduler. */
enum stress_runners { BY_THREADS, BY_EXECUTOR, BY_PROCESSING };
#define STRESS_RUNNERS 2u

/* Creates one from these options, with what the runners need; fails if that fails. One at a time has runners. */
struct htw_scheduler *stress_create(const struct htw_scheduler_options *options,
                                    enum stress_runners by);

/* From now on a scheduler is being stopped, which calls may tell. */
void stress_expect_stop(void);

/* Destroys it. It may have been stopped. */
void stress_destroy(struct htw_scheduler *scheduler);

/* Checks that the counters add up, when all is quiet; and returns them. */
struct htw_scheduler_stats stress_check_stats(struct htw_scheduler *scheduler);

#endif /* HTW_TESTS_STRESS_H */
