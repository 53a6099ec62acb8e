/* SPDX-License-Identifier: MIT */
/* thread_locals.h - the thread-local variables of the program, which lie in one block: for coroutines, each of
   which has its own while it runs. Shared libraries have theirs elsewhere. */
#ifndef TESTS_THREAD_LOCALS_H
#define TESTS_THREAD_LOCALS_H

#include <stddef.h>

/** The bytes of a copy. */
size_t thread_locals_size(void);

/** Makes a copy what a new thread has. */
void thread_locals_init(void *copy);

/** Copies those of the present thread. */
void thread_locals_save(void *copy);

/** Makes those of the present thread what was saved. */
void thread_locals_load(const void *copy);

#endif /* TESTS_THREAD_LOCALS_H */
