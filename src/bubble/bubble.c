/* SPDX-License-Identifier: MIT */
/* bubble.c - how threads wait, who wakes them, and how time jumps when none runs. */
#include "bubble.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

struct bubble bubble;
__thread struct bubble_thread *bubble_self;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t awaiting; /* threads that are parked under an object */
static __thread struct {
    sigset_t mask;
    int cancelstate, error;
} kept;

/* ---- the lock */

void bubble_lock(void) {
    sigset_t all, mask;
    int error = errno, cancelstate;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelstate);
    pthread_mutex_lock(&mutex);
    kept.mask = mask;
    kept.cancelstate = cancelstate;
    kept.error = error;
    if (bubble_self != NULL && bubble_self->state == BLOCKED)
        bubble_resume(bubble_self, WOKEN); /* as is seen here */
}

void bubble_unlock(void) {
    const sigset_t mask = kept.mask;
    int error = kept.error, cancelstate = kept.cancelstate;
    bool starts_watcher = bubble.wants_watcher && !bubble.has_watcher;
    bubble.has_watcher |= starts_watcher;
    bubble.wants_watcher = false;
    pthread_mutex_unlock(&mutex);
    if (starts_watcher)
        bubble_start_watcher(); /* with all signals blocked */
    pthread_setcancelstate(cancelstate, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
}

bool bubble_is_lock(unsigned long address) {
    return address == (uintptr_t)&mutex;
}

bool bubble_is_inside(void) {
    return bubble_self != NULL && bubble_self->state != PARKED && bubble_self->state != POLLS;
}

/* ---- waiting and waking */

void bubble_wait_begin(const struct bubble_wait *wait) {
    bubble_self->wait = *wait;
    bubble_self->turn = ++bubble.turns;
    bubble_self->state = PARKED;
    atomic_store(&bubble_self->go, 0);
    /* Who changes the object after this sees that it is awaited; who has done so before is seen. */
    atomic_fetch_add(&awaiting, wait->object != NULL);
    atomic_thread_fence(memory_order_seq_cst);
}

static void leave_object(struct bubble_thread *thread) {
    thread->state = RUNS;
    atomic_fetch_sub(&awaiting, thread->wait.object != NULL);
}

void bubble_wait_drop(void) {
    leave_object(bubble_self);
    bubble_unlock();
}

/* Otherwise no descriptor was left for it, or the program has closed it. */
static void require_kick(bool is_there) {
    if (!is_there) {
        bubble_report("a descriptor of the library is missing");
        abort();
    }
}

void bubble_resume(struct bubble_thread *thread, enum bubble_outcome outcome) {
    const uint64_t one = 1;
    enum bubble_state was = thread->state;
    thread->outcome = outcome;
    thread->state = RUNS;
    bubble.running++;
    if (was == PARKED) {
        leave_object(thread);
        atomic_store(&thread->go, 1);
        REAL(syscall)(SYS_futex, &thread->go, FUTEX_WAKE_PRIVATE, 1);
    } else if (was == POLLS) {
        require_kick(write(thread->kick, &one, sizeof(one)) > 0);
    }
}

/* Gives up the lock. */
static void stop_running(void) {
    bubble_self->place = INSIDE;
    if (--bubble.running == 0)
        bubble_pass_on();
    bubble_unlock();
}

/* If no other thread has resumed this one. */
static void run_again(enum bubble_outcome outcome) {
    bubble_lock();
    if (!bubble_is_inside())
        bubble_resume(bubble_self, outcome);
    bubble_unlock();
}

/* Any signal ends a wait that has a deadline, even if its action is SA_RESTART. So the kernel gets one, too: a time that
   never comes. */
enum bubble_outcome bubble_wait_end(void) {
    const struct timespec last = { .tv_sec = INT64_C(1) << 40 };
    bool has_deadline = bubble_self->wait.deadline_ns != NEVER;
    /* Other threads may run until this one returns. */
    if (bubble_self->wait.deadline_ns <= bubble_now_ns()) {
        bubble_wait_drop();
        return TIMED_OUT;
    }
    stop_running();
    while (atomic_load(&bubble_self->go) == 0)
        if (REAL(syscall)(SYS_futex, &bubble_self->go, FUTEX_WAIT_PRIVATE, 0,
                          has_deadline ? &last : NULL) != 0 &&
            errno == EINTR)
            run_again(INTERRUPTED);
    return bubble_self->outcome;
}

static struct bubble_thread *first_parked(const volatile void *object) {
    struct bubble_thread *first = NULL;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (thread->state == PARKED && thread->wait.object == object &&
            (first == NULL || thread->turn < first->turn))
            first = thread;
    return first;
}

static unsigned wake(const volatile void *object, unsigned count) {
    struct bubble_thread *thread;
    unsigned woken = 0;
    for (; woken < count && (thread = first_parked(object)) != NULL; woken++)
        bubble_resume(thread, WOKEN);
    return woken;
}

unsigned bubble_wake(const volatile void *object, unsigned count) {
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&awaiting, memory_order_relaxed) == 0)
        return 0;
    bubble_lock();
    unsigned woken = wake(object, count);
    bubble_unlock();
    return woken;
}

enum bubble_outcome bubble_wait_for_fds(const struct bubble_wait *wait, struct pollfd *fds,
                                        nfds_t count, const sigset_t *mask) {
    struct bubble_thread *self = bubble_self;
    uint64_t kicks;
    bubble_lock();
    if (self->kick < 0)
        self->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    require_kick(self->kick >= 0);
    fds[count] = (struct pollfd) { .fd = self->kick, .events = POLLIN };
    self->wait = *wait;
    self->fds = fds;
    self->fd_count = count;
    self->state = POLLS;
    stop_running();
    long ready = REAL(syscall)(SYS_ppoll, fds, (long)count + 1, NULL, mask, sizeof(uint64_t));
    run_again(ready < 0 ? INTERRUPTED : WOKEN);
    require_kick(read(self->kick, &kicks, sizeof(kicks)) > 0); /* of whoever has resumed it */
    return self->outcome;
}

/* ---- when no thread runs */

static bool is_ready(struct pollfd *fds, nfds_t count) {
    const struct timespec none = { 0 };
    return REAL(ppoll)(fds, count, &none, NULL) != 0;
}

/* Threads whose descriptors are ready, and those that were found asleep, and have run since. */
static bool resume_ready(void) {
    unsigned running = bubble.running;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if ((thread->state == POLLS && is_ready(thread->fds, thread->fd_count)) ||
            (thread->state == BLOCKED && !bubble_is_still_blocked(thread)))
            bubble_resume(thread, WOKEN);
    return bubble.running > running;
}

static bool has_deadline(const struct bubble_thread *thread) {
    return thread->state == PARKED || thread->state == POLLS;
}

static enum bubble_place worst_place(void) {
    enum bubble_place worst = INSIDE;
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        worst = bubble_worse(worst, bubble_place_of_thread(thread));
    return worst;
}

int64_t bubble_next_ns(void) {
    int64_t next_ns = bubble_timers_next_ns();
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (has_deadline(thread) && thread->wait.deadline_ns < next_ns)
            next_ns = thread->wait.deadline_ns;
    return next_ns;
}

static void jump(int64_t to_ns) {
    if (to_ns > atomic_load(&bubble.now_ns)) /* it may have moved after the deadline was found */
        atomic_store(&bubble.now_ns, to_ns);
    atomic_fetch_add(&bubble.jumps, 1);
    for (struct bubble_thread *thread = bubble.threads; thread != NULL; thread = thread->next)
        if (has_deadline(thread) && thread->wait.deadline_ns <= to_ns)
            bubble_resume(thread, TIMED_OUT);
    bubble_timers_expire(to_ns);
}

bool bubble_pass_on(void) {
    while (bubble.running == 0 && bubble.members > 0) {
        if (resume_ready() || wake(&bubble.jumps, 1) > 0)
            return false;
        int64_t to_ns = bubble_next_ns();
        enum bubble_place place = worst_place();
        bubble.wants_watcher |= place == INSIDE || to_ns != NEVER; /* it reports if nothing comes */
        if (place == OUTSIDE || to_ns == NEVER)
            return place == INSIDE;
        jump(to_ns);
    }
    return false;
}
