/* SPDX-License-Identifier: MIT */
/* system_posix.h - types and inline functions of system.h, which says what they do, by POSIX. */
#ifndef HTW_SRC_PORT_SYSTEM_POSIX_H
#define HTW_SRC_PORT_SYSTEM_POSIX_H

#ifndef _WIN32
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef pthread_mutex_t htw__system_mutex;
typedef pthread_cond_t htw__system_condition;
typedef pthread_t htw__system_thread;
typedef clockid_t htw__system_clock;
typedef int htw__cancel_state;
typedef struct {
    int fds[2]; /* a pipe */
} htw__system_reader;

#define HTW__SYSTEM_REALTIME CLOCK_REALTIME
#if defined( \
    __APPLE__) /* the clock of its timers and waits, and one that continues while it is suspended */
#define HTW__SYSTEM_MONOTONIC CLOCK_UPTIME_RAW
#define HTW__SYSTEM_BOOTTIME CLOCK_MONOTONIC_RAW
#define HTW__SYSTEM_HAS_BOOTTIME true
#elif defined(HTW_PORTABLE)
#define HTW__SYSTEM_MONOTONIC CLOCK_MONOTONIC
#define HTW__SYSTEM_BOOTTIME CLOCK_MONOTONIC
#define HTW__SYSTEM_HAS_BOOTTIME false
#else
#define HTW__SYSTEM_MONOTONIC CLOCK_MONOTONIC
#define HTW__SYSTEM_BOOTTIME CLOCK_BOOTTIME
#define HTW__SYSTEM_HAS_BOOTTIME true
#endif

#ifndef HTW_PORTABLE

/* The number of the CPU, or any number if the kernel has no answer. */
static inline uint32_t htw__cpu_current(void) {
    return (uint32_t)sched_getcpu(); /* a load */
}
#else
/* Each thread has a number of its own in place of its CPU's. */
uint32_t htw__cpu_current(void);
#endif

/* Cannot fail: Linux has had all three clocks since 2.6.39, and POSIX systems have two. */
static inline int64_t htw__system_now_ns(htw__system_clock clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void htw__system_mutex_init(htw__system_mutex *mutex) {
    pthread_mutex_init(mutex, NULL);
}

static inline void htw__system_mutex_fini(htw__system_mutex *mutex) {
    pthread_mutex_destroy(mutex);
}

static inline void htw__system_mutex_lock(htw__system_mutex *mutex) {
    pthread_mutex_lock(mutex);
}

static inline void htw__system_mutex_unlock(htw__system_mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

#ifdef __APPLE__
/* It has no conditions of the monotonic clock, but waits of a duration. */
static inline bool htw__system_condition_init(htw__system_condition *condition) {
    return pthread_cond_init(condition, NULL) == 0;
}
#else
/* Where a condition is plain memory, as on Linux, this cannot fail. */
static inline bool htw__system_condition_init(htw__system_condition *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int error = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return error == 0;
}
#endif

static inline void htw__system_condition_fini(htw__system_condition *condition) {
    pthread_cond_destroy(condition);
}

static inline void htw__system_condition_signal(htw__system_condition *condition) {
    pthread_cond_signal(condition);
}

static inline void htw__system_condition_broadcast(htw__system_condition *condition) {
    pthread_cond_broadcast(condition);
}

static inline void htw__system_mutex_wait(htw__system_mutex *mutex,
                                          htw__system_condition *condition) {
    pthread_cond_wait(condition, mutex);
}

static inline struct timespec htw__timespec(int64_t ns) {
    return (struct timespec) { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

static inline void htw__system_mutex_wait_until(htw__system_mutex *mutex,
                                                htw__system_condition *condition,
                                                int64_t deadline_ns) {
#ifdef __APPLE__
    int64_t left_ns = deadline_ns - htw__system_now_ns(HTW__SYSTEM_MONOTONIC);
    struct timespec left = htw__timespec(left_ns > 0 ? left_ns : 0);
    pthread_cond_timedwait_relative_np(condition, mutex, &left);
#else
    struct timespec deadline = htw__timespec(deadline_ns);
    pthread_cond_timedwait(condition, mutex, &deadline);
#endif
}

static inline htw__cancel_state htw__disable_cancel(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void htw__restore_cancel(htw__cancel_state state) {
    pthread_setcancelstate(state, NULL);
}

static inline void htw__thread_join(htw__system_thread thread) {
    pthread_join(thread, NULL);
}

static inline void htw__system_yield(void) {
    sched_yield();
}

static inline bool htw__system_call_in_child(void (*function)(void)) {
    return pthread_atfork(NULL, NULL, function) == 0;
}

/* ---- for the files of this folder */

/* Opens a pipe that no other program inherits, and whose ends do not block. False: errno says why not. */
bool htw__system_open_pipe(int fds[2]);

/* As write(), but no sanitizer checks what it reads. */
long htw__system_write(int fd, const void *from, size_t size);

void htw__system_name_thread(pthread_t thread, const char *owner, const char *role, unsigned index);
#endif

#endif /* HTW_SRC_PORT_SYSTEM_POSIX_H */
