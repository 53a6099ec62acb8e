/* SPDX-License-Identifier: MIT */
/* clocks.c - the clocks of a bubble, and sleeping. */
#include "bubble.h"

#include <errno.h>
#include <sys/time.h>

#define READINGS_FEW 10000u
#define READINGS_MAX 10000000u /* some tenths of a second of nothing else */

int64_t bubble_ns_of(const struct timespec *time) {
    return time->tv_sec >= NEVER / SECOND ? NEVER : time->tv_sec * SECOND + time->tv_nsec;
}

struct timespec bubble_timespec_of(int64_t ns) {
    return (struct timespec) { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

bool bubble_is_valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

bool bubble_is_simulated(clockid_t clock) {
    return clock >= 0 && clock < CLOCKS && clock != CLOCK_PROCESS_CPUTIME_ID &&
           clock != CLOCK_THREAD_CPUTIME_ID;
}

static int64_t read_ns(clockid_t clock) {
    struct timespec time = { 0 };
    if (bubble_self != NULL && bubble_is_simulated(clock))
        return atomic_load(&bubble.now_ns) + bubble.ahead_ns[clock];
    REAL(clock_gettime)(clock, &time);
    return bubble_ns_of(&time);
}

/* By a thread that is not in the bubble yet. */
void bubble_begin_time(void) {
    int64_t now_ns = read_ns(CLOCK_MONOTONIC);
    for (clockid_t clock = 0; clock < CLOCKS; clock++)
        bubble.ahead_ns[clock] = read_ns(clock) - now_ns;
    bubble.ahead_ns[CLOCK_MONOTONIC] = 0;
    bubble.began_ns = now_ns;
    atomic_store(&bubble.now_ns, now_ns);
    atomic_fetch_add(&bubble.jumps, 1);
}

int64_t bubble_now_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

int64_t bubble_after_ns(int64_t delay_ns) {
    int64_t now_ns = bubble_now_ns();
    return delay_ns >= NEVER - now_ns ? NEVER : now_ns + (delay_ns > 0 ? delay_ns : 0);
}

int64_t bubble_after(const struct timespec *delay) {
    return delay == NULL ? NEVER : bubble_after_ns(bubble_ns_of(delay));
}

int64_t bubble_deadline_ns(clockid_t clock, const struct timespec *at) {
    int64_t at_ns = bubble_ns_of(at);
    return at_ns == NEVER ? NEVER : bubble_after_ns(at_ns - read_ns(clock));
}

/* ---- reading */

/* Some loops end when the time is later than it was: that of multiprocessing.connection in Python. */
static void move_a_little(void) {
    bubble_lock();
    if (bubble_next_ns() - 1 > atomic_load(&bubble.now_ns))
        atomic_fetch_add(&bubble.now_ns, 1);
    bubble_unlock();
}

/* A thread that reads clocks until some time has come reads them for ever. */
static struct timespec read_for(clockid_t clock, const void *reader) {
    struct bubble_thread *self = bubble_self;
    uint64_t jump = atomic_load_explicit(&bubble.jumps, memory_order_relaxed);
    if (self == NULL)
        return bubble_timespec_of(read_ns(clock));
    self->readings = self->jump == jump ? self->readings + 1 : 1;
    self->jump = jump;
    self->reader = reader;
    if (self->readings % READINGS_FEW == 0)
        move_a_little();
    if (self->readings == READINGS_MAX) {
        bubble_lock();
        bubble_report(
            "a thread reads clocks all the time: time passes only while all threads wait");
        bubble_unlock();
    }
    return bubble_timespec_of(read_ns(clock));
}

INSTEAD(int, clock_gettime, (clockid_t clock, struct timespec *ret_time), (clock, ret_time),
        !bubble_is_simulated(clock), (*ret_time = read_for(clock, __builtin_return_address(0)), 0))

INSTEAD(int, timespec_get, (struct timespec * ret_time, int base), (ret_time, base),
        base != TIME_UTC, (*ret_time = read_for(CLOCK_REALTIME, __builtin_return_address(0)), base))

static struct timeval timeval_of(struct timespec time) {
    return (struct timeval) { .tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000 };
}

INSTEAD(int, gettimeofday, (struct timeval *restrict ret_time, void *restrict zone),
        (ret_time, zone), false,
        (*ret_time = timeval_of(read_for(CLOCK_REALTIME, __builtin_return_address(0))), 0))

static time_t give(time_t now, time_t *ret_time) {
    if (ret_time != NULL)
        *ret_time = now;
    return now;
}

INSTEAD(time_t, time, (time_t * ret_time), (ret_time), false,
        give(read_for(CLOCK_REALTIME, __builtin_return_address(0)).tv_sec, ret_time))

/* ---- sleeping */

/* 0 or EINTR. */
static int sleep_until(const struct bubble_wait *wait, struct timespec *ret_rest) {
    if (wait->deadline_ns <= bubble_now_ns())
        return 0;
    bubble_lock();
    bubble_wait_begin(wait);
    if (bubble_wait_end() != INTERRUPTED)
        return 0;
    if (ret_rest != NULL)
        *ret_rest = bubble_timespec_of(wait->deadline_ns - bubble_now_ns());
    return EINTR;
}

INSTEAD(int, clock_nanosleep,
        (clockid_t clock, int flags, const struct timespec *time, struct timespec *ret_rest),
        (clock, flags, time, ret_rest),
        !bubble_is_inside() || !bubble_is_simulated(clock) || !bubble_is_valid(time),
        (flags & TIMER_ABSTIME) != 0
            ? sleep_until(&WAIT(NULL, bubble_deadline_ns(clock, time)), NULL)
            : sleep_until(&WAIT(NULL, bubble_after(time)), ret_rest))

/* The result of those that set errno. */
static int with_errno(int error) {
    errno = error != 0 ? error : errno;
    return error == 0 ? 0 : -1;
}

INSTEAD(int, nanosleep, (const struct timespec *delay, struct timespec *ret_rest),
        (delay, ret_rest), !bubble_is_inside() || !bubble_is_valid(delay),
        with_errno(sleep_until(&WAIT(NULL, bubble_after(delay)), ret_rest)))

INSTEAD(int, usleep, (useconds_t delay_us), (delay_us), !bubble_is_inside(),
        with_errno(sleep_until(&WAIT(NULL, bubble_after_ns(delay_us *INT64_C(1000))), NULL)))

static unsigned sleep_for(const struct bubble_wait *wait) {
    struct timespec rest = { 0 };
    sleep_until(wait, &rest);
    return (unsigned)rest.tv_sec + (rest.tv_nsec > 0);
}

INSTEAD(unsigned, sleep, (unsigned seconds), (seconds), !bubble_is_inside(),
        sleep_for(&WAIT(NULL, bubble_after_ns(seconds *SECOND))))
