/* SPDX-License-Identifier: MIT */
/*
 * assert.h - assertions, by the build option `check_level`. 0: none; 1: those that cost a
 * comparison, and lock ranks; 2: also those that check whole structures after every step.
 *
 * Assertions are for errors of the library, and for those errors of a caller that a function
 * cannot see (memory freed while it is in use). Errors that it can see are answered with -EINVAL.
 *
 * HTW_ASSERT_USE() is for the errors of a caller: its sentence names the object, not a line of the library. It cannot
 * find all: memory that was freed may be unchanged, or not be there any more.
 */
#ifndef HTW_SRC_BASE_ASSERT_H
#define HTW_SRC_BASE_ASSERT_H

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

#ifndef HTW__WHEEL_ALONE
#include "compiler.h"
/* Gives the message to the function of htw_set_log(), or writes it to standard error, and aborts. */
HTW__SHARED _Noreturn void htw__fatal(const char *format, ...)
    __attribute__((cold, format(printf, 1, 2)));
#elif HTW_CHECK_LEVEL > 0 /* without assertions, nothing of the C library is needed */
#include <stdio.h>
#include <stdlib.h>
#define htw__fatal(format, ...) (fprintf(stderr, "htw: " format "\n", __VA_ARGS__), abort())
#endif

#define HTW__ASSERT_ALWAYS(condition)                                                   \
    do {                                                                                \
        if (!(condition))                                                               \
            htw__fatal("%s:%d: %s: assertion failed: %s", __FILE__, __LINE__, __func__, \
                       #condition);                                                     \
    } while (0)

#define HTW__ASSERT_USE_ALWAYS(condition, kind, object, misuse)           \
    do {                                                                  \
        if (!(condition))                                                 \
            htw__fatal("%s %p %s", kind, (const void *)(object), misuse); \
    } while (0)

/* What became of a timer or request whose memory is not as the library has left it. */
#define HTW__NOT_LEFT_ALONE "was freed, overwritten or initialised while pending"

/* The condition is compiled, but never evaluated. */
#define HTW__ASSERT_NEVER(condition) ((void)sizeof(!(condition)))

#if HTW_CHECK_LEVEL >= 1
#define HTW_ASSERT(condition) HTW__ASSERT_ALWAYS(condition)
#define HTW_ASSERT_USE(condition, kind, object, misuse) \
    HTW__ASSERT_USE_ALWAYS(condition, kind, object, misuse)
#else
#define HTW_ASSERT(condition) HTW__ASSERT_NEVER(condition)
#define HTW_ASSERT_USE(condition, kind, object, misuse) HTW__ASSERT_NEVER(condition)
#endif

#if HTW_CHECK_LEVEL >= 2
#define HTW_ASSERT_SLOW(condition) HTW__ASSERT_ALWAYS(condition)
#else
#define HTW_ASSERT_SLOW(condition) HTW__ASSERT_NEVER(condition)
#endif

#endif /* HTW_SRC_BASE_ASSERT_H */
