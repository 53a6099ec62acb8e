/* SPDX-License-Identifier: MIT */
/* fake_clock.c - clock_gettime() and gettimeofday() that can return a virtual time. */
#include "fake_clock.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static _Thread_local bool faked;
static _Thread_local struct timespec fake_time;

/* So that the shared libraries of the program find these functions. */
#define EXPORTED __attribute__((visibility("default")))

static int (*true_clock)(clockid_t clock, struct timespec *ret_time);
static int (*true_time_of_day)(struct timeval *ret_time, void *ret_zone);

/* Sets the function pointer at `function` to libc's function of that name. */
static void find(const char *name, void *function) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL)
        abort(); /* linked statically: there is no other one */
    memcpy(function, &symbol, sizeof(symbol));
}

/* Before main() and its threads, unless a library reads the clock even earlier. */
__attribute__((constructor)) static void find_true_clocks(void) {
    find("clock_gettime", &true_clock);
    find("gettimeofday", &true_time_of_day);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    if (faked) {
        *ret_time = fake_time;
        return 0;
    }
    if (true_clock == NULL)
        find_true_clocks();
    return true_clock(clock, ret_time);
}

EXPORTED int gettimeofday(struct timeval *restrict ret_time, void *restrict ret_zone) {
    if (faked) {
        ret_time->tv_sec = fake_time.tv_sec;
        ret_time->tv_usec = fake_time.tv_nsec / 1000;
        return 0;
    }
    if (true_time_of_day == NULL)
        find_true_clocks();
    return true_time_of_day(ret_time, ret_zone);
}

void bench_clock_fake(uint64_t tick) {
    fake_time.tv_sec = (time_t)(tick / 1000);
    fake_time.tv_nsec = (long)(tick % 1000) * 1000000 + 500000;
    faked = true;
}

void bench_clock_restore(void) {
    faked = false;
}
