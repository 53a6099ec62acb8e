/* SPDX-License-Identifier: MIT */
/* members.c - the threads of a bubble: how it begins and ends, and how threads are made, joined and cancelled in it. */
#include <htw/bubble.h>

#include "bubble.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t leaving;
static struct bubble_thread first; /* which has begun the bubble */

static struct bubble_real real;

/* An allocator may be the caller, so nothing is allocated. */
const struct bubble_real *bubble_find_real(void) {
    static _Atomic bool is_found;
    if (!atomic_load_explicit(&is_found, memory_order_acquire)) { /* two threads find the same */
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define FIND(name) real.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
        REPLACED(FIND)
        atomic_store_explicit(&is_found, true, memory_order_release);
    }
    return &real;
}

/* ---- members */

/* Under the lock. It counts as running from now on, unless a handler of a signal has forked during its wait. */
static void add_member(struct bubble_thread *thread) {
    thread->next = bubble.threads;
    bubble.threads = thread;
    atomic_fetch_add(&bubble.members, 1);
    bubble.running += thread->state == RUNS;
}

/* A thread that leaves, or one that could not be created. */
static void remove_member(struct bubble_thread *thread) {
    struct bubble_thread **link = &bubble.threads;
    bubble_lock();
    while (*link != thread)
        link = &(*link)->next;
    for (struct bubble_thread *other = bubble.threads; other != NULL; other = other->next)
        if (other->state == BLOCKED &&
            bubble_joined_at((unsigned long)other->wait.object) == thread)
            bubble_resume(other, 0); /* it returns when the thread has ended, which is soon */
    *link = thread->next;
    if (thread == bubble_self)
        bubble_self = NULL;
    if (thread != &first)
        free(thread);
    if (atomic_fetch_sub(&bubble.members, 1) == 1)
        bubble_timers_forget();
    if (--bubble.running == 0)
        bubble_pass_on();
    bubble_unlock();
}

/* ---- threads */

/* Nearly the last destructor of a thread's own data: others may wait, too. The last is that of ThreadSanitizer. */
static void leave(void *rounds) {
    bool is_last = (uintptr_t)rounds >= PTHREAD_DESTRUCTOR_ITERATIONS - 1;
    if (bubble_self != NULL && (is_last || pthread_setspecific(leaving, (char *)rounds + 1) != 0))
        remove_member(bubble_self);
}

static void enter(struct bubble_thread *thread) {
    bubble_self = thread;
    thread->pthread = pthread_self();
    thread->tid = gettid();
    pthread_setspecific(leaving, (void *)1);
}

static void *run(void *thread) {
    enter(thread);
    pthread_testcancel(); /* pthread_cancel() did not know it yet */
    return bubble_self->main(bubble_self->argument);
}

PUBLIC int pthread_create(pthread_t *restrict ret_thread, const pthread_attr_t *restrict attributes,
                          void *(*main)(void *), void *restrict argument) {
    if (bubble_self == NULL)
        return REAL(pthread_create)(ret_thread, attributes, main, argument);
    struct bubble_thread *thread = malloc(sizeof(*thread));
    if (thread == NULL)
        return EAGAIN;
    *thread = (struct bubble_thread) { .main = main, .argument = argument };
    bubble_lock();
    add_member(thread);
    bubble_unlock();
    int result = REAL(pthread_create)(ret_thread, attributes, run, thread);
    if (result != 0)
        remove_member(thread);
    return result;
}

/* Ends the wait of the thread, or its next one: most are in calls that then act on it. */
PUBLIC int pthread_cancel(pthread_t pthread) {
    int result = REAL(pthread_cancel)(pthread);
    bubble_lock();
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (pthread_equal(thread->pthread, pthread)) {
            thread->is_cancelled = thread->state != WAITS;
            if (thread->state == WAITS)
                bubble_resume(thread, EINTR);
        }
    bubble_unlock();
    return result;
}

/* ---- the bubble */

int htw_bubble_begin(void) {
    if (dlsym(RTLD_DEFAULT, "clock_nanosleep") != (void *)bubble_clock_nanosleep)
        return -EINVAL;
    if (bubble_self != NULL)
        return -EALREADY;
    bubble_lock();
    bool is_free = atomic_load(&bubble.members) == 0;
    if (is_free) {
        bubble_begin_time();
        first = (struct bubble_thread) { 0 };
        add_member(&first);
        enter(&first);
    }
    bubble_unlock();
    return is_free ? 0 : -EBUSY;
}

int htw_bubble_end(void) {
    if (!bubble_is_inside())
        return -EINVAL;
    if (atomic_load(&bubble.members) > 1)
        return -EBUSY;
    remove_member(bubble_self);
    return 0;
}

int htw_bubble_settle(void) {
    if (!bubble_is_inside())
        return -EINVAL;
    do {
        bubble_wait_begin(&WAIT(&bubble.jumps, NEVER));
    } while (bubble_wait_end() != 0);
    return 0;
}

/* ---- processes: a child has one thread, and a bubble of its own. */

static void after_fork(void) {
    bubble.threads = NULL;
    atomic_store(&bubble.members, 0);
    bubble.running = 0;
    bubble.has_watcher = false;
    bubble_timers_forget();
    bubble_unlock(); /* and begins no watcher in a handler of fork() */
    if (bubble_self != NULL) {
        add_member(bubble_self);
        bubble_self->tid = gettid();
    }
}

/* Without a version, the loader may have given the conditions of glibc before 2.3.2, which are others. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define FIND_VERSION(name)                                         \
    if ((found = dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2")) != NULL) \
        real.name = (__typeof__(&name))found;
/* NOLINTEND(bugprone-macro-parentheses) */

/* A program with which the library is preloaded begins in a bubble. */
__attribute__((constructor)) static void start(void) {
    /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
    const char *preloaded = getenv("LD_PRELOAD"), *when = getenv("HTW_BUBBLE");
    void *found;
    bubble_find_real();
    REPLACED(FIND_VERSION)
    pthread_key_create(&leaving, leave);
    pthread_atfork(bubble_lock, bubble_unlock, after_fork);
    if (preloaded != NULL && strstr(preloaded, "htw-bubble") != NULL &&
        (when == NULL || strcmp(when, "later") != 0) && htw_bubble_begin() != 0)
        dprintf(STDERR_FILENO, "htw-bubble: another library has clocks of its own\n");
}
