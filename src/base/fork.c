/* SPDX-License-Identifier: MIT */
/* fork.c - counts the forks that lead to this process. */
#include "fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

_Atomic unsigned htw__fork_depth;

static void in_child(void) {
    atomic_fetch_add_explicit(&htw__fork_depth, 1, memory_order_relaxed);
}

int htw__fork_watch(void) {
    static _Atomic bool watching;
    if (atomic_load_explicit(&watching, memory_order_acquire))
        return 0;
    /* Two threads may both come here; the depth then counts double, which nobody minds. A lock
       would be one that a child might inherit taken. */
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        return -ENOMEM;
    atomic_store_explicit(&watching, true, memory_order_release);
    return 0;
}
