/* SPDX-License-Identifier: MIT */
/*
 * bubble.h - the threads of a bubble, what each waits for, and the time that jumps when all of them wait.
 *
 * 1. The library stands before the C library, and has functions of the same names. Those that can have a timeout try the
 *    real object without waiting. If they cannot have it, they park their thread under its address. Who signals or posts
 *    wakes a thread that is parked.
 * 2. So the number of threads that run is exact, under one lock: who wakes a thread counts it before it runs. The
 *    thread that makes the number 0 decides what comes next: bubble_pass_on().
 * 3. A thread that polls descriptors sleeps in the kernel, but takes nothing out of them there. So the thread that
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
    PARKED, /* waits for an object, or only for its deadline */
    POLLS,  /* waits for descriptors */
    BLOCKED /* the watcher has found it asleep in the kernel */
};

enum bubble_outcome { WOKEN, TIMED_OUT, INTERRUPTED };

/* Who can end a wait: this process, other processes as well, or only these. */
enum bubble_place { INSIDE, EITHER, OUTSIDE };

struct bubble_wait {
    const char *call;
    const volatile void *object; /* NULL: none */
    int64_t deadline_ns;         /* of bubble_now_ns() */
};

#define WAIT(of_object, until_ns)     \
    (struct bubble_wait) {            \
        __func__, of_object, until_ns \
    }

/* A member of the bubble. */
struct bubble_thread {
    struct bubble_thread *next;
    void *(*main)(void *);
    void *argument;
    pthread_t pthread;
    pid_t tid;
    enum bubble_state state;
    enum bubble_outcome outcome;
    struct bubble_wait wait;
    uint64_t turn;       /* who has begun to wait earlier is woken earlier */
    _Atomic uint32_t go; /* PARKED: what it sleeps on */
    struct pollfd *fds;  /* POLLS */
    nfds_t fd_count;
    int kick;                /* POLLS: an eventfd that ends it, or -1 */
    int64_t cpu_ns;          /* BLOCKED: its CPU time */
    enum bubble_place place; /* BLOCKED: who can end it; otherwise INSIDE */
    uint64_t readings, jump; /* of clocks since this jump */
};

struct bubble {
    struct bubble_thread *threads;
    unsigned members, running;
    uint64_t turns;
    _Atomic uint64_t jumps;             /* of time */
    _Atomic int64_t now_ns;             /* the monotonic clock */
    int64_t began_ns, ahead_ns[CLOCKS]; /* how far each clock is ahead of it */
    bool has_watcher, wants_watcher;
};

extern struct bubble bubble;
extern __thread struct bubble_thread *bubble_self; /* NULL: no member; its time is the real one */

/* A member, and not in a handler of a signal that has interrupted a wait: there calls are the real ones. */
bool bubble_is_inside(void);

/* Under the lock no signal is handled, as handlers may call sem_post(), and no cancellation acts. */
void bubble_lock(void);
void bubble_unlock(void);
/* A thread that sleeps on this futex is about to have the lock. */
bool bubble_is_lock(unsigned long address);

/* A wait: after bubble_wait_begin(), under the lock, the thread tries once more; then bubble_wait_end() gives up the lock, or
   bubble_wait_drop(), without having waited. */
void bubble_wait_begin(const struct bubble_wait *wait);
void bubble_wait_drop(void);
enum bubble_outcome bubble_wait_end(void);
/* Until one of the descriptors is ready; `fds` has room for one more. */
enum bubble_outcome bubble_wait_for_fds(const struct bubble_wait *wait, struct pollfd *fds,
                                        nfds_t count, const sigset_t *mask);

/* Wakes at most `count` threads that are parked under `object`. */
unsigned bubble_wake(const volatile void *object, unsigned count);

/* The following are called under the lock. */
void bubble_resume(struct bubble_thread *thread, enum bubble_outcome outcome);
/* No thread runs. Returns whether it is a deadlock. */
bool bubble_pass_on(void);
/* When the first timeout is due; NEVER: none. */
int64_t bubble_next_ns(void);
/* What each thread does or waits for, on the standard error. */
void bubble_report(const char *title);

void bubble_begin_time(void);
int64_t bubble_now_ns(void);
bool bubble_is_simulated(clockid_t clock);
int64_t bubble_after(const struct timespec *delay); /* NULL: never */
int64_t bubble_deadline_ns(clockid_t clock, const struct timespec *at);
int64_t bubble_ns_of(const struct timespec *time);
struct timespec bubble_timespec_of(int64_t ns);
bool bubble_is_valid(const struct timespec *time);

/* Timers that are descriptors. */
int64_t bubble_timers_next_ns(void);
void bubble_timers_expire(int64_t now_ns);
void bubble_timers_forget(void);

bool bubble_is_still_blocked(const struct bubble_thread *thread);
/* The thread whose end is waited for at this address, which is in what glibc keeps of it; NULL: none. */
const struct bubble_thread *bubble_joined_at(unsigned long address);
void bubble_start_watcher(void);

enum bubble_place bubble_place_of(int fd);
enum bubble_place bubble_place_of_thread(const struct bubble_thread *thread);
static inline enum bubble_place bubble_worse(enum bubble_place one, enum bubble_place other) {
    return one > other ? one : other;
}
/* Reads a file of /proc/self; it becomes "" if that fails. */
char *bubble_read_proc(char *text, size_t size, const char *name, int number, const char *file);

#endif /* HTW_SRC_BUBBLE_H */
