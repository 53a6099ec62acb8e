/* SPDX-License-Identifier: MIT */
/*
 * system.h - the seam: with alarm.h and the allocator all that the library asks of a system beyond C.
 *
 * Each system has a file for what it does in its own way: system_linux.c, system_portable.c for other POSIX
 * systems (HTW_PORTABLE), system_windows.c. What the first two share, threads and locks of POSIX, is
 * system_posix.h and posix.c.
 * No file outside this folder includes a header of a system or asks which one it is: tests/api/layering.py.
 */
#ifndef HTW_SRC_PORT_SYSTEM_H
#define HTW_SRC_PORT_SYSTEM_H

#include "../base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Types: htw__system_mutex, htw__system_condition, htw__system_thread, htw__system_clock, htw__cancel_state,
 * htw__system_reader; and as inline functions:
 *
 *   htw__system_mutex_init, _fini, _lock, _unlock   of a mutex that one thread locks once; they cannot fail
 *   htw__system_condition_init                             false: no memory
 *   htw__system_condition_fini, _signal, _broadcast
 *   htw__system_mutex_wait                          waits for a condition
 *   htw__system_mutex_wait_until                    the same, until a time of the monotonic clock at the latest
 *   htw__disable_cancel, htw__restore_cancel        no other thread can end the calling one in between
 *   htw__system_yield                               lets another thread run
 *   htw__system_now_ns                              reads a clock: HTW__SYSTEM_MONOTONIC, _BOOTTIME, _REALTIME
 *   htw__system_call_in_child                       after each fork, in the child; false: no memory
 *   htw__cpu_current                                a number that threads that run at the same time rarely share
 *
 * HTW__SYSTEM_HAS_BOOTTIME: whether a clock counts while the machine is suspended. If none does,
 * HTW__SYSTEM_BOOTTIME is the monotonic one.
 */
#include "system_posix.h"
#include "system_windows.h"

/* The CPUs that are online: at least 1, even if the system does not say, and at most `max`. */
uint32_t htw__cpu_count(uint32_t max);

/* Sleeps for at most a second, in which the thread is not cancelled. */
void htw__system_sleep(int64_t duration_ns);

/* Starts a thread of the library, which blocks all signals. Its name is OWNER-ROLE-INDEX, as far as there is
   room. 0 or -ENOMEM. */
HTW__SHARED int htw__thread_start(htw__system_thread *thread, const char *owner, const char *role,
                                  unsigned index, void *(*main)(void *), void *arg);

/* The first call of its main function: the thread is never cancelled, as a callback might wish. */
static inline void htw__thread_begin(void) {
    (void)htw__disable_cancel();
}

/* Random bytes that strangers cannot guess. False: the kernel has none yet. Does not block. */
bool htw__system_random(void *to, size_t size);

/* What is known of the code at an address. */
struct htw__code {
    const char *file;         /* its program or library; may be unloaded */
    const char *symbol;       /* NULL: not known; may be unloaded */
    uintptr_t symbol_address; /* where that begins */
    uintptr_t number;         /* by which tools know the address in the file */
};

/* False: nothing is known. `reader`: NULL leaves `number` alone. */
bool htw__system_find_code(const htw__system_reader *reader, uintptr_t address,
                           struct htw__code *ret_code);

/* Reads memory that may be there no more, such as constants of a library that was unloaded. False: no file
   descriptor is left; then every copy fails. */
bool htw__system_reader_open(htw__system_reader *reader);
void htw__system_reader_close(htw__system_reader *reader);

/* At most HTW__SYSTEM_COPY_MAX bytes. False: they cannot be read. */
#define HTW__SYSTEM_COPY_MAX 256u
bool htw__system_copy(const htw__system_reader *reader, void *to, const void *from, size_t size);

/* Fills in return addresses, the innermost first, without those in this function and in `skip` functions that
   have called it. Returns how many, at most `max`; 0: neither glibc nor Windows. Takes some
   microseconds; the first call allocates. */
uint32_t htw__system_capture_stack(const void **frames, uint32_t max, uint32_t skip);

#endif /* HTW_SRC_PORT_SYSTEM_H */
