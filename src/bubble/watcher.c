/* SPDX-License-Identifier: MIT */
/*
 * watcher.c - finds threads that wait in calls of the kernel which this library does not replace, and reports.
 *
 * The watcher is a thread of the library, and no member. It reads /proc when time has stood still for 0.1 ms, and less often
 * while the program computes.
 */
#include "bubble.h"

#include <fcntl.h>
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
    struct timespec time = { 0 };
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6); /* as the kernel builds it */
    REAL(clock_gettime)(clock, &time);
    return bubble_ns_of(&time);
}

/* It has not run, so it is in the same call. */
bool bubble_is_still_blocked(const struct bubble_thread *thread) {
    return is_asleep(thread) && cpu_ns(thread->tid) == thread->cpu_ns;
}

const struct bubble_thread *bubble_joined_at(unsigned long address) {
    const struct bubble_thread *thread = bubble.threads;
    while (thread != NULL &&
           (thread->tid == 0 || address - (unsigned long)thread->pthread >= 0x1000))
        thread = thread->next;
    return thread;
}

/* One that has a time ends by the real time. */
static bool is_inside(const unsigned long arguments[4]) {
    bool is_private = (arguments[1] & FUTEX_PRIVATE_FLAG) != 0;
    return (is_private || bubble_joined_at(arguments[0]) != NULL) && arguments[3] == 0 &&
           !bubble_is_lock(arguments[0]);
}

static void note_call(struct bubble_thread *thread, long number, const unsigned long a[4]) {
    thread->wait = (struct bubble_wait) { .call = "the kernel", .deadline_ns = NEVER };
    thread->place = OUTSIDE;
    if (number == SYS_futex) {
        thread->wait.call = "a lock of the C library";
        thread->wait.object = (const volatile void *)a[0];
        thread->place = is_inside(a) ? INSIDE : OUTSIDE;
    } else if (number == SYS_pause || number == SYS_rt_sigsuspend ||
               (number == SYS_rt_sigtimedwait && a[2] == 0)) {
        thread->place = EITHER;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i] == number)
            thread->place = bubble_place_of((int)a[0]);
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
    note_call(thread, number, a);
    return true;
}

/* ---- reports */

#define SAY(...) dprintf(STDERR_FILENO, __VA_ARGS__)

/* A debugger tells the rest. */
static void print_thread(struct bubble_thread *thread) {
    SAY("  thread %d ", thread->tid);
    if (thread->state == RUNS && !find_call(thread)) {
        SAY("runs\n");
        return;
    }
    const struct bubble_thread *joined = bubble_joined_at((unsigned long)thread->wait.object);
    SAY("waits in %s", thread->wait.call);
    if (joined != NULL)
        SAY(" for the end of thread %d", joined->tid);
    else if (thread->wait.object != NULL)
        SAY(" for %p", (const void *)thread->wait.object);
    if (bubble_place_of_thread(thread) == OUTSIDE)
        SAY(" for the world outside");
    if (thread->wait.deadline_ns != NEVER)
        SAY(", due in %.3f s",
            (double)(thread->wait.deadline_ns - atomic_load(&bubble.now_ns)) / 1e9);
    SAY("\n");
}

void bubble_report(const char *title) {
    SAY("htw-bubble: %s (%.9f s after the begin)\n", title,
        (double)(atomic_load(&bubble.now_ns) - bubble.began_ns) / 1e9);
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        print_thread(thread);
}

/* ---- the watcher */

static void find_blocked(void) {
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == RUNS && find_call(thread) && thread->place != OUTSIDE) {
            thread->state = BLOCKED;
            bubble.running--;
        }
}

static int64_t real_ns(void) {
    struct timespec now;
    REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    return bubble_ns_of(&now);
}

static int64_t
    moved_ns; /* in real time, when time has moved; NEVER: it is reported that it stands still */

/* Returns how long to wait until the next look, in real time. */
static int64_t look(int64_t paused_ns) {
    static uint64_t jumps;
    static bool was_dead;
    if (jumps != atomic_load(&bubble.jumps)) {
        jumps = atomic_load(&bubble.jumps);
        moved_ns = real_ns();
        was_dead = false;
        return PAUSE_NS;
    }
    find_blocked();
    bool is_dead = bubble.running == 0 && bubble_pass_on();
    if (is_dead && was_dead) {
        bubble_report("deadlock: all threads wait, and nothing is due");
        abort();
    }
    was_dead = is_dead;
    bool is_due = bubble.running > 0 || bubble_next_ns() != NEVER;
    if (is_due && moved_ns != NEVER && real_ns() - moved_ns > STILL_NS) {
        moved_ns = NEVER;
        bubble_report("time has stood still for 5 s: it passes while all threads wait, and none "
                      "for the world outside");
    }
    return paused_ns < LONG_PAUSE_NS ? 2 * paused_ns : LONG_PAUSE_NS;
}

static void *watch(void *unused) {
    int64_t pause_ns = PAUSE_NS;
    moved_ns = real_ns();
    prctl(PR_SET_NAME, "htw-bubble");
    prctl(PR_SET_TIMERSLACK, 1ul);
    for (bool goes_on = true; goes_on;) {
        const struct timespec pause = bubble_timespec_of(pause_ns);
        REAL(clock_nanosleep)(CLOCK_MONOTONIC, 0, &pause, NULL);
        bubble_lock();
        pause_ns = look(pause_ns);
        goes_on = bubble.has_watcher = bubble.members > 0;
        bubble_unlock();
    }
    return unused;
}

void bubble_start_watcher(void) {
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (REAL(pthread_create)(&thread, &detached, watch, NULL) != 0)
        abort();
    pthread_attr_destroy(&detached);
}
