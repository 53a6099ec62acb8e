/* SPDX-License-Identifier: MIT */
/*
 * system_windows.h - types and functions of system.h, which says what they do, by Windows 8 or later.
 *
 * It does not include windows.h, whose macros would reach all of the library. What Windows calls SRWLOCK and
 * CONDITION_VARIABLE is one pointer each, which begins as NULL.
 */
#ifndef HTW_SRC_PORT_SYSTEM_WINDOWS_H
#define HTW_SRC_PORT_SYSTEM_WINDOWS_H

#ifdef _WIN32
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *state;
} htw__system_mutex;
typedef struct {
    void *state;
} htw__system_condition;
typedef void *htw__system_thread; /* a handle */
typedef int htw__cancel_state;    /* no thread can end another one in a safe way */
typedef int htw__system_reader;   /* needs nothing */

/* Until Windows 10 both clocks count while the machine is suspended. */
typedef enum {
    HTW__SYSTEM_MONOTONIC,
    HTW__SYSTEM_BOOTTIME,
    HTW__SYSTEM_REALTIME
} htw__system_clock;
#define HTW__SYSTEM_HAS_BOOTTIME true

uint32_t htw__cpu_current(void);
int64_t htw__system_now_ns(htw__system_clock clock);
void htw__system_mutex_lock(htw__system_mutex *mutex);
void htw__system_mutex_unlock(htw__system_mutex *mutex);
void htw__system_condition_signal(htw__system_condition *condition);
void htw__system_condition_broadcast(htw__system_condition *condition);
void htw__system_mutex_wait(htw__system_mutex *mutex, htw__system_condition *condition);
/* Wakes up some milliseconds later than asked for. An alarm has a timer. */
void htw__system_mutex_wait_until(htw__system_mutex *mutex, htw__system_condition *condition,
                                  int64_t deadline_ns);
void htw__thread_join(htw__system_thread thread);
void htw__system_yield(void);

static inline void htw__system_mutex_init(htw__system_mutex *mutex) {
    mutex->state = NULL;
}

static inline void htw__system_mutex_fini(htw__system_mutex *mutex) {
    (void)mutex;
}

static inline bool htw__system_condition_init(htw__system_condition *condition) {
    condition->state = NULL;
    return true;
}

static inline void htw__system_condition_fini(htw__system_condition *condition) {
    (void)condition;
}

static inline htw__cancel_state htw__disable_cancel(void) {
    return 0;
}

static inline void htw__restore_cancel(htw__cancel_state state) {
    (void)state;
}

/* There are no forks. */
static inline bool htw__system_call_in_child(void (*function)(void)) {
    (void)function;
    return true;
}

/* ---- for the files of this folder */

/* A waitable timer, which stays signaled from when it expires until it is set again. NULL: no memory. */
void *htw__system_open_timer(void);

/* `delay_ns`: at least 0. Cannot fail. */
void htw__system_set_timer(void *timer, int64_t delay_ns);
#endif

#endif /* HTW_SRC_PORT_SYSTEM_WINDOWS_H */
