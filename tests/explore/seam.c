/* SPDX-License-Identifier: MIT */
/* seam.c - what the library calls of the system, on the machine. The names are those of the linker's
   --wrap, but for sched_getcpu(). */
#include "machine.h"
#include "memory.h"
#include "../support/access_hooks.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CODE __builtin_return_address(0)
#define NS_PER_S INT64_C(1000000000)
#ifndef MUTEXES
#define MUTEXES 64u
#endif
#define SEMAPHORES 64u

/* ---- time */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    int64_t ns = clock == CLOCK_REALTIME ? machine_wall_ns() : machine_now_ns();
    if (clock != CLOCK_REALTIME && machine_self != NULL && machine_self->read_to != NULL) {
        *machine_self->read_to = ns;
        machine_self->read_to = NULL;
    }
    *now = (struct timespec) { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
    return 0;
}

static int64_t ns_of(const struct timespec *time) {
    return time->tv_sec == 0 && time->tv_nsec == 0 ? MACHINE_NEVER
                                                   : time->tv_sec * NS_PER_S + time->tv_nsec;
}

int __wrap_timerfd_create(clockid_t clock, int flags) {
    (void)flags;
    return machine_timer_create(clock == CLOCK_REALTIME);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before) {
    (void)flags, (void)before;
    machine_timer_set(fd, ns_of(&setting->it_value), CODE);
    return 0;
}

int __wrap_epoll_create1(int flags) {
    (void)flags;
    return machine_poller_create();
}

int __wrap_epoll_ctl(int poller, int operation, int fd, struct epoll_event *event) {
    (void)operation;
    machine_poller_add(poller, fd, event->data.u32);
    return 0;
}

int __wrap_epoll_wait(int poller, struct epoll_event *events, int max, int timeout_ms) {
    uint32_t names[MACHINE_TIMERS];
    int count = machine_poller_wait(poller, timeout_ms, names, CODE);
    for (int i = 0; i < count && i < max; i++)
        events[i].data.u32 = names[i];
    return count;
}

int __wrap_close(int fd) {
    machine_timer_close(fd);
    return 0;
}

/* The library sleeps where it waits for a word to change. */
int __wrap_nanosleep(const struct timespec *duration, struct timespec *left) {
    (void)duration, (void)left;
    machine_pause(CODE);
    return 0;
}

int __wrap_sched_yield(void) {
    machine_pause(CODE);
    return 0;
}

void hook_pause(void) {
    machine_pause(CODE);
}

/* ---- the machine */

int sched_getcpu(void) {
    return machine_cpu();
}

long __real_sysconf(int name);
long __wrap_sysconf(int name) {
    return name == _SC_NPROCESSORS_ONLN ? 2 : __real_sysconf(name);
}

/* The same keys are in the same shards in each schedule. */
uint64_t __wrap_htw__random_seed(const void *owner) {
    (void)owner;
    return 1;
}

_Noreturn void __wrap_abort(void) {
    machine_fail("abort() at %p", CODE);
}

/* ---- mutexes and conditions. Their own memory says who has them: 0, or the number of a thread and 1 */

struct mutex {
    unsigned owner;
    unsigned index; /* of `mutexes`, and 1; 0: none yet */
};

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "a mutex has room");

static struct machine_past mutexes[MUTEXES]; /* of those that unlocked them */
static unsigned mutex_count;

/* Those that post one order what they did before what follows a wait. */
struct semaphore {
    unsigned value;
    unsigned index; /* of `semaphores` */
};

_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "a semaphore has room");

static struct machine_past semaphores[SEMAPHORES];
static unsigned semaphores_free[SEMAPHORES], semaphores_free_count, semaphore_count;

void seam_reset(void) {
    mutex_count = semaphore_count = semaphores_free_count = 0;
}

static struct mutex *state_of(pthread_mutex_t *mutex) {
    return (struct mutex *)(void *)mutex;
}

static struct machine_past *past_of(struct mutex *state) {
    if (state->index == 0 || state->index > mutex_count) {
        if (mutex_count == MUTEXES)
            machine_fail("too many mutexes");
        mutexes[mutex_count++] = (struct machine_past) { .consistent = 0 };
        state->index = mutex_count;
    }
    return &mutexes[state->index - 1];
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    (void)attributes;
    *state_of(mutex) = (struct mutex) { 0 };
    return 0;
}

static void lock(pthread_mutex_t *mutex, const void *code) {
    struct mutex *state = state_of(mutex);
    while (state->owner != 0)
        machine_wait(mutex, MACHINE_NEVER, code);
    state->owner = machine_self->number + 1;
    memory_acquire_from(past_of(state));
}

static void unlock(pthread_mutex_t *mutex) {
    struct mutex *state = state_of(mutex);
    if (state->owner != machine_self->number + 1)
        machine_fail("thread %u unlocks a mutex that it does not hold", machine_self->number);
    memory_release_to(past_of(state));
    state->owner = 0;
    machine_wake(mutex, true);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    machine_step(mutex, "locks", CODE);
    lock(mutex, CODE);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    unlock(mutex);
    return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    (void)condition, (void)attributes;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition) {
    (void)condition;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex) {
    if (state_of(mutex)->owner != 0)
        machine_fail("thread %u destroys a mutex that is held", machine_self->number);
    return 0;
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_ns,
                      const void *code) {
    unlock(mutex);
    bool woken = machine_wait(condition, until_ns, code);
    lock(mutex, code);
    return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return wait_until(condition, mutex, MACHINE_NEVER, CODE);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
    return wait_until(condition, mutex, until->tv_sec * NS_PER_S + until->tv_nsec, CODE);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition) {
    machine_wake(condition, false);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition) {
    machine_wake(condition, true);
    return 0;
}

/* ---- semaphores: whoever has waited may destroy it at once */

static struct semaphore *semaphore_of(sem_t *semaphore) {
    return (struct semaphore *)(void *)semaphore;
}

int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value) {
    (void)shared;
    if (semaphore_count == SEMAPHORES && semaphores_free_count == 0)
        machine_fail("too many semaphores");
    unsigned index =
        semaphores_free_count > 0 ? semaphores_free[--semaphores_free_count] : semaphore_count++;
    semaphores[index] = (struct machine_past) { .consistent = 0 };
    *semaphore_of(semaphore) = (struct semaphore) { value, index };
    return 0;
}

int __wrap_sem_destroy(sem_t *semaphore) {
    hook_write(semaphore, sizeof(struct semaphore), CODE); /* what follows on its memory */
    semaphores_free[semaphores_free_count++] = semaphore_of(semaphore)->index;
    return 0;
}

int __wrap_sem_post(sem_t *semaphore) {
    machine_step(semaphore, "posts", CODE);
    hook_read(semaphore, sizeof(struct semaphore), CODE); /* before it is destroyed */
    memory_release_to(&semaphores[semaphore_of(semaphore)->index]);
    semaphore_of(semaphore)->value++;
    machine_wake(semaphore, true);
    return 0;
}

int __wrap_sem_wait(sem_t *semaphore) {
    machine_step(semaphore, "awaits", CODE);
    while (semaphore_of(semaphore)->value == 0)
        machine_wait(semaphore, MACHINE_NEVER, CODE);
    semaphore_of(semaphore)->value--;
    memory_acquire_from(&semaphores[semaphore_of(semaphore)->index]);
    return 0;
}

/* ---- threads */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *), void *argument) {
    (void)attributes;
    *thread = (pthread_t)machine_thread_start(main, argument) + 1; /* no thread is 0 */
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret_result) {
    void *result = machine_thread_join((unsigned)thread - 1, CODE);
    if (ret_result != NULL)
        *ret_result = result;
    return 0;
}

pthread_t __wrap_pthread_self(void) {
    return (pthread_t)machine_self->number + 1;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name) {
    (void)thread, (void)name;
    return 0;
}

int __wrap_pthread_setcancelstate(int state, int *before) {
    if (before != NULL)
        *before = PTHREAD_CANCEL_ENABLE;
    (void)state;
    return 0;
}

int __wrap_pthread_sigmask(int how, const void *set, void *before) {
    (void)how, (void)set, (void)before;
    return 0;
}
