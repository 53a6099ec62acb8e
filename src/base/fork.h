/* SPDX-License-Identifier: MIT */
/* fork.h - tells a child process from its parent, at the price of a load. */
#ifndef HTW_SRC_BASE_FORK_H
#define HTW_SRC_BASE_FORK_H

#include <stdatomic.h>

/* How many forks lie between this process and the one that first called htw__fork_watch(). Hidden:
   in a shared library, too, it is loaded without a table of addresses. */
extern _Atomic unsigned htw__fork_depth __attribute__((visibility("hidden")));

/* From now on forks are counted. 0 or -ENOMEM. Any thread. */
int htw__fork_watch(void);

static inline unsigned htw__fork_count(void) {
    return atomic_load_explicit(&htw__fork_depth, memory_order_relaxed);
}

#endif /* HTW_SRC_BASE_FORK_H */
