/* SPDX-License-Identifier: MIT */
/*
 * faults.c - calls of a server that fail as a test says, and a wall clock that it sets (LD_PRELOAD).
 *
 * The file HTW_FAULTS is the plan, which the test writes while the server runs (faults.py). Setting the clock wakes
 * those that sleep on timers of the kernel for it, as the kernel does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define FDS 16384
#define LOOK_NS (2 * NS_PER_S / 1000)

#define SHORT 0 /* in place of an error: a part is done; below 0: it takes so many milliseconds */

struct plan {
    _Atomic int64_t ahead_ns;            /* the wall clock, of the real one */
    _Atomic int64_t seen;                /* calls of the name so far */
    _Atomic int64_t first, times, error; /* which of them fail, and how */
    _Atomic int64_t rounds;              /* calls of epoll_wait() */
    _Atomic int64_t thread;              /* that has made the last call of the name */
    char name[24];                       /* "malloc" is each allocation */
};

static struct plan *plan;

static bool fails(const char *name) {
    if (plan == NULL || atomic_load(&plan->times) == 0 || strcmp(plan->name, name) != 0)
        return false;
    atomic_store(&plan->thread, gettid());
    int64_t nth = atomic_fetch_add(&plan->seen, 1) - atomic_load(&plan->first);
    int64_t error = atomic_load(&plan->error);
    if (nth < 0 || nth >= atomic_load(&plan->times))
        return false;
    if (error < 0) {
        usleep((useconds_t)-error * 1000);
        error = atomic_load(&plan->error); /* the test may have set one meanwhile */
    }
    errno = (int)error;
    return error >= 0;
}

static void find(const char *name, void *function) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof(symbol));
}

/* ---- allocations */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    return fails("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails("malloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return fails("malloc") ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails("malloc") ? NULL : __libc_memalign(alignment, size);
}

/* ---- system calls */

#define SAME(name, parameters, arguments)          \
    int name parameters {                          \
        static int(*real) parameters;              \
        if (real == NULL)                          \
            find(#name, &real);                    \
        return fails(#name) ? -1 : real arguments; \
    }

/* A part of the bytes at least. */
#define PART(name, parameters, arguments, size)               \
    ssize_t name parameters {                                 \
        static ssize_t(*real) parameters;                     \
        bool has_failed = fails(#name);                       \
        if (real == NULL)                                     \
            find(#name, &real);                               \
        if (has_failed && atomic_load(&plan->error) != SHORT) \
            return -1;                                        \
        size = has_failed ? (size + 1) / 2 : size;            \
        return real arguments;                                \
    }

SAME(accept4, (int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags),
     (fd, address, size, flags))
SAME(epoll_ctl, (int set, int what, int fd, struct epoll_event *event), (set, what, fd, event))
SAME(fdatasync, (int fd), (fd))
PART(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags), size)
PART(send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags), size)
PART(pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at), size)

int epoll_wait(int set, struct epoll_event *events, int count, int limit_ms) {
    static int (*real)(int set, struct epoll_event *events, int count, int limit_ms);
    if (real == NULL)
        find("epoll_wait", &real);
    if (plan != NULL)
        atomic_fetch_add(&plan->rounds, 1);
    return fails("epoll_wait") ? -1 : real(set, events, count, limit_ms);
}

/* ---- the wall clock */

static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* a timer is converted and set without a step in between */
static bool is_of_wall[FDS], is_armed[FDS];
static int (*real_gettime)(clockid_t clock, struct timespec *now);
static int (*real_settime)(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *old);

static int64_t ns_of(const struct timespec *time) {
    return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec time_of(int64_t ns) {
    return (struct timespec) { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real_gettime == NULL)
        find("clock_gettime", &real_gettime);
    int result = real_gettime(clock, now);
    if (result == 0 && plan != NULL && clock == CLOCK_REALTIME)
        *now = time_of(ns_of(now) + atomic_load(&plan->ahead_ns));
    return result;
}

int timerfd_create(clockid_t clock, int flags) {
    static int (*real)(clockid_t clock, int flags);
    if (real == NULL)
        find("timerfd_create", &real);
    int fd = real(clock, flags);
    if (fd >= FDS)
        abort();
    pthread_mutex_lock(&mutex);
    if (fd >= 0) {
        is_of_wall[fd] = clock == CLOCK_REALTIME;
        is_armed[fd] = false;
    }
    pthread_mutex_unlock(&mutex);
    return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *setting, struct itimerspec *old) {
    struct itimerspec real = *setting;
    if (real_settime == NULL)
        find("timerfd_settime", &real_settime);
    if (fails("timerfd_settime"))
        return -1;
    pthread_mutex_lock(&mutex);
    int64_t at_ns = ns_of(&setting->it_value), real_ns;
    if (plan != NULL && is_of_wall[fd] && (flags & TFD_TIMER_ABSTIME) != 0 && at_ns != 0) {
        if (__builtin_sub_overflow(at_ns, atomic_load(&plan->ahead_ns), &real_ns))
            real_ns = INT64_MAX; /* never, and the clock is behind */
        real.it_value = time_of(real_ns < 1 ? 1 : real_ns);
    }
    is_armed[fd] = at_ns != 0;
    int result = real_settime(fd, flags, &real, old);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* The sleepers find that their time has not come, and set their timers again. */
static void wake_sleepers(void) {
    static const struct itimerspec at_once = { .it_value = { 0, 1 } };
    pthread_mutex_lock(&mutex);
    for (int fd = 0; fd < FDS; fd++)
        if (is_of_wall[fd] && is_armed[fd])
            (void)real_settime(fd, TFD_TIMER_ABSTIME, &at_once, NULL);
    pthread_mutex_unlock(&mutex);
}

static void *follow(void *unused) {
    const struct timespec pause = time_of(LOOK_NS);
    int64_t ahead_ns = atomic_load(&plan->ahead_ns);
    (void)unused;
    while (nanosleep(&pause, NULL) == 0) {
        int64_t was_ns = ahead_ns;
        ahead_ns = atomic_load(&plan->ahead_ns);
        if (ahead_ns != was_ns)
            wake_sleepers();
    }
    return NULL;
}

static void __attribute__((constructor)) begin(void) {
    const char *path = getenv("HTW_FAULTS");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *map = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sigset_t all, before;
    pthread_t thread;
    if (map == MAP_FAILED) {
        perror("faults: HTW_FAULTS");
        _exit(1);
    }
    close(fd);
    find("timerfd_settime", &real_settime);
    plan = map;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, follow, NULL) != 0)
        _exit(1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
