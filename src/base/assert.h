/* SPDX-License-Identifier: MIT */
/*
 * assert.h - assertions in tiers, chosen by the build option `check_level`:
 * 0: none; 1: what costs a comparison; 2: whole structures, after every step.
 *
 * They are for what a caller cannot cause through the public functions, or can
 * cause only by breaking a rule that cannot be seen (memory freed while pending).
 */
#ifndef HTW_SRC_BASE_ASSERT_H
#define HTW_SRC_BASE_ASSERT_H

#include <stdio.h>
#include <stdlib.h>

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

#define HTW__ASSERT_ALWAYS(condition)                                                     \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "htw: %s:%d: %s: assertion failed: %s\n", __FILE__, __LINE__, \
                    __func__, #condition);                                                \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* The compiler reads the condition, but makes no code of it and counts no branch. */
#define HTW__ASSERT_NEVER(condition) ((void)sizeof(!(condition)))

#if HTW_CHECK_LEVEL >= 1
#define HTW_ASSERT(condition) HTW__ASSERT_ALWAYS(condition)
#else
#define HTW_ASSERT(condition) HTW__ASSERT_NEVER(condition)
#endif

#if HTW_CHECK_LEVEL >= 2
#define HTW_ASSERT_SLOW(condition) HTW__ASSERT_ALWAYS(condition)
#else
#define HTW_ASSERT_SLOW(condition) HTW__ASSERT_NEVER(condition)
#endif

#endif /* HTW_SRC_BASE_ASSERT_H */
