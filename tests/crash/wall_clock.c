/* SPDX-License-Identifier: MIT */
/* wall_clock.c - a wall clock that a test can set, for this process and those that it forks. */
#include "wall_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define FDS 1024

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *old);

/* In memory that processes share. */
struct shared {
    _Atomic int64_t ahead_ns, most_ahead_ns;
    _Atomic uint64_t steps;
};

static struct shared *shared;
static _Thread_local int64_t shown_ns[16];
static _Thread_local unsigned shown_count;

/* A timer is converted and set without a step in between. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_of_wall[FDS], is_armed[FDS];

static int64_t ns_of(const struct timespec *time) {
    return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec time_of(int64_t ns) {
    return (struct timespec) { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

void wall_clock_init(void) {
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        exit(1);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    int result = __real_clock_gettime(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && shared != NULL) {
        int64_t ns = ns_of(now) + atomic_load(&shared->ahead_ns);
        shown_ns[shown_count++ % 16] = ns;
        *now = time_of(ns);
    }
    return result;
}

int __wrap_timerfd_create(int clock, int flags) {
    int fd = __real_timerfd_create(clock, flags);
    if (fd >= FDS)
        abort();
    if (fd >= 0) {
        pthread_mutex_lock(&mutex);
        is_of_wall[fd] = clock == CLOCK_REALTIME;
        is_armed[fd] = false;
        pthread_mutex_unlock(&mutex);
    }
    return fd;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *old) {
    struct itimerspec real = *setting;
    pthread_mutex_lock(&mutex);
    int64_t at_ns = ns_of(&setting->it_value);
    if (is_of_wall[fd] && (flags & TFD_TIMER_ABSTIME) != 0 && at_ns != 0) {
        int64_t real_ns;
        if (__builtin_sub_overflow(at_ns, atomic_load(&shared->ahead_ns), &real_ns))
            real_ns = INT64_MAX; /* never, and the clock is behind */
        real.it_value = time_of(real_ns < 1 ? 1 : real_ns);
    }
    is_armed[fd] = at_ns != 0;
    int result = __real_timerfd_settime(fd, flags, &real, old);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* The sleepers find that their time has not come, and set their timers again. */
static void wake_sleepers(void) {
    static const struct itimerspec at_once = { .it_value = { 0, 1 } };
    for (int fd = 0; fd < FDS; fd++)
        if (is_of_wall[fd] && is_armed[fd])
            (void)__real_timerfd_settime(fd, TFD_TIMER_ABSTIME, &at_once, NULL);
}

void wall_clock_step(int64_t delta_ns) {
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&shared->steps, 1);
    int64_t ahead_ns = atomic_load(&shared->ahead_ns) + delta_ns;
    if (ahead_ns > atomic_load(&shared->most_ahead_ns))
        atomic_store(&shared->most_ahead_ns, ahead_ns);
    atomic_store(&shared->ahead_ns, ahead_ns);
    atomic_fetch_add(&shared->steps, 1);
    wake_sleepers();
    pthread_mutex_unlock(&mutex);
}

uint64_t wall_clock_steps(void) {
    return atomic_load(&shared->steps);
}

int64_t wall_clock_ahead_ns(void) {
    return atomic_load(&shared->ahead_ns);
}

int64_t wall_clock_most_ahead_ns(void) {
    return atomic_load(&shared->most_ahead_ns);
}

int64_t wall_clock_now_ns(void) {
    struct timespec now;
    __wrap_clock_gettime(CLOCK_REALTIME, &now);
    return ns_of(&now);
}

bool wall_clock_has_shown(int64_t ns) {
    for (unsigned i = 0; i < 16; i++)
        if (shown_ns[i] == ns)
            return true;
    return false;
}
