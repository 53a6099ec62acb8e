/* SPDX-License-Identifier: MIT */
/*
 * yield_points.h - makes every atomic operation and every call on a mutex, a condition variable or
 * an alarm a point at which a thread may lose its processor for a while, or find itself on another.
 *
 * The build option `yield_points` includes this file before each source file of the library, and
 * before nothing else. Without the option the library is compiled unchanged.
 *
 * A scheduler rarely stops a thread between two given steps, and on a machine with few processors
 * no thread ever visits another shard. With these points both happen all the time: a thread yields
 * or sleeps at random, and the number of its CPU is random, too. The environment variable
 * HTW_YIELD_SEED seeds the random numbers of all threads.
 */
#ifndef TESTS_YIELD_POINTS_H
#define TESTS_YIELD_POINTS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Returns at once in most calls; yields in some; sleeps in a few. */
void htw__yield_point(void);

/* How many CPUs the machine seems to have. sched_getcpu() answers one of them, at random, unless a
   program has a function of that name of its own. */
#define HTW__YIELD_CPUS 4

/* A point before a call that returns nothing, and one after it. */
#define HTW__YIELD_AROUND(call) (htw__yield_point(), (call), htw__yield_point())

/* The same of a call that returns something. */
#define HTW__YIELD_AROUND_VALUE(call)           \
    __extension__({                             \
        htw__yield_point();                     \
        __auto_type htw__yield_value_ = (call); \
        htw__yield_point();                     \
        htw__yield_value_;                      \
    })

/* What the macros of <stdatomic.h> come down to: with clang these, */
#ifdef __clang__
#define __c11_atomic_load(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_load(__VA_ARGS__))
#define __c11_atomic_store(...) HTW__YIELD_AROUND(__c11_atomic_store(__VA_ARGS__))
#define __c11_atomic_exchange(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_exchange(__VA_ARGS__))
#define __c11_atomic_compare_exchange_strong(...) \
    HTW__YIELD_AROUND_VALUE(__c11_atomic_compare_exchange_strong(__VA_ARGS__))
#define __c11_atomic_compare_exchange_weak(...) \
    HTW__YIELD_AROUND_VALUE(__c11_atomic_compare_exchange_weak(__VA_ARGS__))
#define __c11_atomic_fetch_add(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_fetch_add(__VA_ARGS__))
#define __c11_atomic_fetch_sub(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_fetch_sub(__VA_ARGS__))
#define __c11_atomic_fetch_or(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_fetch_or(__VA_ARGS__))
#define __c11_atomic_fetch_and(...) HTW__YIELD_AROUND_VALUE(__c11_atomic_fetch_and(__VA_ARGS__))
#else /* with gcc these, */
#define __atomic_load(...) HTW__YIELD_AROUND(__atomic_load(__VA_ARGS__))
#define __atomic_store(...) HTW__YIELD_AROUND(__atomic_store(__VA_ARGS__))
#define __atomic_exchange(...) HTW__YIELD_AROUND(__atomic_exchange(__VA_ARGS__))
#define __atomic_compare_exchange(...) \
    HTW__YIELD_AROUND_VALUE(__atomic_compare_exchange(__VA_ARGS__))
#define __atomic_fetch_add(...) HTW__YIELD_AROUND_VALUE(__atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) HTW__YIELD_AROUND_VALUE(__atomic_fetch_sub(__VA_ARGS__))
#endif

/* and what the library uses directly. */
#define __atomic_load_n(...) HTW__YIELD_AROUND_VALUE(__atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...) HTW__YIELD_AROUND(__atomic_store_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) \
    HTW__YIELD_AROUND_VALUE(__atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_fetch_or(...) HTW__YIELD_AROUND_VALUE(__atomic_fetch_or(__VA_ARGS__))
#define __atomic_fetch_and(...) HTW__YIELD_AROUND_VALUE(__atomic_fetch_and(__VA_ARGS__))

#define pthread_mutex_lock(...) HTW__YIELD_AROUND_VALUE(pthread_mutex_lock(__VA_ARGS__))
#define pthread_mutex_unlock(...) HTW__YIELD_AROUND_VALUE(pthread_mutex_unlock(__VA_ARGS__))
#define pthread_cond_wait(...) HTW__YIELD_AROUND_VALUE(pthread_cond_wait(__VA_ARGS__))
#define pthread_cond_timedwait(...) HTW__YIELD_AROUND_VALUE(pthread_cond_timedwait(__VA_ARGS__))
#define pthread_cond_signal(...) HTW__YIELD_AROUND_VALUE(pthread_cond_signal(__VA_ARGS__))
#define pthread_cond_broadcast(...) HTW__YIELD_AROUND_VALUE(pthread_cond_broadcast(__VA_ARGS__))
#define timerfd_settime(...) HTW__YIELD_AROUND_VALUE(timerfd_settime(__VA_ARGS__))

#define sysconf(name) ((name) == _SC_NPROCESSORS_ONLN ? (long)HTW__YIELD_CPUS : sysconf(name))

#endif /* TESTS_YIELD_POINTS_H */
