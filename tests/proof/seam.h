/* SPDX-License-Identifier: MIT */
/*
 * seam.h - is included before each harness: threads, and what a model checker does not know of the library's code.
 *
 * GenMC has functions of its own for threads and memory, and takes the rest from the C library's headers; nothing else of
 * those may be called. Dartagnan knows pthreads.
 */
#ifndef TESTS_PROOF_SEAM_H
#define TESTS_PROOF_SEAM_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void __VERIFIER_assume(int condition);

#ifdef PROOF_GENMC
void __VERIFIER_assert_fail(const char *condition, const char *file, int line);
void *__VERIFIER_malloc(size_t size);
int __VERIFIER_thread_create(const void *attributes, void *(*body)(void *), void *argument);
void *__VERIFIER_thread_join(long thread);
typedef long proof_thread;
#define PROOF_START(thread, body) ((thread) = __VERIFIER_thread_create(NULL, (body), NULL))
#define PROOF_JOIN(thread) ((void)__VERIFIER_thread_join(thread))
#define REQUIRE(condition) \
    ((condition) ? (void)0 : __VERIFIER_assert_fail(#condition, __FILE__, __LINE__))
#define PROOF_ALLOCATE(size) __VERIFIER_malloc(size)
#else
typedef pthread_t proof_thread;
#define PROOF_START(thread, body) pthread_create(&(thread), NULL, (body), NULL)
#define PROOF_JOIN(thread) pthread_join((thread), NULL)
#define REQUIRE(condition) assert(condition)
#define PROOF_ALLOCATE(size) malloc(size)
#endif

/* A pause of a spin lock's wait. What a waiter sees later it may also see now, so a second try is enough: an execution in
   which that fails, too, is left out. */
static _Thread_local unsigned proof_pauses;
static inline void proof_pause(void) {
    __VERIFIER_assume(++proof_pauses <= 1);
}
#define __builtin_ia32_pause proof_pause

/* An assembler instruction. */
#define HTW__PREFETCH(address) ((void)(address))

/* Of words. */
static inline void proof_zero(uint64_t *words, size_t size) {
    for (size_t i = 0; i < size / sizeof(*words); i++)
        words[i] = 0;
}
#undef memset
#define memset(words, value, size) proof_zero(words, size)

#endif /* TESTS_PROOF_SEAM_H */
