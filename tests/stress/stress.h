/* SPDX-License-Identifier: MIT */
/*
 * stress.h - what the stress tests share: threads, randomness, arguments that notice when they are
 * used after their end, and ways to fail loudly from any thread.
 *
 * Each test is a program of its own: NAME [SECONDS [SEED]]. It runs for about SECONDS, prints its
 * seed, and aborts at the first error. Nothing depends on how long anything takes, except for limits
 * so generous that only a hang reaches them.
 */
#ifndef HTW_TESTS_STRESS_H
#define HTW_TESTS_STRESS_H

#include "../support/random.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How long a wait for something that must happen may take. */
#define STRESS_LIMIT_NS (30 * HTW_SECOND)

/* Fails, with the seed, unless `condition` holds. In any thread. */
#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition))                                      \
            stress_fail(__FILE__, __LINE__, "%s", #condition); \
    } while (false)

/* The same of two integers, which are printed. */
#define CHECK_EQUAL(a, b) \
    stress_check_equal(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b))

_Noreturn void stress_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void stress_check_equal(const char *file, int line, const char *what, int64_t a, int64_t b);

/* ---- life of a program */

/* Reads the arguments; the time is divided among `parts` parts. */
void stress_begin(int argc, char **argv, unsigned parts);

/* Begins the next part, which is called `name`; its time runs from now on. */
void stress_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether there is time left in this part. Any thread. */
bool stress_goes_on(void);

int64_t stress_now_ns(void);
void stress_sleep_ns(int64_t ns);

/* A source of random numbers that depends on the seed of the program and on `number`. */
struct random_source stress_random(uint64_t number);

/* ---- threads */

#define STRESS_THREADS_MAX 32u

struct stress_thread {
    unsigned index;
    struct random_source random;
    void *context;
};

/* Runs `main` in `count` threads, and returns when all of them have. */
void stress_run(unsigned count, void (*main)(struct stress_thread *thread), void *context);

/* ---- waiting */

/* Waits until `*counter` has reached `value`; fails after STRESS_LIMIT_NS. */
void stress_await(const _Atomic uint64_t *counter, uint64_t value);

/* ---- arguments: objects on the heap that have exactly one owner */

struct stress_item;

/* `tag` is for the test's own use, except for this bit: the timer has stress_item_hook() for a hook,
   and only that may release the item. */
#define STRESS_HOOKED (UINT64_C(1) << 63)

struct stress_item *stress_item_create(uint64_t tag);

/* The caller owns it, and uses it: fails if it has been released. */
uint64_t stress_item_tag(const struct stress_item *item);

/* Ends it: fails the second time. It is poisoned, and its memory kept back for a while. */
void stress_item_release(struct stress_item *item);

/* As a release hook, and as a visitor of leftovers; both count in the variables below. */
void stress_item_hook(void *arg);
void stress_item_visit(void *context, const struct htw_unexpired *unexpired);

/* How many there were since the last stress_items_reset(), and how many have been released. */
extern _Atomic uint64_t stress_items_created, stress_items_released, stress_items_visited;
void stress_items_reset(void);

/* ---- schedulers */

/* Creates one; fails if that fails. */
struct htw_scheduler *stress_create(const struct htw_scheduler_options *options);

/* A clock for a timer; often that of the scheduler. */
enum htw_clock stress_some_clock(struct random_source *random);

/* Checks the argument of a callback. */
void stress_check_firing(const struct htw_expiration *expiration);

struct htw_scheduler_stats stress_stats(struct htw_scheduler *scheduler);

/* Checks that the counters add up, when all is quiet; and returns them. */
struct htw_scheduler_stats stress_check_stats(struct htw_scheduler *scheduler);

/* Waits until it has not woken up for 5 ms. Returns how often it has, ever. */
uint64_t stress_await_idle(struct htw_scheduler *scheduler);

/* Stops it with stress_item_visit(), checks that every item was released and the counters, and
   destroys it. */
struct htw_scheduler_stats stress_finish(struct htw_scheduler *scheduler);

#endif /* HTW_TESTS_STRESS_H */
