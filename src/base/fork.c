/* SPDX-License-Identifier: MIT */
/* fork.c - counts the forks that lead to this process. */
#include "fork.h"

#include "../port/system.h"

#include <errno.h>
#include <stdbool.h>

_Atomic unsigned htw__fork_depth;

unsigned htw__fork_get_depth(void) {
    return htw__fork_count();
}

static void in_child(void) {
    /* order: The child has one thread. */
    atomic_fetch_add_explicit(&htw__fork_depth, 1, memory_order_relaxed);
}

int htw__fork_init(void) {
    /* It publishes nothing: registration and fork() share a lock. */
    static _Atomic bool registered;
    /* order: Twice does no harm. */
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        return 0;
    /* If two threads come here at once, each fork counts as two, which does no harm. A lock could
       be held at the moment of a fork. */
    if (!htw__system_call_in_child(in_child))
        return -ENOMEM;
    atomic_store_explicit(&registered, true, memory_order_relaxed);
    return 0;
}
