/* SPDX-License-Identifier: MIT */
/*
 * posix.h - what the tests use of POSIX, on Windows: each file begins with it there. Beside it are headers that Windows
 * lacks. Threads are those of winpthreads.
 */
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/** There are no forks. */
#undef pthread_atfork
#define pthread_atfork(prepare, in_parent, in_child) \
    ((void)(prepare), (void)(in_parent), (void)(in_child))

/** CLOCK_MONOTONIC is that of the library: no other clock begins with it. Other clocks need no library. */
int windows_clock_gettime(struct timespec *ret_time);
#define clock_gettime(clock, ret_time)                            \
    ((clock) == CLOCK_MONOTONIC ? windows_clock_gettime(ret_time) \
                                : (clock_gettime)(clock, ret_time))

/** One at a time, and closed by fclose(). */
FILE *open_memstream(char **ret_text, size_t *ret_size);
int windows_fclose(FILE *stream);
#define fclose windows_fclose

/** Knows the size of a page alone. */
long sysconf(int name);
#define _SC_PAGESIZE 1

#endif /* TESTS_WINDOWS_POSIX_H */
