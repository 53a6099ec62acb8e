/* SPDX-License-Identifier: MIT */
/*
 * system.h - what base asks of a system beyond C and the older POSIX, for which each system has its own way.
 * system_linux.c is the form of Linux; system_portable.c that of others (HTW_PORTABLE), which have less.
 */
#ifndef HTW_SRC_PORT_SYSTEM_H
#define HTW_SRC_PORT_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifndef HTW_PORTABLE

#include <sched.h>

/* Whether a clock counts while the machine is suspended, and its name; that of another one if none does. */
#define HTW__SYSTEM_HAS_BOOTTIME true
#define HTW__SYSTEM_BOOTTIME CLOCK_BOOTTIME

/* A number that threads that run at the same time rarely share: that of the CPU, or any number if the
   kernel has no answer. */
static inline uint32_t htw__cpu_current(void) {
    return (uint32_t)sched_getcpu(); /* a load */
}

#else

#define HTW__SYSTEM_HAS_BOOTTIME false
#define HTW__SYSTEM_BOOTTIME CLOCK_MONOTONIC

/* Each thread has a number of its own in place of its CPU's. */
uint32_t htw__cpu_current(void);

#endif

/* Opens a pipe that no other program inherits, and whose ends do not block. False: errno says why not. */
bool htw__system_open_pipe(int fds[2]);

/* As write(), but no sanitizer checks what it reads. */
long htw__system_write(int fd, const void *from, size_t size);

/* Random bytes that strangers cannot guess. False: the kernel has none yet. Does not block. */
bool htw__system_random(void *to, size_t size);

/* Names a thread OWNER-ROLE-INDEX, as far as there is room. */
void htw__system_name_thread(pthread_t thread, const char *owner, const char *role, unsigned index);

/* The symbol and the file of code; "" for what is not known. */
void htw__system_name_code(void *address, const char **ret_symbol, const char **ret_file);

/* Fills in return addresses, the innermost first, without those in this function and in `skip` functions that
   have called it. Returns how many, at most `max`; 0: with another C library than glibc. Takes some
   microseconds; the first call allocates. */
uint32_t htw__system_capture_stack(const void **frames, uint32_t max, uint32_t skip);

#endif /* HTW_SRC_PORT_SYSTEM_H */
