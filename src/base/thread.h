/* SPDX-License-Identifier: MIT */
/* thread.h - starts a thread of the library: it has a name and blocks all signals. */
#ifndef HTW_SRC_BASE_THREAD_H
#define HTW_SRC_BASE_THREAD_H

#include "compiler.h"

#include <pthread.h>

/* The name of the thread is that of its owner, the role and the index. 0 or -ENOMEM. */
HTW__SHARED int htw__thread_start(pthread_t *thread, const char *owner, const char *role,
                                  unsigned index, void *(*main)(void *), void *arg);

/* The first call of its main function: the thread is never cancelled, as a callback might wish. */
static inline void htw__thread_begin(void) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

#endif /* HTW_SRC_BASE_THREAD_H */
