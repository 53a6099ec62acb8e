/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - tells race detectors what C11 atomics do, and LeakSanitizer where memory is mapped.
 *
 * ThreadSanitizer, helgrind and DRD know the locks of pthreads. A library that is not instrumented
 * hides its atomics from ThreadSanitizer, and the other two take atomic operations for plain reads
 * and writes: each looks like a race, and orders nothing.
 *
 * So every build (HTW_ANNOTATE) tells them what passes from one thread of the user to another
 * through the library, timer by timer and request by request, so that a race in the program is still
 * found. The library's own memory is taken out of the check. Without such a tool each macro is a
 * branch that is never taken; annotate.c finds out at load time. The library itself is checked by a
 * build with -fsanitize=thread, which needs none of this.
 */
#ifndef HTW_SRC_BASE_ANNOTATE_H
#define HTW_SRC_BASE_ANNOTATE_H

#include "compiler.h"

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_THREAD__)
#define HTW__SEES_ATOMICS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HTW__SEES_ATOMICS 1
#endif
#endif

#if defined(HTW_ANNOTATE) && !defined(HTW__SEES_ATOMICS)

/* Whether the program runs under one of these tools. Set at load time. */
extern bool htw__annotated __attribute__((visibility("hidden")));
#define HTW__ANNOTATED() HTW__UNLIKELY(htw__annotated)

/* For the macros below, and where HTW__ANNOTATED(). */
void htw__annotate_hand_over(const volatile void *object);
void htw__annotate_take_over(const volatile void *object);
void htw__annotate_own(const volatile void *address, size_t bytes);
void htw__annotate_allocated(const volatile void *memory, size_t bytes);
void htw__annotate_released(const volatile void *memory, size_t bytes);
void htw__annotate_ignore(bool begin);

#define HTW__ANNOTATE(call)   \
    do {                      \
        if (HTW__ANNOTATED()) \
            (call);           \
    } while (0)

/* What a thread did before HAND_OVER(object) is visible to a thread after its later
   TAKE_OVER(object). HAND_OVER stands before the store that publishes, TAKE_OVER after the load
   that has seen it. `object` is a timer or a request, never something that many of them share:
   that would order threads that have nothing to do with each other, and hide races. */
#define HTW__ANNOTATE_HAND_OVER(object) HTW__ANNOTATE(htw__annotate_hand_over(object))
#define HTW__ANNOTATE_TAKE_OVER(object) HTW__ANNOTATE(htw__annotate_take_over(object))

/* These bytes are the library's, and helgrind and DRD do not check them any more, until they are
   freed, or until the function returns in whose frame they are. */
#define HTW__ANNOTATE_OWN(address, bytes) HTW__ANNOTATE(htw__annotate_own(address, bytes))

/* The same for a block from an allocator, which one thread may allocate and another release. */
#define HTW__ANNOTATE_ALLOCATED(memory, bytes) HTW__ANNOTATE(htw__annotate_allocated(memory, bytes))
#define HTW__ANNOTATE_RELEASED(memory, bytes) HTW__ANNOTATE(htw__annotate_released(memory, bytes))

/* Around a memcpy, memset or memcmp of the library's own memory, which ThreadSanitizer intercepts.
   No code of the user runs in between. */
#define HTW__ANNOTATE_IGNORE_BEGIN() HTW__ANNOTATE(htw__annotate_ignore(true))
#define HTW__ANNOTATE_IGNORE_END() HTW__ANNOTATE(htw__annotate_ignore(false))

/* Memory that was mapped, and that is going to be unmapped. LeakSanitizer looks there for pointers to
   blocks from malloc: otherwise it takes what only a timer points to for lost. */
void htw__annotate_mapped(const void *memory, size_t bytes);
void htw__annotate_unmapped(const void *memory, size_t bytes);
#define HTW__ANNOTATE_MAPPED(memory, bytes) htw__annotate_mapped(memory, bytes)
#define HTW__ANNOTATE_UNMAPPED(memory, bytes) htw__annotate_unmapped(memory, bytes)

#else

#define HTW__ANNOTATED() false
#define HTW__ANNOTATE_HAND_OVER(object) ((void)(object))
#define HTW__ANNOTATE_TAKE_OVER(object) ((void)(object))
#define HTW__ANNOTATE_OWN(address, bytes) ((void)(address), (void)(bytes))
#define HTW__ANNOTATE_ALLOCATED(memory, bytes) ((void)(memory), (void)(bytes))
#define HTW__ANNOTATE_RELEASED(memory, bytes) ((void)(memory), (void)(bytes))
#define HTW__ANNOTATE_IGNORE_BEGIN() ((void)0)
#define HTW__ANNOTATE_IGNORE_END() ((void)0)
#define HTW__ANNOTATE_MAPPED(memory, bytes) ((void)(memory), (void)(bytes))
#define HTW__ANNOTATE_UNMAPPED(memory, bytes) ((void)(memory), (void)(bytes))

#endif

#endif /* HTW_SRC_BASE_ANNOTATE_H */
