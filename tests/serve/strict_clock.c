/* SPDX-License-Identifier: MIT */
/*
 * strict_clock.c - a wall clock that never tells the same time twice (LD_PRELOAD), for beanstalkd 1.12.
 *
 * It loses the end of a lease if its timer fires in the very microsecond in which the lease ends: the job stays
 * reserved until its client sends something. With this clock that microsecond has passed when it is compared.
 */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define US_PER_S 1000000

int gettimeofday(struct timeval *restrict ret_now, void *restrict unused);

int gettimeofday(struct timeval *restrict ret_now, void *restrict unused) {
    static int64_t last_us;
    struct timespec now;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_us = (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
    last_us = now_us > last_us ? now_us : last_us + 1;
    ret_now->tv_sec = last_us / US_PER_S;
    ret_now->tv_usec = last_us % US_PER_S;
    return 0;
}
