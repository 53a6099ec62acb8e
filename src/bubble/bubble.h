/* SPDX-License-Identifier: MIT */
/*
 * bubble.h - the threads of a bubble, what each waits for, and the time that jumps when all of them wait.
 *
 * 1. The library stands before the C library, and has functions of the same names. Those that can have a timeout try the
 *    real object without waiting. If they cannot have it, their thread waits under its address. Who signals or posts
 *    wakes a thread that does.
 * 2. So the number of threads that run is exact, under one lock: who wakes a thread counts it before it runs. The
 *    thread that makes the number 0 decides what comes next: bubble_pass_on().
 * 3. A thread that waits for descriptors polls them, but takes nothing out of them meanwhile. So the thread that
 *    decides polls them once more: who was woken by data has not read it yet.
 * 4. Other calls that block (mutexes, joins, read(), accept(), barriers, the locks of stdio) are not replaced. The watcher,
 *    a thread of the library, finds in /proc that a thread sleeps in such a call. If its CPU time is the same later,
 *    and it sleeps, it has not run in between.
 * 5. While a thread waits for a descriptor that leads out of the process, time stands still.
 * 6. Otherwise time jumps to the first deadline of a thread or a timerfd, and wakes all that are due then.
 */
#ifndef HTW_SRC_BUBBLE_H
#define HTW_SRC_BUBBLE_H

#include "real.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NEVER INT64_MAX
#define SECOND INT64_C(1000000000)
#define FDS_MAX 1024 /* descriptors that are looked at */
#define CLOCKS 12    /* of Linux, by their numbers */

enum bubble_state {
    RUNS,
    WAITS,  /* in a call that the library replaces */
    BLOCKED /* the watcher has found it asleep in another one */
};

/* Who can end a wait: this process, other processes as well, or only these. Of several descriptors, a union. */
enum bubble_place { INSIDE = 0, EITHER = 1, OUTSIDE = 2 };

struct bubble_wait {
    const char *call;
    const volatile void *object; /* NULL: none */
    int64_t deadline_ns;         /* by CLOCK_MONOTONIC */
    struct pollfd *fds;          /* after the last, an eventfd that ends the wait; NULL: none */
    nfds_t fd_count;
    const sigset_t *mask; /* while it waits for them */
};

#define WAIT(of_object, until_ns)                                          \
    (struct bubble_wait) {                                                 \
        .call = __func__, .object = (of_object), .deadline_ns = (until_ns) \
    }

/* A member of the bubble. */
struct bubble_thread {
    struct bubble_thread *next;
    void *(*main)(void *);
    void *argument;
    pthread_t pthread;
    pid_t tid;
    enum bubble_state state;
    int outcome; /* of its last wait: 0: it was woken; ETIMEDOUT, EINTR or another error */
    struct bubble_wait wait;
    uint64_t turn;           /* who has begun to wait earlier is woken earlier */
    _Atomic uint32_t go;     /* its wait is over */
    int64_t cpu_ns;          /* BLOCKED: its CPU time */
    enum bubble_place place; /* BLOCKED: who can end it; otherwise INSIDE */
    unsigned readings;       /* of clocks since its last wait */
    bool is_cancelled;       /* since then */
};

struct bubble {
    pthread_mutex_t mutex;
    struct bubble_thread *threads;
    _Atomic unsigned members;
    unsigned running;
    uint64_t turns, jumps;              /* waits that have begun; jumps of time */
    _Atomic int64_t now_ns;             /* the monotonic clock */
    int64_t began_ns, ahead_ns[CLOCKS]; /* how far each clock is ahead of it */
    bool has_watcher;
};

extern struct bubble bubble;
extern __thread struct bubble_thread *bubble_self; /* NULL: no member; its time is the real one */

/* A member, and not in a handler of a signal that has interrupted a wait: there calls are the real ones. */
bool bubble_is_inside(void);

/* Under the lock no signal is handled, as handlers may call sem_post(), and no cancellation acts. */
void bubble_lock(void);
void bubble_unlock(void);

/* A wait: bubble_wait_begin() takes the lock, then the thread tries once more, and resumes itself if it need not wait;
   bubble_wait_end() gives up the lock and returns the outcome. */
void bubble_wait_begin(const struct bubble_wait *wait);
int bubble_wait_end(void);
/* What a call returns that sets errno, and sets it, unless the error is 0. */
int bubble_result(int error);

/* Wakes at most `count` threads that are waiting for `object`. */
unsigned bubble_wake(const volatile void *object, unsigned count);

/* The following are called under the lock. */
void bubble_resume(struct bubble_thread *thread, int outcome);
/* No thread runs. Returns whether it is a deadlock. */
bool bubble_pass_on(void);
/* When the first timeout is due; NEVER: none. */
int64_t bubble_next_ns(void);

void bubble_begin_time(void);
int64_t bubble_read_ns(clockid_t clock); /* the real one, if the caller is no member */
bool bubble_is_simulated(clockid_t clock);
extern __typeof__(clock_nanosleep) bubble_clock_nanosleep; /* of this library */
#define DELAY (-1)                                         /* in place of a clock: from now on */
int64_t bubble_deadline_ns(clockid_t clock, const struct timespec *time); /* NULL: never */
int64_t bubble_ns_of(const struct timespec *time);
struct timespec bubble_timespec_of(int64_t ns);
bool bubble_is_valid(const struct timespec *time);

/* Timers that are descriptors. */
int64_t bubble_timers_next_ns(void);
void bubble_timers_expire(int64_t now_ns);
void bubble_timers_forget(void);

/* Whether the descriptors of a thread that waits are ready, or one that was found asleep has run since. */
bool bubble_is_over(const struct bubble_thread *thread);
/* The thread whose end is waited for at this address, which is in what glibc keeps of it; NULL: none. */
const struct bubble_thread *bubble_joined_at(unsigned long address);
bool bubble_start_watcher(void);

enum bubble_place bubble_place_of(int fd);
enum bubble_place bubble_place_of_thread(const struct bubble_thread *thread);
/* Reads a file of /proc/self; it becomes "" if that fails. */
char *bubble_read_proc(char *text, size_t size, const char *name, int number, const char *file);

#endif /* HTW_SRC_BUBBLE_H */
