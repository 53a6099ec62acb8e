/* SPDX-License-Identifier: MIT */
/*
 * locks.c - conditions, semaphores and futexes.
 *
 * The objects are those of the C library; only waiting for them is different. What processes share is left to the C
 * library: a thread that waits for it waits for the world outside.
 */
#include "bubble.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* ---- conditions: glibc notes in two bits whether one is shared, and its clock */

static bool is_shared(const pthread_cond_t *cond) {
    return (cond->__data.__wrefs & 1) != 0;
}

static clockid_t clock_of(const pthread_cond_t *cond) {
    return (cond->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static int wait_until(pthread_mutex_t *mutex, const struct bubble_wait *wait) {
    bubble_wait_begin(wait);
    int error = pthread_mutex_unlock(mutex);
    if (error != 0)
        bubble_resume(bubble_self, error);
    int outcome = bubble_wait_end();
    if (error == 0)
        error = pthread_mutex_lock(mutex);
    if (outcome != 0) /* otherwise another thread would miss the signal */
        pthread_testcancel();
    return outcome == ETIMEDOUT && error == 0 ? ETIMEDOUT : error;
}

INSTEAD(int, pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex),
        (cond, mutex), !bubble_is_inside() || is_shared(cond),
        wait_until(mutex, &WAIT(cond, NEVER)))

INSTEAD(int, pthread_cond_clockwait,
        (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
         const struct timespec *restrict at),
        (cond, mutex, clock, at), !bubble_is_inside() || is_shared(cond) || !bubble_is_valid(at),
        wait_until(mutex, &WAIT(cond, bubble_deadline_ns(clock, at))))

PUBLIC int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict at) {
    return pthread_cond_clockwait(cond, mutex, clock_of(cond), at);
}

/* Threads that are no members wait in the real one. */
INSTEAD(int, pthread_cond_signal, (pthread_cond_t * cond), (cond), bubble_wake(cond, 1) == 0, 0)

INSTEAD(int, pthread_cond_broadcast, (pthread_cond_t * cond), (cond),
        (bubble_wake(cond, UINT_MAX), true), 0)

/* ---- semaphores */

static bool is_shared_semaphore(const sem_t *semaphore) {
    return ((const int *)(const void *)semaphore)[2] != 0;
}

static int take_until(sem_t *semaphore, const struct bubble_wait *wait) {
    int error = 0, value;
    while (sem_trywait(semaphore) != 0) {
        if (error != 0)
            return bubble_result(error);
        bubble_wait_begin(wait);
        sem_getvalue(semaphore, &value);
        if (value > 0)
            bubble_resume(bubble_self, 0);
        error = bubble_wait_end();
        pthread_testcancel();
    }
    return 0;
}

INSTEAD(int, sem_wait, (sem_t * semaphore), (semaphore),
        !bubble_is_inside() || is_shared_semaphore(semaphore),
        take_until(semaphore, &WAIT(semaphore, NEVER)))

INSTEAD(int, sem_clockwait,
        (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict at),
        (semaphore, clock, at),
        !bubble_is_inside() || is_shared_semaphore(semaphore) || !bubble_is_valid(at),
        take_until(semaphore, &WAIT(semaphore, bubble_deadline_ns(clock, at))))

PUBLIC int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict at) {
    return sem_clockwait(semaphore, CLOCK_REALTIME, at);
}

PUBLIC int sem_post(sem_t *semaphore) {
    int result = REAL(sem_post)(semaphore);
    bubble_wake(semaphore, 1);
    return result;
}

/* ---- futexes, by syscall(): those of Rust, of C++, and of programs that have locks of their own */

static long use_futex(const long a[6]) {
    _Atomic uint32_t *word = (_Atomic uint32_t *)a[0];
    int command = (int)a[1] & FUTEX_CMD_MASK;
    if (bubble_is_inside() && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)) {
        const struct timespec *time = (const struct timespec *)a[3];
        clockid_t clock = (a[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        clock = command == FUTEX_WAIT ? DELAY : clock;
        bubble_wait_begin(&WAIT(word, bubble_deadline_ns(clock, time)));
        if (atomic_load(word) != (uint32_t)a[2])
            bubble_resume(bubble_self, EAGAIN);
        return bubble_result(bubble_wait_end());
    }
    /* Operations that move threads, or choose them by bits, wake all: programs expect that. */
    unsigned woken = bubble_wake(word, command == FUTEX_WAKE ? (unsigned)a[2] : UINT_MAX);
    if (command == FUTEX_WAKE && woken > 0)
        return woken;
    return REAL(syscall)(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
}

PUBLIC long syscall(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_futex && (a[1] & FUTEX_PRIVATE_FLAG) != 0)
        return use_futex(a);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
