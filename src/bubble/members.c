/* SPDX-License-Identifier: MIT */
/* members.c - the threads of a bubble: how it begins and ends, and how threads are made, joined and cancelled in it. */
#include <htw/bubble.h>

#include "bubble.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t leaving;

/* Without a version, the loader may give the conditions of glibc before 2.3.2, which are others. */
static void *find_real(const char *name) {
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

const struct bubble_real *bubble_find_real(void) {
    static struct bubble_real real;
    static _Atomic bool is_found;
    if (!atomic_load_explicit(&is_found, memory_order_acquire)) { /* two threads find the same */
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define FIND(name) real.name = (__typeof__(&name))find_real(#name);
        REPLACED(FIND)
        atomic_store_explicit(&is_found, true, memory_order_release);
    }
    return &real;
}

/* ---- members; under the lock */

/* It counts as running from now on. */
static void add_member(struct bubble_thread *thread) {
    thread->kick = -1;
    thread->next = bubble.threads;
    bubble.threads = thread;
    bubble.members++;
    bubble.running++;
}

static void remove_member(struct bubble_thread *thread) {
    struct bubble_thread **link = &bubble.threads;
    while (*link != thread)
        link = &(*link)->next;
    for (struct bubble_thread *other = bubble.threads; other != NULL; other = other->next)
        if (other->state == BLOCKED &&
            bubble_joined_at((unsigned long)other->wait.object) == thread)
            bubble_resume(other, WOKEN); /* it returns when the thread has ended, which is soon */
    *link = thread->next;
    if (thread->kick >= 0)
        REAL(close)(thread->kick);
    free(thread);
    bubble.members--;
    if (--bubble.running == 0)
        bubble_pass_on();
}

/* ---- threads */

/* Nearly the last destructor of a thread's own data: others may wait, too. The last is that of ThreadSanitizer. */
static void leave(void *rounds) {
    struct bubble_thread *thread = bubble_self;
    if (thread == NULL || ((uintptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
                           pthread_setspecific(leaving, (char *)rounds + 1) == 0))
        return;
    bubble_lock();
    bubble_self = NULL;
    remove_member(thread);
    bubble_unlock();
}

static void enter(struct bubble_thread *thread) {
    bubble_self = thread;
    thread->pthread = pthread_self();
    thread->tid = gettid();
    pthread_setspecific(leaving, (void *)1);
}

static void *run(void *thread) {
    enter(thread);
    return bubble_self->main(bubble_self->argument);
}

static int create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*main)(void *),
                  void *argument) {
    struct bubble_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return EAGAIN;
    thread->main = main;
    thread->argument = argument;
    bubble_lock();
    add_member(thread);
    bubble.wants_watcher = true;
    bubble_unlock();
    int result = REAL(pthread_create)(ret_thread, attributes, run, thread);
    if (result != 0) {
        bubble_lock();
        remove_member(thread);
        bubble_unlock();
    }
    return result;
}

INSTEAD(int, pthread_create,
        (pthread_t *restrict ret_thread, const pthread_attr_t *restrict attributes,
         void *(*main)(void *), void *restrict argument),
        (ret_thread, attributes, main, argument), bubble_self == NULL,
        create(ret_thread, attributes, main, argument))

/* ---- the bubble */

static int begin(void) {
    struct bubble_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return -ENOMEM;
    bubble_lock();
    bool is_free = bubble.members == 0;
    if (is_free) {
        bubble_begin_time();
        add_member(thread);
        enter(thread);
    }
    bubble_unlock();
    if (!is_free)
        free(thread);
    return is_free ? 0 : -EBUSY;
}

int htw_bubble_begin(void) {
    if (dlsym(RTLD_DEFAULT, "clock_gettime") != (void *)clock_gettime)
        return -EINVAL;
    return bubble_self != NULL ? -EALREADY : begin();
}

int htw_bubble_end(void) {
    struct bubble_thread *thread = bubble_self;
    if (thread == NULL || !bubble_is_inside())
        return -EINVAL;
    bubble_lock();
    bool is_last = bubble.members == 1;
    if (is_last) {
        bubble_timers_forget();
        bubble_self = NULL;
        remove_member(thread);
    }
    bubble_unlock();
    return is_last ? 0 : -EBUSY;
}

int htw_bubble_settle(void) {
    if (!bubble_is_inside())
        return -EINVAL;
    do {
        bubble_lock();
        bubble_wait_begin(&WAIT(&bubble.jumps, NEVER));
    } while (bubble_wait_end() != WOKEN);
    return 0;
}

/* ---- processes: a child has one thread, and a bubble of its own. */

static void after_fork(void) {
    bubble.threads = NULL;
    bubble.members = bubble.running = 0;
    bubble.has_watcher = bubble.wants_watcher = false;
    bubble_timers_forget();
    if (bubble_self != NULL) {
        if (bubble_self->kick >= 0) /* the parent's */
            REAL(close)(bubble_self->kick);
        add_member(bubble_self);
        bubble_self->tid = gettid();
    }
    bubble_unlock();
}

/* A program with which the library is preloaded begins in a bubble. */
__attribute__((constructor)) static void start(void) {
    /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
    const char *preloaded = getenv("LD_PRELOAD"), *when = getenv("HTW_BUBBLE");
    pthread_key_create(&leaving, leave);
    pthread_atfork(bubble_lock, bubble_unlock, after_fork);
    if (preloaded != NULL && strstr(preloaded, "htw-bubble") != NULL &&
        (when == NULL || strcmp(when, "later") != 0))
        begin();
}
