/* SPDX-License-Identifier: MIT */
/* thread.h - starts a thread of the library: it has a name and blocks all signals. */
#ifndef HTW_SRC_BASE_THREAD_H
#define HTW_SRC_BASE_THREAD_H

#include <pthread.h>

/* The name of the thread is that of its owner, the role and the index. 0 or -ENOMEM. */
int htw__thread_start(pthread_t *thread, const char *owner, const char *role, unsigned index,
                      void *(*main)(void *), void *arg);

#endif /* HTW_SRC_BASE_THREAD_H */
