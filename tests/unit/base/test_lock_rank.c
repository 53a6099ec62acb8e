/* SPDX-License-Identifier: MIT */
/* test_lock_rank - a thread that takes locks against their order ends the process with a message
   that names both. */
#include "../../../src/base/lock.h"

#include "../../support/abort_cases.h"

static struct htw__mutex journal, life, pool, alarm_mutex, second_alarm;
static struct htw__lock shard, other_shard, cpu, unranked;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

UNIT_SETUP(init_locks) {
    htw__mutex_init(&journal, HTW__RANK_JOURNAL);
    htw__mutex_init(&life, HTW__RANK_SCHEDULER_LIFE);
    htw__mutex_init(&pool, HTW__RANK_SCHEDULER_WORK_QUEUE);
    htw__mutex_init(&alarm_mutex, HTW__RANK_ALARM);
    htw__mutex_init(&second_alarm, HTW__RANK_ALARM);
    htw__lock_init(&shard, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_init(&other_shard, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_init(&cpu, HTW__RANK_PURGATORY_CPU);
}

/* ---- the steps: + takes, - releases */

static void take(void *lock) {
    htw__lock_acquire(lock);
}

static void release(void *lock) {
    htw__lock_release(lock);
}

static void take_mutex(void *mutex) {
    htw__mutex_lock(mutex);
}

static void release_mutex(void *mutex) {
    htw__mutex_unlock(mutex);
}

static void *take_and_release(void *lock) {
    take(lock);
    release(lock);
    return lock;
}

static void take_in_another_thread(void *lock) {
    pthread_t thread;
    pthread_create(&thread, NULL, take_and_release, lock);
    pthread_join(thread, NULL);
}

static void sleep_on(void *mutex) {
    htw__mutex_wait_until(mutex, &condition, 1000000000);
}

ABORT_STEP(set_a_timer) {
    HTW__LOCK_RANK_PASS(HTW__RANK_TIMER);
}

static const struct abort_step steps[] = {
    { "+journal", take_mutex, &journal },
    { "-journal", release_mutex, &journal },
    { "+life", take_mutex, &life },
    { "-life", release_mutex, &life },
    { "+pool", take_mutex, &pool },
    { "-pool", release_mutex, &pool },
    { "+alarm", take_mutex, &alarm_mutex },
    { "-alarm", release_mutex, &alarm_mutex },
    { "+alarm 2", take_mutex, &second_alarm },
    { "+cpu", take, &cpu },
    { "-cpu", release, &cpu },
    { "+shard", take, &shard },
    { "-shard", release, &shard },
    { "+shard 2", take, &other_shard },
    { "-shard 2", release, &other_shard },
    { "+unranked", take, &unranked },
    { "cpu elsewhere", take_in_another_thread, &cpu },
    { "sleep on life", sleep_on, &life },
    { "set a timer", set_a_timer, NULL },
    { NULL, NULL, NULL },
};

static const struct abort_case cases[] = {
    { "+journal, +cpu, +shard, +alarm, -alarm, -shard, -cpu, -journal", NULL },
    { "+journal, +cpu, +shard, -cpu, -journal, +pool, -shard, -pool, +journal, -journal", NULL },
    { "+shard, -shard, +shard 2, -shard 2", NULL },
    { "+shard, cpu elsewhere, -shard", NULL },
    { "+life, sleep on life, -life, +journal, -journal", NULL },
    { "+journal, +cpu, set a timer, -cpu, -journal", NULL },
    { "+pool, set a timer", "takes timer while it holds scheduler.work_queue" },
    { "+shard, +cpu", "takes purgatory.cpu while it holds scheduler.shard" },
    { "+shard, +life", "takes scheduler.life while it holds scheduler.shard" },
    { "+shard, +shard 2", "takes scheduler.shard while it holds scheduler.shard" },
    { "+life, +life", "takes scheduler.life while it holds scheduler.life" },
    { "+alarm, +alarm 2", "takes alarm while it holds alarm" },
    { "+cpu, +shard, -cpu, +life", "takes scheduler.life while it holds scheduler.shard" },
    { "+unranked", "takes a lock that was not initialized" },
    { "-shard", "releases scheduler.shard which it does not hold" },
    { "+journal, +life, sleep on life", "sleeps on scheduler.life while it holds journal" },
    { "sleep on life", "sleeps on scheduler.life which it does not hold" },
};

UNIT_TEST(lock_taken_against_the_order_aborts) {
    if (HTW_CHECK_LEVEL < 1)
        skip(); /* locks have no ranks then */
    assert_abort_cases(cases, COUNT_OF(cases), steps);
}

UNIT_TEST(lock_without_checks_has_no_rank) {
    if (HTW_CHECK_LEVEL >= 1)
        skip();
    assert_int_equal(sizeof(struct htw__lock), sizeof(unsigned));
    assert_int_equal(sizeof(struct htw__mutex), sizeof(pthread_mutex_t));
}
