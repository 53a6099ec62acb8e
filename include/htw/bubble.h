/* SPDX-License-Identifier: MIT */
/*
 * htw/bubble.h - tests in which time passes by itself: it stands still while any thread runs, and jumps to the next
 * deadline when all wait.
 *
 * A library of its own, libhtw-bubble, which is linked before the C library or preloaded. It needs Linux with 64 bits, and glibc.
 *
 * Threads. A bubble has the thread that begins it, and all threads that its members create. Other threads live in real
 * time; members must not wait for them. A process has one bubble at a time; a child of fork() has one of its own.
 *
 * Known calls. A thread is seen to wait in these:
 *  - sleep(), usleep(), nanosleep(), clock_nanosleep(), poll(), ppoll(), epoll_wait(), epoll_pwait(); pthread_cond_*(),
 *    sem_*() and private futexes by syscall(), with and without timeouts
 *  - mutexes, joins, read-write locks and barriers without timeouts; read(), write(), accept(), connect(), send(), recv()
 *    and their variants, on eventfds and timerfds, and on pipes and sockets whose other end is in this process. These are
 *    found in /proc, which takes some 0.2 ms.
 * A pair of sockets of AF_UNIX counts as inside this process if it made them. Descriptors above 1023 are not looked at.
 * A socket that listens or has no peer, a signalfd and a wait for signals do not stop time either, but such a wait is no
 * deadlock. Signals and pthread_cancel() end waits. poll() and epoll_wait() need a descriptor more while they wait.
 *
 * Simulated clocks: those of clock_gettime(), gettimeofday(), time() and timespec_get(), but not CPU time.
 *
 * Real time. During a wait of any other kind the time of the bubble stands still: for a terminal, a child, another process,
 * what processes share, and in select(), C11 threads, and locks, joins and sockets with timeouts. alarm() and
 * timer_create() are real, too.
 *
 * Not covered: static programs, raw system calls (Go), setuid programs. A timerfd must not be duplicated, and does not tell the
 * time that is left. Under sanitizers preload the library, with ASAN_OPTIONS=verify_asan_link_order=0.
 *
 * Cost. A jump of time takes about 10 microseconds.
 */
#ifndef HTW_BUBBLE_H
#define HTW_BUBBLE_H

#include <htw/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The calling thread begins a bubble. Its clocks begin at the real time.
 *
 * A program with which the library is preloaded begins in one, unless HTW_BUBBLE=later is in its environment.
 *
 * @return 0: success;
 *         -EALREADY: the thread is in the bubble;
 *         -EBUSY: other threads are in a bubble;
 *         -EINVAL: calls do not reach the library: it is neither preloaded nor linked before the C library.
 */
HTW_API HTW_WARN_UNUSED int htw_bubble_begin(void);

/**
 * Ends the bubble: from now on the thread lives in real time.
 *
 * @return 0: success;
 *         -EBUSY: other threads of the bubble have not ended;
 *         -EINVAL: the thread is in no bubble.
 */
HTW_API HTW_WARN_UNUSED int htw_bubble_end(void);

/**
 * Waits, without time passing, until all other threads of the bubble wait. If several threads call it, they return
 * one after the other.
 *
 * @return 0: success;
 *         -EINVAL: the thread is in no bubble.
 */
HTW_API int htw_bubble_settle(void);

#ifdef __cplusplus
}
#endif

#endif /* HTW_BUBBLE_H */
