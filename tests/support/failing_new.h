/* SPDX-License-Identifier: MIT */
/* failing_new.h - memory of C++ that is refused on demand, in the whole program. */
#ifndef TESTS_FAILING_NEW_H
#define TESTS_FAILING_NEW_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether memory can be refused: not where a tool, such as valgrind, has its own `new`. */
bool failing_new_works(void);

/** From now on `new` succeeds so many times, and then fails; -1: it always succeeds. */
void failing_new_after(int successes);

/** The blocks that `new` has returned and that are not deleted; and its calls so far. */
long failing_new_blocks(void);
long failing_new_calls(void);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_FAILING_NEW_H */
