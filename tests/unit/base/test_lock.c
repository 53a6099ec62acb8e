/* SPDX-License-Identifier: MIT */
/* test_lock - the spin lock excludes, and its waiters sleep. */
#include "../../../src/base/lock.h"

#include "../unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 50000 };

struct shared {
    struct htw__lock lock;
    uint64_t sum, twice; /* plain: without the lock additions would be lost */
    unsigned inside, most_inside;
};

static void *add(void *arg) {
    struct shared *shared = arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        htw__lock_acquire(&shared->lock);
        shared->inside++;
        if (shared->inside > shared->most_inside)
            shared->most_inside = shared->inside;
        shared->sum++;
        shared->twice = 2 * shared->sum;
        if (i % 1024 == 0)
            sched_yield(); /* while it is held */
        shared->inside--;
        htw__lock_release(&shared->lock);
    }
    return NULL;
}

UNIT_TEST(lock_taken_by_four_threads_lets_in_one_at_a_time) {
    static struct shared shared;
    pthread_t threads[THREADS];
    memset(&shared.lock, 0xff, sizeof(shared.lock));
    htw__lock_init(&shared.lock, HTW__RANK_SCHEDULER_SHARD);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, &shared), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.sum, (uint64_t)THREADS * ROUNDS);
    assert_int_equal(shared.twice, 2 * shared.sum);
    assert_int_equal(shared.most_inside, 1);
}

struct waiter {
    struct htw__lock lock;
    _Atomic bool about_to;
    uint64_t cpu_ns; /* CPU time of the wait */
};

static uint64_t own_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *wait_for_lock(void *arg) {
    struct waiter *waiter = arg;
    atomic_store(&waiter->about_to, true);
    uint64_t before_ns = own_cpu_ns();
    htw__lock_acquire(&waiter->lock);
    waiter->cpu_ns = own_cpu_ns() - before_ns;
    htw__lock_release(&waiter->lock);
    return NULL;
}

/* As if the holder had lost its CPU: a waiter must not use up another one. */
UNIT_TEST(lock_held_for_long_is_waited_for_asleep) {
    static struct waiter waiter;
    const uint64_t held_ns = 200000000;
    pthread_t thread;
    htw__lock_init(&waiter.lock, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_acquire(&waiter.lock);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, &waiter), 0);
    while (!atomic_load(&waiter.about_to))
        sched_yield();
    nanosleep(&(struct timespec) { 0, (long)held_ns }, NULL);
    htw__lock_release(&waiter.lock);
    pthread_join(thread, NULL);
    assert_true(waiter.cpu_ns < held_ns / 2);
}
