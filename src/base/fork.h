/* SPDX-License-Identifier: MIT */
/* fork.h - detects with one load whether the process has forked since a given time. */
#ifndef HTW_SRC_BASE_FORK_H
#define HTW_SRC_BASE_FORK_H

#include "compiler.h"

#include <stdatomic.h>

/* The forks between this process and the one that first called htw__fork_init(). Hidden, so that a
   shared library too loads it without a table of addresses. Libraries above libhtw call a function. */
extern _Atomic unsigned htw__fork_depth __attribute__((visibility("hidden")));
HTW__SHARED unsigned htw__fork_get_depth(void);

/* Starts to count forks. 0 or -ENOMEM. Any thread. */
HTW__SHARED int htw__fork_init(void);

static inline unsigned htw__fork_count(void) {
#ifdef HTW__ABOVE_LIBHTW
    return htw__fork_get_depth();
#else
    /* order: It changes in a new process only. */
    return atomic_load_explicit(&htw__fork_depth, memory_order_relaxed);
#endif
}

#endif /* HTW_SRC_BASE_FORK_H */
