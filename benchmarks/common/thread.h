/* SPDX-License-Identifier: MIT */
/* thread.h - starts threads. */
#ifndef BENCH_COMMON_THREAD_H
#define BENCH_COMMON_THREAD_H

#include "report.h"

#include <pthread.h>
#include <string.h>

static inline pthread_t thread_start(void *(*work)(void *), void *context) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, work, context);
    if (error != 0)
        report_failure("pthread_create: %s", strerror(error));
    return thread;
}

#endif
