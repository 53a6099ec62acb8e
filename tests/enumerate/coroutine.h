/* SPDX-License-Identifier: MIT */
/*
 * coroutine.h - threads that run one at a time, and only when told to.
 *
 * A coroutine has a stack and thread-local variables of its own, both in memory that it was created in:
 * so an image (image.h) saves and restores a thread in the middle of a call. It must not pause with a
 * lock held.
 */
#ifndef TESTS_ENUMERATE_COROUTINE_H
#define TESTS_ENUMERATE_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

struct coroutine;

struct coroutine *coroutine_create(void);

/** Runs `body` until it pauses or returns. */
void coroutine_start(struct coroutine *coroutine, void (*body)(void *), void *arg);

/** Lets it run on until it pauses or returns. */
void coroutine_resume(struct coroutine *coroutine);

/** Whether it waits to be resumed. */
bool coroutine_is_paused(const struct coroutine *coroutine);

/** Inside a coroutine: returns to the caller of coroutine_start() or coroutine_resume(). */
void coroutine_pause(void);

/** A digest of all that one that is paused remembers. */
uint64_t coroutine_digest(const struct coroutine *coroutine);

#endif /* TESTS_ENUMERATE_COROUTINE_H */
