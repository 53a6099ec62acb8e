/* SPDX-License-Identifier: MIT */
/*
 * watcher.c - finds threads that wait in calls of the kernel which this library does not replace, and reports.
 *
 * The watcher is a thread of the library, and no member. It reads /proc when nothing has changed for 0.1 ms, and less often
 * while the program computes.
 */
#include "bubble.h"

#include <dlfcn.h>
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
static const char *const names[] = { "accept",  "accept4", "connect", "read",  "readv", "recv",
                                     "recvmsg", "sendmsg", "send",    "write", "writev" };

/* Neither in a page fault, which ends on its own, nor woken, even if it has not been given a CPU yet: then the state is
   another one. */
static bool is_asleep(const struct bubble_thread *thread) {
    char text[128];
    ssize_t length = pread(thread->stat_fd, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
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
    while (thread != NULL && address - (unsigned long)thread->pthread >= 0x1000)
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
    thread->fd = -1;
    thread->place = OUTSIDE;
    if (number == SYS_futex) {
        thread->wait.call = "a lock of the C library";
        thread->wait.object = (const volatile void *)a[0];
        thread->place = is_inside(a) ? INSIDE : OUTSIDE;
    } else if (number == SYS_pause || number == SYS_rt_sigsuspend ||
               (number == SYS_rt_sigtimedwait && a[2] == 0)) {
        thread->wait.call = "a wait for signals";
        thread->place = EITHER;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i] == number) {
            thread->wait.call = names[i];
            thread->fd = (int)a[0];
            thread->place = bubble_place_of(thread->fd);
        }
}

/* Notes in which call of the kernel a thread sleeps. false: it runs. */
static bool find_call(struct bubble_thread *thread) {
    char text[256], *end;
    long number;
    unsigned long a[4];
    thread->cpu_ns = cpu_ns(thread->tid); /* first: if it runs after this, that is seen */
    if (thread->stat_fd < 0) {
        snprintf(text, sizeof(text), "/proc/self/task/%d/stat", thread->tid);
        thread->stat_fd = open(text, O_RDONLY | O_CLOEXEC);
    }
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

/* "symbol+0x1f (file+0x2c40)", as far as the loader knows it. */
static void print_address(const char *before, const volatile void *address) {
    Dl_info info = { 0 };
    const char *at = (const char *)address, *slash;
    dladdr(at, &info);
    SAY("%s", before);
    if (info.dli_sname != NULL)
        SAY("%s+0x%tx ", info.dli_sname, at - (const char *)info.dli_saddr);
    if (info.dli_fname != NULL && (slash = strrchr(info.dli_fname, '/')) != NULL)
        SAY("(%s+0x%tx)", slash + 1, at - (const char *)info.dli_fbase);
    else
        SAY("%p", (const void *)at);
}

static void print_fd(int fd) {
    static const char *const places[] = { "", ", open to other processes", ", leads outside" };
    char path[64], name[128] = "";
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof(name) - 1) >= 0)
        SAY(" %d (%s%s)", fd, name, places[bubble_place_of(fd)]);
}

static void print_wait(const struct bubble_thread *thread) {
    SAY("waits in %s", thread->wait.call);
    const struct bubble_thread *joined = bubble_joined_at((unsigned long)thread->wait.object);
    if (joined != NULL)
        SAY(": the end of thread %u", joined->number);
    else if (thread->wait.object != NULL)
        print_address(" for ", thread->wait.object);
    for (nfds_t i = 0; thread->state == POLLS && i < thread->fd_count; i++)
        print_fd(thread->fds[i].fd);
    if (thread->state == BLOCKED || thread->state == RUNS)
        print_fd(thread->fd);
    if (thread->wait.code != NULL)
        print_address(", called by ", thread->wait.code);
    int64_t left_ns = thread->wait.deadline_ns - atomic_load(&bubble.now_ns);
    if (thread->wait.deadline_ns != NEVER)
        SAY(", due in %.3f s", (double)left_ns / 1e9);
}

static void print_thread(struct bubble_thread *thread) {
    char name[32];
    bubble_read_proc(name, sizeof(name), "task", thread->tid, "/comm");
    SAY("  thread %u (%.*s, tid %d) ", thread->number, (int)strcspn(name, "\n"), name, thread->tid);
    if (thread->state != RUNS || find_call(thread))
        print_wait(thread);
    else if (thread->readings > 0 && thread->jump == atomic_load(&bubble.jumps))
        print_address("runs; since time has moved, it has read clocks, last in ", thread->reader);
    else
        SAY("runs");
    SAY("\n");
}

/* In the order of their numbers. */
void bubble_report(const char *title) {
    int64_t passed_ns = atomic_load(&bubble.now_ns) - bubble.began_ns;
    SAY("htw-bubble: %s (%.9f s after the begin)\n", title, (double)passed_ns / 1e9);
    for (unsigned number = 1; number <= bubble.numbers; number++)
        for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
            if (thread->number == number)
                print_thread(thread);
}

/* ---- the watcher */

static void find_blocked(void) {
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == RUNS && find_call(thread) && thread->place != OUTSIDE) {
            thread->state = BLOCKED;
            bubble.running--;
            atomic_fetch_add(&bubble.changes, 1);
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
    static uint64_t changes, jumps;
    static bool was_dead;
    bool is_still = changes == atomic_load(&bubble.changes);
    if (is_still)
        find_blocked();
    changes = atomic_load(&bubble.changes);
    bool is_dead = bubble.running == 0 && bubble_pass_on();
    if (is_dead && was_dead && is_still) {
        bubble_report("deadlock: all threads wait, and nothing is due");
        abort();
    }
    was_dead = is_dead;
    if (jumps != atomic_load(&bubble.jumps))
        moved_ns = real_ns();
    jumps = atomic_load(&bubble.jumps);
    bool is_due = bubble.running > 0 || bubble_next_ns() != NEVER;
    if (is_due && moved_ns != NEVER && real_ns() - moved_ns > STILL_NS) {
        moved_ns = NEVER;
        bubble_report(
            "time has stood still for 5 s: it passes while all threads wait, and none for "
            "the world outside");
    }
    return !is_still ? PAUSE_NS : paused_ns < LONG_PAUSE_NS ? 2 * paused_ns : LONG_PAUSE_NS;
}

static void *watch(void *unused) {
    int64_t pause_ns = PAUSE_NS;
    moved_ns = real_ns();
    prctl(PR_SET_NAME, "htw-bubble");
    prctl(PR_SET_TIMERSLACK, 1ul);
    for (bool goes_on = true; goes_on;) {
        const struct timespec pause = bubble_timespec_of(pause_ns);
        REAL(nanosleep)(&pause, NULL);
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
