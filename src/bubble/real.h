/* SPDX-License-Identifier: MIT */
/* real.h - the functions of the C library that this library calls, and before which those of this library stand. */
#ifndef HTW_SRC_BUBBLE_REAL_H
#define HTW_SRC_BUBBLE_REAL_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define REPLACED(X) \
    X(clock_gettime) X(clock_nanosleep) X(close) X(epoll_pwait) X(poll) X(ppoll) \
    X(timerfd_create) X(timerfd_settime) X(syscall) X(pthread_cancel) X(pthread_create) \
    X(pthread_cond_broadcast) X(pthread_cond_clockwait) X(pthread_cond_signal) X(pthread_cond_wait) \
    X(sem_clockwait) X(sem_post) X(sem_wait)
/* clang-format on */

#define POINTER(name) __typeof__(&name) name; /* NOLINT(bugprone-macro-parentheses) */
struct bubble_real {
    REPLACED(POINTER)
};

/* Finds them at the first call: constructors of other libraries may call before that of this one. */
const struct bubble_real *bubble_find_real(void);

#define REAL(name) (bubble_find_real()->name)

#define PUBLIC __attribute__((visibility("default")))

/* The function that programs call: the real one if `is_real`, otherwise the expression after it. */
#define INSTEAD(type, name, parameters, arguments, is_real, ...) \
    PUBLIC type name parameters {                                \
        return (is_real) ? REAL(name) arguments : (__VA_ARGS__); \
    }

#endif /* HTW_SRC_BUBBLE_REAL_H */
