/* SPDX-License-Identifier: MIT */
/*
 * watcher.c - finds threads that wait in calls of the kernel which this library does not replace, and reports.
 *
 * The watcher is a thread of the library, and no member. It reads /proc when time has stood still for 0.1 ms, and less often
 * while the program computes.
 */
#include "bubble.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define PAUSE_NS INT64_C(100000)
#define LONG_PAUSE_NS INT64_C(5000000)
#define STILL_NS (5 * SECOND) /* then it reports that time stands still */

#ifndef SYS_accept /* not on s390x */
#define SYS_accept SYS_accept4
#endif
#ifndef SYS_pause /* only on x86 and s390x */
#define SYS_pause SYS_rt_sigsuspend
#endif

/* The calls in which a thread may wait for a descriptor. */
static const long numbers[] = { SYS_accept, SYS_accept4,  SYS_connect, SYS_read,
                                SYS_readv,  SYS_recvfrom, SYS_recvmsg, SYS_sendmsg,
                                SYS_sendto, SYS_write,    SYS_writev };

/* Neither in a page fault, which ends on its own, nor woken, even if it has not been given a CPU yet: then the state is
   another one. */
static bool is_asleep(const struct bubble_thread *thread) {
    char text[256];
    bubble_read_proc(text, sizeof(text), "task", thread->tid, "/stat");
    const char *end = strrchr(text, ')'); /* of the name */
    return end != NULL && strncmp(end, ") S ", 4) == 0;
}

static int64_t cpu_ns(pid_t tid) {
    return bubble_read_ns((clockid_t)(~(unsigned)tid << 3 | 6)); /* as the kernel builds it */
}

bool bubble_is_over(const struct bubble_thread *thread) {
    const struct bubble_wait *wait = &thread->wait;
    if (thread->state == BLOCKED)
        return !is_asleep(thread) || cpu_ns(thread->tid) != thread->cpu_ns;
    return thread->state == WAITS && wait->fds != NULL &&
           REAL(ppoll)(wait->fds, wait->fd_count, &(struct timespec) { 0 }, NULL) != 0;
}

const struct bubble_thread *bubble_joined_at(unsigned long address) {
    const struct bubble_thread *thread = bubble.threads;
    while (thread != NULL &&
           (thread->tid == 0 || address - (unsigned long)thread->pthread >= 0x1000))
        thread = thread->next;
    return thread;
}

/* Who can end this call. A lock with a timeout ends by the real time. */
static enum bubble_place place_of_call(long number, const unsigned long a[4]) {
    bool is_private = (a[1] & FUTEX_PRIVATE_FLAG) != 0;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i] == number)
            return bubble_place_of((int)a[0]);
    if (number == SYS_pause || number == SYS_rt_sigsuspend ||
        (number == SYS_rt_sigtimedwait && a[2] == 0))
        return EITHER;
    if (number != SYS_futex || a[3] != 0)
        return OUTSIDE;
    return is_private || bubble_joined_at(a[0]) != NULL ? INSIDE : OUTSIDE;
}

/* Notes in which call of the kernel a thread sleeps. false: it runs. */
static bool find_call(struct bubble_thread *thread) {
    char text[256], *end;
    long number;
    unsigned long a[4];
    thread->cpu_ns = cpu_ns(thread->tid); /* first: if it runs after this, that is seen */
    bubble_read_proc(text, sizeof(text), "task", thread->tid, "/syscall");
    number = strtol(text, &end, 10);
    if (end == text || !is_asleep(thread)) /* "running" */
        return false;
    for (int i = 0; i < 4; i++)
        a[i] = strtoul(end, &end, 16);
    if (a[0] == (uintptr_t)&bubble.mutex)
        return false; /* it has the lock when the watcher gives it up */
    thread->wait = WAIT(number == SYS_futex ? (const void *)a[0] : NULL, NEVER);
    thread->wait.call = number == SYS_futex ? "a lock of the C library" : "the kernel";
    thread->place = place_of_call(number, a);
    return true;
}

/* ---- reports */

#define SAY(...) dprintf(STDERR_FILENO, __VA_ARGS__)

static double seconds_until(int64_t at_ns) {
    return (double)(at_ns - atomic_load(&bubble.now_ns)) / 1e9;
}

/* A debugger tells the rest. */
static void print_thread(struct bubble_thread *thread) {
    if (thread->state == RUNS && !find_call(thread)) {
        SAY("  thread %d runs\n", thread->tid);
        return;
    }
    const struct bubble_thread *joined = bubble_joined_at((unsigned long)thread->wait.object);
    SAY("  thread %d waits in %s", thread->tid, thread->wait.call);
    if (joined != NULL)
        SAY(" for the end of thread %d", joined->tid);
    else if (thread->wait.object != NULL)
        SAY(" for %p", (const void *)thread->wait.object);
    if ((bubble_place_of_thread(thread) & OUTSIDE) != 0)
        SAY(" for the world outside");
    if (thread->wait.deadline_ns != NEVER)
        SAY(", due in %.3f s", seconds_until(thread->wait.deadline_ns));
    SAY("\n");
}

/* What each thread does or waits for, on the standard error. */
static void report(const char *title) {
    SAY("htw-bubble: %s (%.9f s after the begin)\n", title, -seconds_until(bubble.began_ns));
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        print_thread(thread);
}

/* ---- the watcher */

static void find_blocked(void) {
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == RUNS && find_call(thread) && (thread->place & OUTSIDE) == 0) {
            thread->state = BLOCKED;
            bubble.running--;
        }
}

/* Returns how long to wait until the next look, in real time. */
static int64_t look(int64_t paused_ns) {
    static uint64_t jumps;
    static int64_t moved_ns; /* in real time; NEVER: it is reported that time stands still */
    static bool was_dead;
    if (jumps != bubble.jumps) { /* as at the begin of a bubble */
        jumps = bubble.jumps;
        moved_ns = bubble_read_ns(CLOCK_MONOTONIC);
        was_dead = false;
        return PAUSE_NS;
    }
    find_blocked();
    bool is_dead = bubble.running == 0 && bubble_pass_on();
    if (is_dead && was_dead) {
        report("deadlock: all threads wait, and nothing is due");
        abort();
    }
    was_dead = is_dead;
    if (bubble.running == 0 && bubble_next_ns() == NEVER) {
        moved_ns = bubble_read_ns(CLOCK_MONOTONIC); /* there is nothing to which it could move */
    } else if (moved_ns != NEVER && bubble_read_ns(CLOCK_MONOTONIC) - moved_ns > STILL_NS) {
        moved_ns = NEVER;
        report("time has stood still for 5 s: it passes while all threads wait, and none "
               "for the world outside");
    }
    return paused_ns < LONG_PAUSE_NS ? 2 * paused_ns : LONG_PAUSE_NS;
}

static void *watch(void *unused) {
    int64_t pause_ns = PAUSE_NS;
    prctl(PR_SET_NAME, "htw-bubble");
    prctl(PR_SET_TIMERSLACK, 1ul);
    for (bool goes_on = true; goes_on;) {
        const struct timespec pause = bubble_timespec_of(pause_ns);
        REAL(clock_nanosleep)(CLOCK_MONOTONIC, 0, &pause, NULL);
        bubble_lock();
        pause_ns = look(pause_ns);
        goes_on = bubble.has_watcher = atomic_load(&bubble.members) > 0;
        bubble_unlock();
    }
    return unused;
}

bool bubble_start_watcher(void) {
    pthread_t thread;
    return REAL(pthread_create)(&thread, NULL, watch, NULL) == 0 && pthread_detach(thread) == 0;
}
