/* SPDX-License-Identifier: MIT */
/* thread.h - the library's threads: named, and deaf to signals. */
#ifndef HTW_SRC_SCHEDULER_THREAD_H
#define HTW_SRC_SCHEDULER_THREAD_H

#include "state.h"

/* Starts a thread called after the scheduler, its role and its index. 0 or -ENOMEM. */
int htw__thread_start(pthread_t *thread, const struct htw_scheduler *scheduler, const char *role,
                      unsigned index, void *(*main)(void *), void *arg);

#endif /* HTW_SRC_SCHEDULER_THREAD_H */
