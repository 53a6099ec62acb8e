/* SPDX-License-Identifier: MIT */
/* clocks.c - the clocks of a bubble, and sleeping. */
#include "bubble.h"

#include <errno.h>
#include <sys/time.h>

#define READINGS_FEW 10000u

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

int64_t bubble_read_ns(clockid_t clock) {
    struct timespec time = { 0 };
    if (bubble_self != NULL && bubble_is_simulated(clock))
        return atomic_load(&bubble.now_ns) + bubble.ahead_ns[clock];
    REAL(clock_gettime)(clock, &time);
    return bubble_ns_of(&time);
}

/* By a thread that is not in the bubble yet. */
void bubble_begin_time(void) {
    int64_t now_ns = bubble_read_ns(CLOCK_MONOTONIC);
    for (clockid_t clock = 0; clock < CLOCKS; clock++)
        bubble.ahead_ns[clock] = bubble_read_ns(clock) - now_ns;
    bubble.ahead_ns[CLOCK_MONOTONIC] = 0;
    bubble.began_ns = now_ns;
    atomic_store(&bubble.now_ns, now_ns);
    bubble.jumps++;
}

int64_t bubble_deadline_ns(clockid_t clock, const struct timespec *time) {
    int64_t now_ns = bubble_read_ns(CLOCK_MONOTONIC),
            at_ns = time == NULL ? NEVER : bubble_ns_of(time);
    int64_t delay_ns = clock == DELAY || at_ns == NEVER ? at_ns : at_ns - bubble_read_ns(clock);
    return delay_ns >= NEVER - now_ns ? NEVER : now_ns + (delay_ns > 0 ? delay_ns : 0);
}

/* ---- reading */

/* A thread that reads clocks until some time has come reads them for ever. But some loops end when the time is later than it
   was, as that of multiprocessing.connection in Python. */
static struct timespec read_time(clockid_t clock) {
    if (bubble_self != NULL && ++bubble_self->readings % READINGS_FEW == 0) {
        bubble_lock();
        if (bubble_next_ns() - 1 > atomic_load(&bubble.now_ns))
            atomic_fetch_add(&bubble.now_ns, 1);
        bubble_unlock();
    }
    return bubble_timespec_of(bubble_read_ns(clock));
}

INSTEAD(int, clock_gettime, (clockid_t clock, struct timespec *ret_time), (clock, ret_time),
        !bubble_is_simulated(clock), (*ret_time = read_time(clock), 0))

/* TIME_UTC is the only base that glibc knows. */
PUBLIC int timespec_get(struct timespec *ret_time, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret_time) == 0 ? base : 0;
}

PUBLIC int gettimeofday(struct timeval *restrict ret_time, void *restrict zone) {
    (void)zone;
    const struct timespec now = read_time(CLOCK_REALTIME);
    *ret_time = (struct timeval) { .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
    return 0;
}

PUBLIC time_t time(time_t *ret_time) {
    time_t now = read_time(CLOCK_REALTIME).tv_sec;
    if (ret_time != NULL)
        *ret_time = now;
    return now;
}

/* ---- sleeping */

/* 0 or EINTR. */
static int sleep_until(const struct bubble_wait *wait, struct timespec *ret_rest) {
    bubble_wait_begin(wait);
    bool is_interrupted = bubble_wait_end() == EINTR;
    pthread_testcancel();
    if (is_interrupted && ret_rest != NULL)
        *ret_rest = bubble_timespec_of(wait->deadline_ns - bubble_read_ns(CLOCK_MONOTONIC));
    return is_interrupted ? EINTR : 0;
}

PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *ret_rest) {
    bool is_delay = (flags & TIMER_ABSTIME) == 0;
    if (!bubble_is_inside() || !bubble_is_simulated(clock) || !bubble_is_valid(time))
        return REAL(clock_nanosleep)(clock, flags, time, ret_rest);
    return sleep_until(&WAIT(NULL, bubble_deadline_ns(is_delay ? DELAY : clock, time)),
                       is_delay ? ret_rest : NULL);
}

/* The name that programs call may be of another library. */
__typeof__(clock_nanosleep) bubble_clock_nanosleep __attribute__((alias("clock_nanosleep")));

PUBLIC int nanosleep(const struct timespec *delay, struct timespec *ret_rest) {
    return bubble_result(clock_nanosleep(CLOCK_REALTIME, 0, delay, ret_rest));
}

PUBLIC int usleep(useconds_t delay_us) {
    const struct timespec delay = bubble_timespec_of(delay_us * INT64_C(1000));
    return nanosleep(&delay, NULL);
}

PUBLIC unsigned sleep(unsigned seconds) {
    struct timespec rest = { .tv_sec = seconds };
    return nanosleep(&rest, &rest) == 0 ? 0 : (unsigned)rest.tv_sec;
}
