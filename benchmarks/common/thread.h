/* SPDX-License-Identifier: MIT */
/* thread.h - starts threads, and lets others run; memory for them. */
#ifndef BENCH_COMMON_THREAD_H
#define BENCH_COMMON_THREAD_H

#include "report.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns zeroed objects that share no cache line with others, or ends the process. */
static inline void *thread_allocate(size_t count, size_t size) {
    size = (count * size + 63) / 64 * 64;
    void *objects = aligned_alloc(64, size);
    if (objects == NULL)
        report_out_of_memory();
    return memset(objects, 0, size);
}

static inline pthread_t thread_start(void *(*work)(void *), void *context) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, work, context);
    if (error != 0)
        report_failure("pthread_create: %s", strerror(error));
    return thread;
}

/* For a thread that does not sleep: lets others of its priority run, every 10 ms. Under SCHED_FIFO on one CPU none would:
   not the one that ends the measured time, and none of the library's. */
static inline void thread_let_others_run(int64_t now_ns) {
    static _Thread_local int64_t next_ns;
    if (now_ns >= next_ns) {
        next_ns = now_ns + 10000000;
        sched_yield();
    }
}

#endif
