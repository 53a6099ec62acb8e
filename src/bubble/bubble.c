/* SPDX-License-Identifier: MIT */
/* bubble.c - how threads wait, who wakes them, and how time jumps when none runs. */
#include "bubble.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

/* With all jumps in one go, a timer that nobody reads would keep the lock, under which no signal is handled. */
#define JUMPS_MAX 10000

struct bubble bubble = { .mutex = PTHREAD_MUTEX_INITIALIZER };
__thread struct bubble_thread *bubble_self;

static __thread struct kept {
    sigset_t mask;
    int cancelstate, error;
} kept;

/* ---- the lock */

void bubble_lock(void) {
    struct kept now = { .error = errno };
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &now.mask);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &now.cancelstate);
    pthread_mutex_lock(&bubble.mutex);
    kept = now;
    if (bubble_self != NULL && bubble_self->state == BLOCKED)
        bubble_resume(bubble_self, 0); /* as is seen here */
}

void bubble_unlock(void) {
    const struct kept before = kept;
    if (atomic_load(&bubble.members) > 0 && !bubble.has_watcher)
        bubble.has_watcher = bubble_start_watcher(); /* otherwise the next call tries again */
    pthread_mutex_unlock(&bubble.mutex);
    pthread_setcancelstate(before.cancelstate, NULL);
    pthread_sigmask(SIG_SETMASK, &before.mask, NULL);
    errno = before.error;
}

bool bubble_is_inside(void) {
    return bubble_self != NULL && bubble_self->state != WAITS;
}

/* ---- waiting and waking */

void bubble_wait_begin(const struct bubble_wait *wait) {
    bubble_lock();
    bubble_self->wait = *wait;
    bubble_self->turn = ++bubble.turns;
    bubble_self->state = WAITS;
    bubble_self->place = INSIDE;
    bubble_self->readings = 0;
    atomic_store(&bubble_self->go, 0);
    bubble.running--;
}

void bubble_resume(struct bubble_thread *thread, int outcome) {
    const struct bubble_wait *wait = &thread->wait;
    bool waited = thread->state == WAITS;
    thread->outcome = outcome;
    thread->state = RUNS;
    bubble.running++;
    if (!waited)
        return;
    if (wait->fds != NULL)
        eventfd_write(wait->fds[wait->fd_count].fd, 1);
    atomic_store(&thread->go, 1); /* from now on its descriptors may be gone */
    REAL(syscall)(SYS_futex, &thread->go, FUTEX_WAKE_PRIVATE, 1);
}

/* Any signal ends a wait that has a deadline, even if its action is SA_RESTART. So the kernel gets one, too: a time that
   never comes. */
static long sleep_in_kernel(struct bubble_thread *self) {
    const struct timespec last = { .tv_sec = INT64_C(1) << 40 };
    const struct bubble_wait *wait = &self->wait;
    if (wait->fds != NULL)
        return REAL(syscall)(SYS_ppoll, wait->fds, wait->fd_count + 1, NULL, wait->mask,
                             sizeof(uint64_t));
    return REAL(syscall)(SYS_futex, &self->go, FUTEX_WAIT_PRIVATE, 0,
                         wait->deadline_ns == NEVER ? NULL : &last);
}

/* If no other thread has resumed this one. */
static void run_again(int outcome) {
    bubble_lock();
    if (!bubble_is_inside())
        bubble_resume(bubble_self, outcome);
    bubble_unlock();
}

int bubble_wait_end(void) {
    struct bubble_thread *self = bubble_self;
    bool is_due = self->wait.deadline_ns <=
                  bubble_read_ns(CLOCK_MONOTONIC); /* other threads may run for long */
    if (self->state == WAITS && (is_due || self->is_cancelled))
        bubble_resume(self, is_due ? ETIMEDOUT : EINTR);
    self->is_cancelled = false;
    if (bubble.running == 0)
        bubble_pass_on();
    bubble_unlock();
    while (atomic_load(&self->go) == 0) {
        long result = sleep_in_kernel(self);
        if (result != 0) /* otherwise it was woken by any thread, or for no reason */
            run_again(result < 0 ? EINTR : 0);
    }
    return self->outcome;
}

int bubble_result(int error) {
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

static struct bubble_thread *first_waiting(const volatile void *object) {
    struct bubble_thread *first = NULL;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == WAITS && thread->wait.object == object &&
            (first == NULL || thread->turn < first->turn))
            first = thread;
    return first;
}

static unsigned wake(const volatile void *object, unsigned count) {
    struct bubble_thread *thread;
    unsigned woken = 0;
    for (; woken < count && (thread = first_waiting(object)) != NULL; woken++)
        bubble_resume(thread, 0);
    return woken;
}

unsigned bubble_wake(const volatile void *object, unsigned count) {
    if (atomic_load(&bubble.members) == 0)
        return 0;
    bubble_lock();
    unsigned woken = wake(object, count);
    bubble_unlock();
    return woken;
}

/* ---- when no thread runs */

static bool resume_ready(void) {
    unsigned running = bubble.running;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (bubble_is_over(thread))
            bubble_resume(thread, 0);
    return bubble.running > running;
}

static enum bubble_place place_of_all(void) {
    enum bubble_place place = INSIDE;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        place |= bubble_place_of_thread(thread);
    return place;
}

int64_t bubble_next_ns(void) {
    int64_t next_ns = bubble_timers_next_ns();
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == WAITS && thread->wait.deadline_ns < next_ns)
            next_ns = thread->wait.deadline_ns;
    return next_ns;
}

static void jump(int64_t to_ns) {
    if (to_ns > atomic_load(&bubble.now_ns)) /* it may have moved after the deadline was found */
        atomic_store(&bubble.now_ns, to_ns);
    bubble.jumps++;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == WAITS && thread->wait.deadline_ns <= to_ns)
            bubble_resume(thread, ETIMEDOUT);
    bubble_timers_expire(to_ns);
}

bool bubble_pass_on(void) {
    for (int jumps = 0; jumps < JUMPS_MAX && bubble.running == 0 && bubble.threads != NULL;
         jumps++) {
        if (resume_ready() || wake(&bubble.jumps, 1) > 0)
            return false;
        int64_t to_ns = bubble_next_ns();
        enum bubble_place place = place_of_all();
        if ((place & OUTSIDE) != 0 || to_ns == NEVER)
            return place == INSIDE;
        jump(to_ns);
    }
    return false;
}
