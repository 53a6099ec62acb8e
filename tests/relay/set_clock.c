/* SPDX-License-Identifier: MIT */
/*
 * set_clock.c - a wall clock that a test can set while a relay runs (LD_PRELOAD): the real one, and as
 * many nanoseconds ahead of it as the file HTW_CLOCK holds, an int64_t.
 *
 * Whatever tells the time in the relay and in librdkafka is replaced. So is the wait of librdkafka,
 * which lasts until a time of the wall clock: when that is set back, the kernel lets it wait longer.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define SLICE_NS (NS_PER_S / 20) /* a step is noticed after this */

static _Atomic int64_t *ahead_ns;
static int (*real_gettime)(clockid_t clock, struct timespec *now);
static int (*real_wait)(cnd_t *condition, mtx_t *mutex, const struct timespec *until);

static void find(const char *name, void *function) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof(symbol));
}

static void __attribute__((constructor)) begin(void) {
    const char *path = getenv("HTW_CLOCK");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *map = mmap(NULL, sizeof(*ahead_ns), PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        perror("set_clock: HTW_CLOCK");
        _exit(1);
    }
    close(fd);
    find("clock_gettime", &real_gettime);
    find("cnd_timedwait", &real_wait);
    ahead_ns = map;
}

static int64_t ns_of(const struct timespec *time) {
    return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec time_of(int64_t ns) {
    return (struct timespec) { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real_gettime == NULL) /* another constructor came first */
        find("clock_gettime", &real_gettime);
    int result = real_gettime(clock, now);
    if (result == 0 && ahead_ns != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        *now = time_of(ns_of(now) + atomic_load(ahead_ns));
    return result;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0)
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret_now) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_now != NULL)
        *ret_now = now.tv_sec;
    return now.tv_sec;
}

/* In slices of the real clock: the time may come sooner or later than it seems now. */
int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    struct timespec now;
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t left_ns = ns_of(until) - ns_of(&now);
        if (left_ns <= 0)
            return thrd_timedout;
        real_gettime(CLOCK_REALTIME, &now);
        struct timespec slice = time_of(ns_of(&now) + (left_ns < SLICE_NS ? left_ns : SLICE_NS));
        int result = real_wait(condition, mutex, &slice);
        if (result != thrd_timedout)
            return result;
    }
}
